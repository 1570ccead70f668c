/** What storage is made of, and that its limit was raised when more began to count. */
import type { Usage } from '@/api/companies';
import { useLanguage } from '@/i18n/language';
import { useAmount } from '@/ui/Meter';

const PARTS = ['files', 'notes', 'workflows', 'jobs'] as const;

export function Storage({ line }: { line: Usage }) {
  const { t, dateTime } = useLanguage();
  const amount = useAmount(line.dimension);
  const { parts } = line;
  return (
    <>
      {parts && (
        <dl data-testid="parts" aria-label={t('usage.parts_of')} className="grid grid-cols-[1fr_auto] gap-x-4 text-sm tnum">
          {PARTS.map((part) => (
            <div key={part} className="contents">
              <dt className="text-muted">{t(`usage.parts_${part}`)}</dt>
              <dd className="text-end">{amount(parts[part])}</dd>
            </div>
          ))}
        </dl>
      )}
      {line.raised_at && line.raised_from != null && (
        <p data-testid="raised" className="text-sm text-muted">
          {t('usage.raised', { limit: amount(line.raised_from), date: dateTime(line.raised_at) })}
        </p>
      )}
    </>
  );
}
