/** About how many tokens drafts take: each source goes in and about as much comes out, with what every job is told besides. */
const STRINGS_IN_A_JOB = 25;
const CHARACTERS_IN_A_TOKEN = 4;
const TOLD_BESIDES = 300;
const AROUND_A_STRING = 16;

/** Of `count` messages, of which some sources are known. */
export function costOf(sources: string[], count: number): number {
  if (sources.length === 0) return 0;
  const mean = sources.reduce((sum, one) => sum + one.length, 0) / sources.length / CHARACTERS_IN_A_TOKEN;
  const tokens = Math.ceil(count / STRINGS_IN_A_JOB) * TOLD_BESIDES + count * (2 * mean + AROUND_A_STRING);
  const step = tokens > 10_000 ? 1000 : 100;
  return Math.ceil(tokens / step) * step;
}
