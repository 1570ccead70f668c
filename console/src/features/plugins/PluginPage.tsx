/** A page that a plugin brings: its module is loaded with the person's session and mounted here; what breaks in it stays in it. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { Puzzle } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { callServer, pluginsQuery, type CallInit, type PluginCard } from '@/api/plugins';
import { Page } from '@/app/Page';
import { titleOf } from '@/app/plugin-pages';
import { useMode } from '@/app/theme';
import { useLanguage } from '@/i18n/language';
import { Card, SkeletonRows } from '@/ui/bits';
import { Button } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';

/** What a page is handed. Never a credential: the browser adds the session to its calls, and no script can read it. */
interface PluginContext {
  plugin: string;
  api: (path: string, init?: CallInit) => Promise<unknown>;
  locale: string;
  theme: 'light' | 'dark';
  navigate: (path: string) => void;
}

type Unmount = () => void;
type Mount = (el: HTMLElement, ctx: PluginContext) => Unmount | undefined | Promise<Unmount | undefined>;

export default function PluginPage() {
  const { t, locale } = useLanguage();
  const { id = '' } = useParams({ strict: false });
  const plugins = useQuery(pluginsQuery);
  const plugin = plugins.data?.items.find((one) => one.id === id);
  if (plugins.isPending || plugins.error) {
    return (
      <Page title={t('nav.plugins')}>
        {plugins.error
          ? <Problem error={plugins.error} onRetry={() => void plugins.refetch()} />
          : <Card><SkeletonRows rows={3} label={t('app.loading')} /></Card>}
      </Page>
    );
  }
  if (!plugin?.page) {
    return (
      <Page title={t('nav.plugins')}>
        <Card><Empty icon={Puzzle} title={t('plugins.no_page_title')} body={t('plugins.no_page_body')} /></Card>
      </Page>
    );
  }
  return (
    <Page title={titleOf(plugin, locale)} raw>
      <Mounted key={plugin.id} plugin={plugin} />
    </Page>
  );
}

function Mounted({ plugin }: { plugin: PluginCard }) {
  const { t, locale } = useLanguage();
  const mode = useMode();
  const navigate = useNavigate();
  const place = useRef<HTMLDivElement>(null);
  const [tries, setTries] = useState(0);
  const [failed, setFailed] = useState<{ words: string } | null>(null);
  const [loading, setLoading] = useState(true);

  useEffect(() => {
    const el = document.createElement('div');
    place.current?.replaceChildren(el);
    let unmount: Unmount | undefined;
    let closed = false;
    const close = () => {
      try {
        unmount?.();
      } catch (error) {
        console.error(`plugin ${plugin.id}:`, error);
      }
    };
    const fail = (error: unknown) => {
      if (closed) return;
      console.error(`plugin ${plugin.id}:`, error);
      el.remove();
      setFailed({ words: error instanceof Error ? error.message : String(error) });
    };
    const open = async () => {
      // A browser remembers modules by their address, those that failed as well.
      const address = `/api/x/${plugin.id}/bundle/main.js${tries ? `#${tries}` : ''}`;
      const { mount } = (await import(/* @vite-ignore */ address)) as { mount?: Mount };
      if (closed) return;
      if (typeof mount !== 'function') throw new TypeError('bundle/main.js exports no function called mount');
      const theme = document.documentElement.dataset.mode === 'dark' ? 'dark' : 'light';
      const leave = await mount(el, {
        plugin: plugin.id,
        api: callServer,
        locale,
        theme,
        navigate: (path) => void navigate({ to: path }),
      });
      unmount = typeof leave === 'function' ? leave : undefined;
      if (closed) close();
    };
    void open().catch(fail).finally(() => closed || setLoading(false));
    return () => {
      closed = true;
      close();
      el.remove();
    };
  }, [plugin.id, locale, mode, navigate, tries]);

  const again = () => {
    setFailed(null);
    setLoading(true);
    setTries((now) => now + 1);
  };
  return (
    <>
      {loading && <Card><SkeletonRows rows={3} label={t('app.loading')} /></Card>}
      {failed && (
        <div role="alert" className="rounded-lg border border-danger/30 bg-danger-soft p-4 text-danger">
          <p className="font-medium">{t('plugins.page_failed')}</p>
          <p data-raw className="mt-1 font-mono text-sm break-words">{failed.words}</p>
          <Button size="small" className="mt-3" onClick={again}>{t('ui.retry')}</Button>
        </div>
      )}
      <div ref={place} data-raw data-testid="plugin-page" />
    </>
  );
}
