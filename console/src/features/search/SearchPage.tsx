/** Everything the reader may read, found while they type: notes, documents and files, by title, name and text. */
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Search, SearchX } from 'lucide-react';
import { useRef, type KeyboardEvent } from 'react';
import { FindField } from '@/app/FindField';
import { Page } from '@/app/Page';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { ListPage } from '@/ui/ListPage';
import { useRowKeys } from '@/ui/rows';
import { Filters } from './Filters';
import { searchQuery, type Asked } from './queries';
import { Result } from './Result';

const TYPING_PAUSE = 80;

/** The search in the address: it can be linked to, pinned, and Back undoes it. */
function useAsked(): [Asked, (change: Asked) => void] {
  const asked = useSearch({ strict: false }) as Asked;
  const navigate = useNavigate();
  const change = (next: Asked) => {
    const kept = Object.entries({ ...asked, ...next }).filter(([, one]) => one !== undefined && one !== '');
    void navigate({ to: '/search', search: Object.fromEntries(kept) as never, replace: true });
  };
  return [asked, change];
}

export default function SearchPage() {
  const { t } = useLanguage();
  const [asked, change] = useAsked();
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  useRowKeys(list);
  const found = useInfiniteQuery({ ...searchQuery(asked), placeholderData: keepPreviousData });
  const pages = asked.q ? found.data?.pages : undefined;
  const items = pages?.flatMap((page) => page.items);
  const cut = pages?.at(-1)?.cut;

  const press = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown' && event.key !== 'Enter') return;
    const first = list.current?.querySelector<HTMLElement>('[data-row]');
    if (event.key === 'Enter') first?.click();
    else first?.focus();
    event.preventDefault();
  };
  const walk = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    const rows = [...(list.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
    const next = rows[rows.findIndex((row) => row === document.activeElement) + step];
    if (next) next.focus();
    else if (step < 0) field.current?.focus();
    event.preventDefault();
  };
  const nothing = cut ? <Cut onAgain={() => void found.refetch()} /> : <None asked={asked} onChange={change} />;
  return (
    <Page title={t('nav.search')} width="narrow">
      <div role="search">
        <FindField
          large
          field={field}
          q={asked.q ?? ''}
          label={t('search.field')}
          shortcut="search.focus"
          pause={TYPING_PAUSE}
          onFind={(q) => change({ q })}
          onKeyDown={press}
        />
        <Filters asked={asked} onChange={change} />
      </div>
      <p role="status" className="my-3 min-h-5 text-sm text-muted">
        {items && items.length > 0 && (cut ? t('search.cut') : pages?.[0]?.relaxed && t('search.relaxed'))}
      </p>
      {!asked.q && <Tips />}
      {asked.q && (
        <ListPage query={found} empty={items?.length === 0 && !found.isPlaceholderData && nothing}>
          <ul ref={list} onKeyDown={walk} aria-label={t('search.results')}>
            {items?.map((one) => <Result key={one.id} found={one} />)}
          </ul>
        </ListPage>
      )}
    </Page>
  );
}

/** Nothing typed yet: what can be found, and how to ask for it. */
function Tips() {
  const { t } = useLanguage();
  return (
    <>
      <Empty icon={Search} title={t('search.start_title')} body={t('search.start_body')} />
      <ul className="mx-auto grid max-w-md gap-2 text-sm text-muted">
        {(['phrase', 'minus', 'or', 'prefix'] as const).map((one) => <li key={one}>{t(`search.tip_${one}`)}</li>)}
      </ul>
    </>
  );
}

/** Cut short before anything was found: that is no answer yet. */
function Cut({ onAgain }: { onAgain: () => void }) {
  const { t } = useLanguage();
  const action = <Button onClick={onAgain}>{t('search.again')}</Button>;
  return <Empty icon={SearchX} title={t('search.cut_title')} body={t('search.cut_body')} action={action} />;
}

function None({ asked, onChange }: { asked: Asked; onChange: (change: Asked) => void }) {
  const { t } = useLanguage();
  const narrowed = asked.kind !== undefined || asked.prefix !== undefined;
  return (
    <Empty
      icon={SearchX}
      title={t('search.none_title', { q: asked.q ?? '' })}
      body={t(narrowed ? 'search.none_narrowed' : 'search.none_body')}
      action={narrowed && <Button onClick={() => onChange({ kind: undefined, prefix: undefined })}>{t('search.everywhere')}</Button>}
    />
  );
}
