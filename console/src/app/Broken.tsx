/** In place of a screen that broke, or whose code did not arrive. Loaded with the first file: it must be there when nothing else can be. */
import { useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { CloudOff, TriangleAlert } from 'lucide-react';
import { useCallback, useEffect, useState } from 'react';
import { Button } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { useLanguage } from '@/i18n/language';
import { CodeMissing } from './lazily';
import { buildServed, reloadOnce } from './upgrade';

/** How long it waits before each try, once the browser says that the line is back. */
const BACK_PAUSES = [0, 500, 1000, 2000, 4000, 8000];

export function Broken({ error, reset }: ErrorComponentProps) {
  const { t } = useLanguage();
  const router = useRouter();
  const again = () => {
    reset();
    void router.invalidate();
  };
  if (error instanceof CodeMissing) return <Unloaded error={error} onLoaded={again} />;
  return (
    <div role="alert" className="mx-auto max-w-3xl p-6">
      <h1 className="sr-only">{t('app.broken_title')}</h1>
      <Empty
        icon={TriangleAlert}
        title={t('app.broken_title')}
        body={t('app.broken_body')}
        action={<Button kind="primary" onClick={again}>{t('ui.retry')}</Button>}
      />
    </div>
  );
}

function Unloaded({ error, onLoaded }: { error: CodeMissing; onLoaded: () => void }) {
  const { t } = useLanguage();
  const { again, busy, failed } = useAgain(error, onLoaded);
  return (
    <div role="alert" className="mx-auto max-w-3xl p-6">
      <h1 className="sr-only">{t('app.unloaded_title')}</h1>
      <Empty
        icon={CloudOff}
        title={t('app.unloaded_title')}
        body={t(failed ? 'app.unloaded_still' : 'app.unloaded_body')}
        action={<Button kind="primary" busy={busy} onClick={() => void again()}>{t('ui.retry')}</Button>}
      />
    </div>
  );
}

/** After an upgrade the newer build is loaded once, by itself; without a connection the page waits for it, or for a click. */
function useAgain(error: CodeMissing, onLoaded: () => void) {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState(false);
  const again = useCallback(async () => {
    setBusy(true);
    const build = await buildServed();
    if (build === 'unreachable') {
      setBusy(false);
      setFailed(true);
      return false;
    }
    if (build === 'same' && (await error.again())) onLoaded();
    // Some browsers remember that a file was missing until the page is loaded anew.
    else location.reload();
    return true;
  }, [error, onLoaded]);
  useEffect(() => {
    void buildServed().then((build) => build === 'newer' && reloadOnce());
  }, []);
  useEffect(() => {
    let gone = false;
    // A browser says it as soon as there is a network: the server may be reached a little later.
    const back = async () => {
      for (const pause of BACK_PAUSES) {
        await new Promise((resume) => setTimeout(resume, pause));
        if (gone || (await again())) return;
      }
    };
    const start = () => void back();
    addEventListener('online', start);
    return () => {
      gone = true;
      removeEventListener('online', start);
    };
  }, [again]);
  return { again, busy, failed };
}
