import { render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { formatterOf } from '@/i18n/formatter';
import { LanguageProvider } from '@/i18n/language';
import runs from '../../../locales/en/runs.json';
import time from '../../../locales/en/time.json';
import cases from '../../../tests/domains/workflows/outcome_cases.json';
import { OutcomeBadge, OUTCOMES, outcomeWords, type Outcome, type RunStanding } from './outcome';

const NOW = Date.parse('2026-11-19T08:00:00Z');
const messages = Object.fromEntries(
  Object.entries({ runs, time }).flatMap(([part, words]) => Object.entries(words).map(([key, text]) => [`${part}.${key}`, text])),
);
const language = formatterOf('en', messages);

const standingOf = (one: (typeof cases)[number]): RunStanding => ({
  outcome: one.outcome as Outcome,
  failed_items: one.failed_items,
  waiting: one.reason
    ? {
        reason: one.reason as NonNullable<RunStanding['waiting']>['reason'],
        since: '2026-11-19T07:42:00Z',
        dimension: one.dimension ?? null,
        resets_at: one.resets_in_hours ? new Date(NOW + one.resets_in_hours * 3_600_000).toISOString() : null,
      }
    : null,
});

test.each(cases)('P2, P3: $state with $failed_items failed, waiting for $reason, is “$words” in $tone', (one) => {
  const standing = standingOf(one);
  const [tone] = OUTCOMES[standing.outcome];

  expect(outcomeWords(language, standing, NOW)).toBe(one.words);
  expect(tone).toBe(one.tone);
  if (one.failed_items > 0) expect(tone).not.toBe('success');
  if (one.reason) expect(outcomeWords(language, standing, NOW)).not.toMatch(/running/i);
});

test('a limit that resets in minutes or in days is told so', () => {
  const waiting = (resets_at: string): RunStanding => ({
    outcome: 'waiting', failed_items: 0, waiting: { reason: 'quota', since: '', dimension: 'ai.requests', resets_at },
  });

  expect(outcomeWords(language, waiting('2026-11-19T08:30:00Z'), NOW)).toBe('Waiting: AI limit, resets in 30 min');
  expect(outcomeWords(language, waiting('2026-12-01T00:00:00Z'), NOW)).toBe('Waiting: AI limit, resets in 12 days');
  expect(outcomeWords(language, waiting('2026-11-19T07:59:00Z'), NOW)).toBe('Waiting: AI limit');
});

test('a badge says it in words', () => {
  render(
    <LanguageProvider first={{ locale: 'en', messages }}>
      <OutcomeBadge standing={{ outcome: 'done_with_failures', failed_items: 3, waiting: null }} />
    </LanguageProvider>,
  );

  expect(screen.getByText('Done with 3 failures')).toHaveClass('text-warning');
});
