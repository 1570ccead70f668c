/** How long the queue was in the last hour, and how long its first job had waited. */
import { useQuery } from '@tanstack/react-query';
import { useDuration } from '@/app/duration';
import { useLanguage } from '@/i18n/language';
import { Card } from '@/ui/bits';
import { latestQuery, MOST } from './queries';
import { areaOf, historyOf } from './queue';

const WIDTH = 240;
const HEIGHT = 44;

export function QueueCharts() {
  const { t, number } = useLanguage();
  const duration = useDuration();
  const { data, dataUpdatedAt } = useQuery(latestQuery);
  if (!data) return null;
  const moments = historyOf(data.items, dataUpdatedAt);
  const now = moments.at(-1)!;
  // Beyond what one answer lists, only that there are more is known.
  const more = Boolean(data.next_cursor) && now.depth === MOST;
  return (
    <div className="mb-5 grid gap-4 sm:grid-cols-2">
      <Chart
        name={t('jobs.depth')}
        now={more ? t('jobs.at_least', { n: number(now.depth) }) : number(now.depth)}
        most={number(Math.max(...moments.map(({ depth }) => depth)))}
        values={moments.map(({ depth }) => depth)}
      />
      <Chart
        name={t('jobs.age')}
        now={now.depth ? duration(now.age) : t('jobs.nobody_waits')}
        most={duration(Math.max(...moments.map(({ age }) => age)))}
        values={moments.map(({ age }) => age)}
      />
    </div>
  );
}

function Chart({ name, now, most, values }: { name: string; now: string; most: string; values: number[] }) {
  const { t } = useLanguage();
  const summary = t('jobs.most', { n: most });
  return (
    <Card className="p-4">
      <div className="flex flex-wrap items-baseline justify-between gap-x-3">
        <h2 className="text-sm text-muted">{name}</h2>
        <p className="text-sm text-muted tnum">{summary}</p>
      </div>
      <p data-testid="queue-now" className="text-xl font-semibold tnum">{now}</p>
      <svg
        role="img"
        aria-label={`${name}: ${summary}`}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="mt-2 block h-11 w-full text-accent"
      >
        <path d={areaOf(values, WIDTH, HEIGHT)} className="fill-current opacity-20" />
        <path d={areaOf(values, WIDTH, HEIGHT)} vectorEffect="non-scaling-stroke" className="fill-none stroke-current" strokeWidth="1.5" />
      </svg>
    </Card>
  );
}
