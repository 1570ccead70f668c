/** A refusal in words, with the id the server's log knows it by. */
import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { isRefusal, type Refusal } from '@/api/refusal';
import { useLanguage, type Speech } from '@/app/language';

export function wordsFor(speech: Pick<Speech, 't' | 'find'>, refusal: Refusal): string {
  const retry = refusal.facts['retry_after'];
  const values = { retry: typeof retry === 'number' ? retry : 0, field: refusal.fields[0] ?? '' };
  const key = refusal.code.replaceAll('.', '_');
  return speech.find(`errors.${key}`, values) ?? speech.find(`errors.status_${refusal.status}`, values) ?? speech.t('errors.unknown');
}

export function Problem({ error, action }: { error: unknown; action?: ReactNode }) {
  const language = useLanguage();
  if (!error) return null;
  const known = isRefusal(error) ? error : null;
  return (
    <div role="alert" className="flex items-start gap-2.5 rounded-lg border border-danger/30 bg-danger-soft px-3 py-2.5 text-danger">
      <CircleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />
      <div className="min-w-0 flex-1">
        <p>{known ? wordsFor(language, known) : language.t('errors.unknown')}</p>
        {known?.requestId && (
          <p className="mt-0.5 text-xs">{language.rich('errors.request', { id: known.requestId, code: (parts) => <code key="id" data-raw className="font-mono select-all">{parts}</code> })}</p>
        )}
      </div>
      {action}
    </div>
  );
}
