import { Link } from '@tanstack/react-router';
import { ChevronRight, FolderTree } from 'lucide-react';
import { useLanguage } from '@/i18n/language';
import { trailOf } from './keys';

/** From the top down to where one is; `file` names what is open at the end of it. */
export function Trail({ folder, file }: { folder: string; file?: string }) {
  const { t } = useLanguage();
  const steps = trailOf(folder);
  const here = file ?? steps.at(-1)?.name;
  const above = file ? steps : steps.slice(0, -1);
  const link = 'flex h-7 min-w-6 items-center gap-1.5 rounded-md px-1.5 font-medium text-link hover:underline';
  const top = <><FolderTree size={15} aria-hidden />{t('files.top')}</>;
  return (
    <nav aria-label={t('files.trail')} className="min-w-0">
      <ol className="flex flex-wrap items-center gap-x-0.5">
        <li>
          {here === undefined ? (
            <span aria-current="page" className="flex h-7 items-center gap-1.5 px-1.5 text-muted">{top}</span>
          ) : (
            <Link to="/files" className={link}>{top}</Link>
          )}
        </li>
        {above.map((step) => (
          <li key={step.folder} className="flex items-center gap-0.5">
            <Next />
            <Link to="/files" search={{ at: step.folder } as never} className={link}>
              <span data-raw className="max-w-48 truncate">{step.name}</span>
            </Link>
          </li>
        ))}
        {here !== undefined && (
          <li className="flex min-w-0 items-center gap-0.5">
            <Next />
            <span aria-current="page" data-raw className="max-w-72 truncate px-1.5 text-muted">{here}</span>
          </li>
        )}
      </ol>
    </nav>
  );
}

const Next = () => <ChevronRight size={14} aria-hidden className="shrink-0 text-muted rtl:rotate-180" />;
