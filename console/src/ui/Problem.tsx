/** A refusal in words, with the id the server's log knows it by. */
import { Link } from '@tanstack/react-router';
import { CircleAlert } from 'lucide-react';
import { isRefusal, type Refusal } from '@/api/refusal';
import { useLanguage, type Formatter } from '@/i18n/language';
import { Button } from './Button';
import { LIMIT_REACHED, limitWords } from './limit-words';

export function wordsFor(formatter: Formatter, refusal: Refusal): string {
  const limit = refusal.code === LIMIT_REACHED ? limitWords(formatter, refusal) : null;
  if (limit !== null) return limit;
  const { retry_after: retry, term } = refusal.facts;
  const field = refusal.fields[0] ?? '';
  const values = { retry: typeof retry === 'number' ? retry : 0, field, term: typeof term === 'string' ? term : '' };
  const key = refusal.code.replaceAll('.', '_');
  return (
    formatter.find(`errors.${key}`, values) ?? formatter.find(`errors.status_${refusal.status}`, values) ?? formatter.t('errors.unknown')
  );
}

/** `onRetry` for what was read; what somebody sent has its own button already. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const language = useLanguage();
  if (!error) return null;
  const known = isRefusal(error) ? error : null;
  return (
    <div role="alert" className="flex items-start gap-2.5 rounded-lg border border-danger/30 bg-danger-soft px-3 py-2.5 text-danger">
      <CircleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />
      <div className="min-w-0 flex-1">
        <p>{known ? wordsFor(language, known) : language.t('errors.unknown')}</p>
        {known?.code === LIMIT_REACHED && (
          <p className="mt-1"><Link to="/settings/usage" className="font-medium underline">{language.t('errors.limit_see')}</Link></p>
        )}
        {known?.requestId && (
          <p className="mt-0.5 text-xs">
            {language.rich('errors.request', {
              id: known.requestId,
              code: (parts) => <code key="id" data-raw className="font-mono select-all">{parts}</code>,
            })}
          </p>
        )}
      </div>
      {onRetry && <Button size="small" onClick={onRetry}>{language.t('ui.retry')}</Button>}
    </div>
  );
}
