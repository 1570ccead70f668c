/** The queue as it was: how many jobs waited at each moment, and how long the first of them had. Knows nothing about React. */
import type { JobSummary } from './queries';

export interface Moment {
  readonly at: number;
  readonly depth: number;
  /** Seconds the longest-waiting job had waited. */
  readonly age: number;
}

type Waiting = Pick<JobSummary, 'state' | 'created_at' | 'run_at' | 'started_at' | 'finished_at'>;

const HOUR = 3_600_000;
const STEPS = 60;
const time = (iso: string | null): number => (iso === null ? Infinity : new Date(iso).getTime());

/** From when until when a job waited for its turn; of one that was tried several times, the last time. */
export function waitOf(job: Waiting): { from: number; until: number } {
  const from = Math.max(time(job.created_at), time(job.run_at));
  if (job.state === 'queued') return { from, until: Infinity };
  const started = time(job.started_at);
  return { from, until: started >= from ? Math.min(started, time(job.finished_at)) : time(job.finished_at) };
}

/** The last hour in equal steps, the present last. */
export function historyOf(jobs: readonly Waiting[], now: number): Moment[] {
  const waits = jobs.map(waitOf);
  return Array.from({ length: STEPS + 1 }, (_, step) => {
    const at = now - ((STEPS - step) * HOUR) / STEPS;
    const waiting = waits.filter(({ from, until }) => from <= at && at < until);
    return { at, depth: waiting.length, age: waiting.reduce((most, { from }) => Math.max(most, (at - from) / 1000), 0) };
  });
}

/** An area under steps, in a box of these measures; flat along the ground when there is nothing. */
export function areaOf(values: readonly number[], width: number, height: number): string {
  const most = Math.max(...values, 1);
  const x = (at: number) => round((at / Math.max(1, values.length - 1)) * width);
  const y = (amount: number) => round(height - (amount / most) * height);
  return `M0 ${height}${values.map((amount, at) => `L${x(at)} ${y(amount)}`).join('')}L${width} ${height}Z`;
}

const round = (n: number): number => Math.round(n * 10) / 10;
