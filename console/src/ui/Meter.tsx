/** How much of a limit is taken: amber from four fifths on, red when nothing is left, calm without a limit. */
import clsx from 'clsx';
import { CircleAlert, TriangleAlert } from 'lucide-react';
import type { Usage } from '@/api/companies';
import { useLanguage, type MessageKey } from '@/i18n/language';
import { bytesOf, fullnessOf, isRunning, partsOf, takenOf, type Fullness } from './meter';

const BARS: Record<Fullness, string> = { open: '', calm: 'bg-accent', near: 'bg-warning', full: 'bg-danger' };
const WORDS: Record<Fullness, string> = { open: 'text-muted', calm: 'text-muted', near: 'text-warning', full: 'text-danger' };

export const dimensionKey = (dimension: string): MessageKey => `usage.${dimension.replaceAll('.', '_')}` as MessageKey;

/** An amount of a dimension, in its own unit. */
export function useAmount(dimension: string): (n: number) => string {
  const { t, number } = useLanguage();
  return (amount) => {
    if (dimension !== 'storage.bytes') return number(amount);
    const { n, unit } = bytesOf(amount);
    return t(`usage.unit_${unit}`, { n: number(n) });
  };
}

export function Meter({ line, label }: { line: Usage; label: string }) {
  const { t, ago, dateTime } = useLanguage();
  const amount = useAmount(line.dimension);
  const fullness = fullnessOf(line);
  const Icon = fullness === 'full' ? CircleAlert : TriangleAlert;
  const words = line.limit === null ? t('usage.no_limit') : t('usage.left', { n: amount(line.remaining ?? 0) });
  const running = isRunning(line.dimension);
  return (
    <div data-testid="meter" data-fullness={fullness}>
      <div className="flex flex-wrap items-baseline justify-between gap-x-3">
        <p className="min-w-0">
          <b className="font-semibold tnum">
            {line.limit === null
              ? t(running ? 'usage.running' : 'usage.taken', { n: amount(takenOf(line)) })
              : t('usage.of', { n: amount(takenOf(line)), limit: amount(line.limit) })}
          </b>
          {!running && line.window && <span className="text-sm text-muted"> {t(`usage.window_${line.window}`)}</span>}
        </p>
        <p
          className={clsx(
            'flex items-center gap-1 text-sm tnum',
            WORDS[fullness],
            fullness !== 'open' && fullness !== 'calm' && 'font-medium',
          )}
        >
          {(fullness === 'near' || fullness === 'full') && <Icon size={13} aria-hidden />}
          {words}
        </p>
      </div>
      {line.limit !== null && (
        <Bar
          line={line}
          label={label}
          fullness={fullness}
          text={`${t('usage.of', { n: amount(takenOf(line)), limit: amount(line.limit) })}, ${words}`}
        />
      )}
      <p className="mt-1 flex flex-wrap gap-x-3 text-sm text-muted tnum">
        {line.reserved > 0 && !running && <span>{t('usage.reserved', { n: amount(line.reserved) })}</span>}
        {running
          ? line.limit !== null && <span>{t('usage.right_now')}</span>
          : line.resets_at &&
            line.limit !== null && (
              <time dateTime={line.resets_at} title={dateTime(line.resets_at)}>
                {t('usage.resets', { when: ago(line.resets_at) })}
              </time>
            )}
      </p>
    </div>
  );
}

function Bar({ line, label, fullness, text }: { line: Usage; label: string; fullness: Fullness; text: string }) {
  const parts = partsOf(line);
  return (
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={line.limit ?? 0}
      aria-valuenow={Math.min(takenOf(line), line.limit ?? 0)}
      aria-valuetext={text}
      className="mt-1.5 flex h-2 overflow-hidden rounded-full bg-raised"
    >
      <div className={clsx('h-full', BARS[fullness])} style={{ width: `${parts.used}%` }} />
      <div className={clsx('h-full opacity-45', BARS[fullness])} style={{ width: `${parts.reserved}%` }} />
    </div>
  );
}
