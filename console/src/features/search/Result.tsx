import { Link } from '@tanstack/react-router';
import { Lock } from 'lucide-react';
import { useIdentity } from '@/app/session';
import { useLanguage } from '@/i18n/language';
import { addressOf, ICONS } from '@/app/things';
import { Marked } from './Marked';
import type { Found } from './queries';

export function Result({ found }: { found: Found }) {
  const { t, ago } = useLanguage();
  const { team } = useIdentity();
  const Icon = ICONS[found.kind]!;
  return (
    <li className="border-b border-line last:border-0">
      <Link data-row {...addressOf(found)} className="flex gap-3 px-4 py-3 -outline-offset-2 hover:bg-raised">
        <Icon size={18} className="mt-0.5 shrink-0 text-muted" role="img" aria-label={t(`search.a_${found.kind as 'note'}`)} />
        <span className="min-w-0 flex-1">
          <span className="flex items-center gap-2">
            <span data-raw className="min-w-0 truncate font-medium">{found.title}</span>
            {found.visibility === 'private' && (
              <Lock size={13} className="shrink-0 text-muted" role="img" aria-label={t('search.private')} />
            )}
          </span>
          {found.snippet && (
            <span data-raw className="mt-0.5 line-clamp-2 block text-sm break-words text-muted">
              <Marked text={found.snippet} marks={found.marks} />
            </span>
          )}
          <span className="mt-1 flex flex-wrap gap-x-2 text-xs text-muted">
            {found.key && found.key !== found.title && <span data-raw className="min-w-0 truncate">{found.key}</span>}
            {found.team.id !== team.id && <span data-raw>{found.team.name}</span>}
            <time dateTime={found.updated_at}>{ago(found.updated_at)}</time>
            <span>{t(`search.matched_${whereOf(found)}`)}</span>
          </span>
        </span>
      </Link>
    </li>
  );
}

/** Where it matched, the most telling place first. */
const whereOf = ({ matched }: Found): 'title' | 'key' | 'name' | 'text' =>
  (['title', 'key', 'name'] as const).find((one) => matched.includes(one)) ?? 'text';
