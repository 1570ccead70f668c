/** What an entity is related to: drawn around it, or the same as a list with the quotes that tell of it. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import clsx from 'clsx';
import { ArrowLeft, ArrowRight, Network, Rows3 } from 'lucide-react';
import { useRef, useState, type KeyboardEvent } from 'react';
import { useLanguage } from '@/i18n/language';
import { Card } from '@/ui/bits';
import { layOut, neighboursOf, NODE, SHOWN, type Neighbour } from './neighbours';
import type { EntityDetail, Relation } from './queries';
import { ICONS, relationWords } from './words';

const VIEWS = [['drawn', Network], ['list', Rows3]] as const;

export function Neighbourhood({ entity }: { entity: EntityDetail }) {
  const { t } = useLanguage();
  const search = useSearch({ strict: false }) as { view?: string };
  const navigate = useNavigate();
  const view = search.view === 'list' ? 'list' : 'drawn';
  const show = (next: string) => void navigate({ to: '.', search: (next === 'list' ? { view: next } : {}) as never, replace: true });
  if (entity.relations.length === 0) {
    return <Card className="p-4 text-sm text-muted">{t('knowledge.no_relations')}</Card>;
  }
  return (
    <section aria-labelledby="related">
      <Card className="overflow-hidden">
        <div className="flex flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-2.5">
          <h2 id="related" className="font-semibold">{t('knowledge.related')}</h2>
          <div role="group" aria-label={t('knowledge.views')} className="flex rounded-md bg-raised p-0.5">
            {VIEWS.map(([one, Icon]) => (
              <button
                key={one}
                type="button"
                aria-pressed={view === one}
                onClick={() => show(one)}
                className={clsx(
                  'flex h-7 items-center gap-1.5 rounded-sm px-2.5 text-sm font-medium',
                  view === one ? 'bg-surface text-text shadow-card' : 'text-muted hover:text-text',
                )}
              >
                <Icon size={14} aria-hidden />
                {t(`knowledge.view_${one}`)}
              </button>
            ))}
          </div>
        </div>
        {view === 'drawn' ? <Drawn entity={entity} onList={() => show('list')} /> : <Relations entity={entity} />}
      </Card>
    </section>
  );
}

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** One stop for the Tab key; arrows walk from one to the next, Enter goes there. */
function Drawn({ entity, onList }: { entity: EntityDetail; onList: () => void }) {
  const { t } = useLanguage();
  const neighbours = neighboursOf(entity.relations);
  const { width, height, centre, nodes } = layOut(neighbours.slice(0, SHOWN));
  const [reached, setReached] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const walk = (event: KeyboardEvent) => {
    const by = STEPS[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = (reached + by + nodes.length) % nodes.length;
    setReached(next);
    list.current?.querySelectorAll<HTMLElement>('a')[next]?.focus();
  };
  const Icon = ICONS[entity.type];
  return (
    <>
      <div className="overflow-auto p-3" data-testid="graph">
        <div className="relative mx-auto" style={{ width, height }}>
          <svg aria-hidden width={width} height={height} className="absolute inset-0">
            {nodes.map(({ neighbour, path }) => (
              <path key={neighbour.entity.id} d={path} strokeWidth={1.5} className="fill-none stroke-line-strong" />
            ))}
          </svg>
          <p
            aria-hidden
            style={{ left: centre.x, top: centre.y, ...NODE }}
            className="absolute flex items-center gap-2 rounded-lg border border-accent bg-accent-soft px-3 text-link"
          >
            <Icon size={16} className="shrink-0" />
            <span data-raw className="truncate text-sm font-semibold">{entity.name}</span>
          </p>
          <ul ref={list} aria-label={t('knowledge.related')} onKeyDown={walk}>
            {nodes.map(({ neighbour, x, y }, at) => (
              <li key={neighbour.entity.id} className="absolute" style={{ left: x, top: y, ...NODE }}>
                <Node neighbour={neighbour} reachable={at === reached} onReach={() => setReached(at)} />
              </li>
            ))}
          </ul>
        </div>
      </div>
      {neighbours.length > SHOWN && (
        <p className="border-t border-line px-4 py-2 text-sm text-muted">
          {t('knowledge.shown_of', { n: SHOWN, all: neighbours.length })}{' '}
          <button type="button" onClick={onList} className="h-6 text-link hover:underline">{t('knowledge.all_as_list')}</button>
        </p>
      )}
    </>
  );
}

function Node({ neighbour: { entity, relations }, reachable, onReach }: { neighbour: Neighbour; reachable: boolean; onReach: () => void }) {
  const { t } = useLanguage();
  const Icon = ICONS[entity.type];
  const told = relations.map((one) => `${one.direction === 'out' ? '→' : '←'} ${relationWords(one.type)}`).join(', ');
  return (
    <Link
      to="/knowledge/$id"
      params={{ id: entity.id }}
      tabIndex={reachable ? 0 : -1}
      onFocus={onReach}
      data-testid="neighbour"
      className="flex size-full items-center gap-2 rounded-lg border border-line-strong bg-surface px-3 shadow-card hover:bg-raised"
    >
      <Icon size={16} role="img" aria-label={t(`knowledge.type_${entity.type}`)} className="shrink-0 text-muted" />
      <span data-raw className="min-w-0 flex-1">
        <span className="block truncate text-sm font-medium">{entity.name}</span>
        <span className="block truncate text-xs text-muted">{told}</span>
      </span>
    </Link>
  );
}

function Relations({ entity }: { entity: EntityDetail }) {
  return <ul>{entity.relations.map((one) => <RelationRow key={one.id + one.direction} relation={one} />)}</ul>;
}

function RelationRow({ relation }: { relation: Relation }) {
  const { t } = useLanguage();
  const Way = relation.direction === 'out' ? ArrowRight : ArrowLeft;
  const Icon = ICONS[relation.entity.type];
  return (
    <li data-testid="relation" className="border-b border-line px-4 py-3 last:border-0">
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <Way
          size={15}
          role="img"
          aria-label={t(`knowledge.direction_${relation.direction}`)}
          className="shrink-0 text-muted rtl:-scale-x-100"
        />
        <span data-raw className="text-sm text-muted">{relationWords(relation.type)}</span>
        <Icon size={15} role="img" aria-label={t(`knowledge.type_${relation.entity.type}`)} className="shrink-0 text-muted" />
        <Link
          to="/knowledge/$id"
          params={{ id: relation.entity.id }}
          search={{ view: 'list' } as never}
          className="min-w-0 truncate leading-6 font-medium text-link hover:underline"
        >
          <span data-raw>{relation.entity.name}</span>
        </Link>
        <span className="text-sm text-muted tnum">{t('knowledge.documents', { n: relation.documents })}</span>
      </p>
      <ul className="mt-1 grid gap-1 ps-6">
        {relation.evidence.map(({ object_id: id, quote }) => (
          <li key={id + quote}>
            <Link
              to="/files/$id"
              params={{ id }}
              className="inline-block min-h-6 border-s-2 border-line ps-3 text-sm text-muted hover:border-accent hover:text-text"
            >
              <q data-raw className="wrap-anywhere">{quote}</q>
            </Link>
          </li>
        ))}
      </ul>
    </li>
  );
}
