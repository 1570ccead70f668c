/** How many opened the form, began and sent it, day by day, and where most of them stop. */
import { useLanguage } from '@/i18n/language';
import { Card } from '@/ui/bits';
import { calendarOf, greatestLoss, isQuiet, totalsOf } from './numbers';
import type { Day } from './queries';

const DAYS = 30;
const HEIGHT = 72;
const STEPS = ['opened', 'started', 'received', 'refused'] as const;

export function Numbers({ days }: { days: Day[] }) {
  const { t, number } = useLanguage();
  const calendar = calendarOf(days, new Date().toISOString().slice(0, 10), DAYS);
  const totals = totalsOf(calendar);
  if (isQuiet(totals)) return null;
  const loss = greatestLoss(totals);
  return (
    <Card className="mb-5 grid gap-4 p-5">
      <div>
        <h2 className="text-lg font-semibold">{t('onboarding.numbers')}</h2>
        <p data-testid="loss" className="mt-0.5 text-muted">
          {loss
            ? t(`onboarding.stop_${loss.before}`, { lost: number(loss.lost), of: number(loss.of) })
            : t('onboarding.stop_none')}
        </p>
      </div>
      <dl className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        {STEPS.map((step) => (
          <div key={step} data-testid={`step-${step}`}>
            <dt className="text-sm text-muted">{t(`onboarding.step_${step}`)}</dt>
            <dd className="text-2xl font-semibold tnum">{number(totals[step])}</dd>
          </div>
        ))}
      </dl>
      <Bars calendar={calendar} />
      <Table days={calendar.filter((day) => !isQuiet(day)).reverse()} />
    </Card>
  );
}

/** Opened behind, sent in front: the space between them is who left. */
function Bars({ calendar }: { calendar: Day[] }) {
  const { t } = useLanguage();
  const most = Math.max(...calendar.flatMap((day) => [day.opened, day.received]), 1);
  const tall = (n: number) => (n / most) * HEIGHT;
  return (
    <svg
      role="img"
      aria-label={t('onboarding.chart')}
      viewBox={`0 0 ${DAYS * 10} ${HEIGHT}`}
      preserveAspectRatio="none"
      className="block h-18 w-full border-b border-line rtl:-scale-x-100"
    >
      {calendar.map((day, at) => (
        <g key={day.day}>
          <rect x={at * 10 + 1} width={8} y={HEIGHT - tall(day.opened)} height={tall(day.opened)} className="fill-(--accent) opacity-25" />
          <rect x={at * 10 + 1} width={8} y={HEIGHT - tall(day.received)} height={tall(day.received)} className="fill-(--accent)" />
        </g>
      ))}
    </svg>
  );
}

function Table({ days }: { days: Day[] }) {
  const { t, number, date } = useLanguage();
  return (
    <details>
      <summary className="inline-flex min-h-6 cursor-pointer items-center text-sm font-medium text-link">{t('onboarding.by_day')}</summary>
      <div className="mt-2 overflow-x-auto" tabIndex={0} role="region" aria-label={t('onboarding.by_day')}>
        <table className="w-full text-sm">
          <thead>
            <tr className="border-b border-line text-muted">
              <th scope="col" className="py-1.5 pe-3 text-start font-medium">{t('onboarding.day')}</th>
              {STEPS.map((step) => (
                <th key={step} scope="col" className="px-3 py-1.5 text-end font-medium">{t(`onboarding.step_${step}`)}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days.map((day) => (
              <tr key={day.day} className="border-b border-line last:border-0">
                <th scope="row" className="py-1.5 pe-3 text-start font-normal whitespace-nowrap">{date(`${day.day}T12:00`)}</th>
                {STEPS.map((step) => <td key={step} className="px-3 py-1.5 text-end tnum">{number(day[step])}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
