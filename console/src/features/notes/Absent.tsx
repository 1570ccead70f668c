import { Link } from '@tanstack/react-router';
import { FileQuestion } from 'lucide-react';
import { isRefusal } from '@/api/refusal';
import { useUnpinGone } from '@/app/pins';
import { useLanguage } from '@/i18n/language';
import { useSlow } from '@/ui/bits';
import { buttonClass } from '@/ui/Button';
import { Empty } from '@/ui/Empty';
import { Problem } from '@/ui/Problem';

/** In place of a note that is not there yet, or not at all. */
export function Absent({ error, onRetry }: { error: Error | null; onRetry: () => void }) {
  const { t } = useLanguage();
  const slow = useSlow(!error);
  const gone = isRefusal(error) && error.status === 404;
  useUnpinGone(gone);
  if (gone) {
    return (
      <div>
        <h1 className="sr-only">{t('notes.missing_title')}</h1>
        <Empty
          icon={FileQuestion}
          title={t('notes.missing_title')}
          body={t('notes.missing_body')}
          action={<Link to="/notes" className={buttonClass()}>{t('notes.back_to_list')}</Link>}
        />
      </div>
    );
  }
  return (
    <div className="mx-auto max-w-3xl p-6 lg:p-10" aria-busy={!error}>
      <h1 className="sr-only">{t('app.loading')}</h1>
      {error ? (
        <Problem error={error} onRetry={onRetry} />
      ) : (
        slow && (
          <div className="grid gap-4">
            <div className="skeleton h-9 w-2/3" />
            <div className="skeleton h-4" />
            <div className="skeleton h-4 w-5/6" />
            <div className="skeleton h-4 w-3/4" />
          </div>
        )
      )}
    </div>
  );
}
