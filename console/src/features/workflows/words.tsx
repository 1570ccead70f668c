/** How runs and their steps stand, in words and colours. */
import {
  CircleAlert, CircleCheckBig, CircleDashed, CircleSlash, Hourglass, LoaderCircle, TriangleAlert, type LucideIcon,
} from 'lucide-react';
import { useEffect, useState } from 'react';
import { waitingWords } from '@/app/outcome';
import { useLanguage, type Formatter } from '@/i18n/language';
import { Badge, type Tone } from '@/ui/bits';
import type { Fault, Step, StepState } from './shapes';

type Words = Pick<Formatter, 't' | 'find'>;

export const LOOKS = {
  queued: ['neutral', Hourglass, 'text-muted'],
  running: ['info', LoaderCircle, 'text-info'],
  succeeded: ['success', CircleCheckBig, 'text-success'],
  failed: ['danger', CircleAlert, 'text-danger'],
  cancelled: ['neutral', CircleSlash, 'text-muted'],
  skipped: ['neutral', CircleDashed, 'text-muted'],
} as const satisfies Record<StepState, [Tone, LucideIcon, string]>;

export function StateBadge({ state }: { state: StepState }) {
  const { t } = useLanguage();
  const [tone, Icon] = LOOKS[state];
  return <Badge tone={tone}><Icon size={12} aria-hidden />{t(`runs.state_${state}`)}</Badge>;
}

/** How a step is drawn: a map that went through with failures is amber, one of which nothing runs waits. */
export type StepLook = readonly [Tone, LucideIcon, string];
const WITH_FAILURES: StepLook = ['warning', TriangleAlert, 'text-warning'];
const WAITING: StepLook = ['info', Hourglass, 'text-info'];

export function lookOf({ state, counts, waiting }: Pick<Step, 'state' | 'counts' | 'waiting'>): StepLook {
  if (waiting) return WAITING;
  return state === 'succeeded' && counts && counts.failed > 0 ? WITH_FAILURES : LOOKS[state];
}

export function stepWords(language: Pick<Formatter, 't' | 'number'>, { state, counts, waiting }: Step): string {
  if (waiting) return waitingWords(language, waiting);
  if (state === 'succeeded' && counts && counts.failed > 0) return language.t('runs.outcome_failures', { n: counts.failed });
  return language.t(`runs.state_${state}`);
}

export function StepBadge({ step }: { step: Step }) {
  const language = useLanguage();
  const [tone, Icon] = lookOf(step);
  return <Badge tone={tone}><Icon size={12} aria-hidden />{stepWords(language, step)}</Badge>;
}

/** A plugin's workflow, or the team's own. */
export const sourceWords = ({ t }: Pick<Formatter, 't'>, source: string): string =>
  source.startsWith('plugin:') ? t('workflows.from_plugin', { plugin: source.slice('plugin:'.length) }) : t('workflows.from_team');

/** What a step waits for, or items of a map that runs; nothing when it does not wait. */
export function waitWords({ t, find }: Words, step: Pick<Step, 'state' | 'waiting_reason' | 'attempt'>): string | null {
  if (step.state !== 'queued') return (step.waiting_reason && find(`jobs.waits_${step.waiting_reason}`)) || null;
  if (step.waiting_reason === 'scheduled') return t(step.attempt > 0 ? 'jobs.waits_again' : 'runs.waits_scheduled');
  return (step.waiting_reason && find(`jobs.waits_${step.waiting_reason}`)) || t('jobs.waits_turn');
}

/** What to do about a failure, by its code; a tool's own codes get the general advice. */
export const adviceFor = ({ t, find }: Words, { code }: Fault): string =>
  find(`runs.advice_${code.replaceAll('.', '_')}`) ?? t('runs.advice');

interface Spell {
  started_at: string | null;
  finished_at: string | null;
}

/** Seconds between beginning and end, or until now; null before the beginning. */
export const secondsOf = ({ started_at, finished_at }: Spell, now: number): number | null =>
  started_at ? Math.max(0, ((finished_at ? Date.parse(finished_at) : now) - Date.parse(started_at)) / 1000) : null;

/** The present, told again every second while something goes on. */
export function useNow(ticking: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!ticking) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [ticking]);
  return now;
}
