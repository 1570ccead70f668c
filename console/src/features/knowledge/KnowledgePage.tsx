/** Who and what the readable documents talk about, most mentioned first, and which documents were not read yet. */
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Network, SearchX } from 'lucide-react';
import { useRef, type KeyboardEvent } from 'react';
import { FindField } from '@/app/FindField';
import { Page } from '@/app/Page';
import { useLanguage } from '@/i18n/language';
import { Button } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { ListPage } from '@/ui/ListPage';
import { useRowKeys } from '@/ui/rows';
import { ExtractNow, RunProgress } from './Extraction';
import { entitiesQuery, TYPES, type Entity, type Wanted } from './queries';
import { UnreadList } from './UnreadList';
import { ICONS } from './words';

interface Address extends Wanted {
  run?: string;
}
type Change = { [Name in keyof Address]?: Address[Name] | undefined };

/** Filters and the run in the address: they can be linked to, and Back from an entity finds them again. */
function useAddress(): [Address, (change: Change) => void] {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const text = (name: string) => (search[name] === undefined || search[name] === '' ? undefined : String(search[name]));
  const without = (all: Change) => Object.fromEntries(Object.entries(all).filter(([, one]) => one)) as Address;
  const address = without({ q: text('q'), type: TYPES.find((one) => one === search.type), run: text('run') });
  return [address, (change) => void navigate({ to: '/knowledge', search: without({ ...address, ...change }) as never, replace: true })];
}

export default function KnowledgePage() {
  const { t } = useLanguage();
  const [{ run, ...wanted }, change] = useAddress();
  const list = useRef<HTMLUListElement>(null);
  useRowKeys(list);
  const found = useInfiniteQuery({ ...entitiesQuery(wanted), placeholderData: keepPreviousData });
  const items = found.data?.pages.flatMap((page) => page.items);
  const narrowed = wanted.q !== undefined || wanted.type !== undefined;
  const forget = () => change({ q: undefined, type: undefined });
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown') return;
    list.current?.querySelector<HTMLElement>('[data-row]')?.focus();
    event.preventDefault();
  };
  return (
    <Page
      title={t('nav.knowledge')}
      description={t('knowledge.lead')}
      actions={<ExtractNow onStart={(id) => change({ run: id })} />}
    >
      {run && <RunProgress id={run} onClose={() => change({ run: undefined })} />}
      <div role="search" className="mb-3 flex flex-wrap gap-2">
        <FindField
          q={wanted.q ?? ''}
          label={t('knowledge.field')}
          shortcut="knowledge.focus"
          className="flex-1 basis-56"
          onFind={(q) => change({ q })}
          onKeyDown={press}
        />
        <select
          aria-label={t('knowledge.type')}
          value={wanted.type ?? ''}
          onChange={(event) => change({ type: TYPES.find((one) => one === event.target.value) })}
          className="field w-auto pe-8"
        >
          <option value="">{t('knowledge.every_type')}</option>
          {TYPES.map((one) => <option key={one} value={one}>{t(`knowledge.type_${one}`)}</option>)}
        </select>
      </div>
      <ListPage query={found} empty={items?.length === 0 && !found.isPlaceholderData && <None narrowed={narrowed} onForget={forget} />}>
        {items && items.length > 0 && (
          <ul ref={list} aria-label={t('knowledge.entities')}>
            {items.map((one) => <Row key={one.id} entity={one} />)}
          </ul>
        )}
      </ListPage>
      <UnreadList />
    </Page>
  );
}

function Row({ entity }: { entity: Entity }) {
  const { t } = useLanguage();
  const Icon = ICONS[entity.type];
  return (
    <li className="border-b border-line last:border-0">
      <Link
        data-row
        data-testid="entity"
        to="/knowledge/$id"
        params={{ id: entity.id }}
        className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5 -outline-offset-2 hover:bg-raised"
      >
        <Icon size={18} className="shrink-0 text-muted" role="img" aria-label={t(`knowledge.type_${entity.type}`)} />
        <span className="min-w-0 flex-1 basis-40">
          <span data-raw className="block truncate font-medium">{entity.name}</span>
          {entity.aliases.length > 0 && <span data-raw className="block truncate text-sm text-muted">{entity.aliases.join(' · ')}</span>}
        </span>
        <span className="flex flex-wrap gap-x-3 text-sm text-muted tnum">
          <span>{t('knowledge.mentions', { n: entity.mentions })}</span>
          <span>{t('knowledge.documents', { n: entity.documents })}</span>
          {entity.relations > 0 && <span>{t('knowledge.relations_count', { n: entity.relations })}</span>}
        </span>
      </Link>
    </li>
  );
}

/** Nothing there: how the graph comes to know something, or that the filters leave nothing. */
function None({ narrowed, onForget }: { narrowed: boolean; onForget: () => void }) {
  const { t } = useLanguage();
  if (!narrowed) return <Empty icon={Network} title={t('knowledge.none_title')} body={t('knowledge.none_body')} />;
  return (
    <Empty
      icon={SearchX}
      title={t('knowledge.no_match_title')}
      body={t('knowledge.no_match_body')}
      action={<Button onClick={onForget}>{t('knowledge.show_all')}</Button>}
    />
  );
}
