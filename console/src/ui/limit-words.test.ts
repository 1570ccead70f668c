import { Refusal } from '@/api/refusal';
import { formatterOf } from '@/i18n/formatter';
import { LIMIT_REACHED } from './limit-words';
import { wordsFor } from './Problem';

const LOCALES = ['en', 'es', 'is', 'nl'] as const;
const catalogs = import.meta.glob<Record<string, string>>('../../../locales/*/{errors,time}.json', { eager: true, import: 'default' });
const spoken = (locale: string) =>
  formatterOf(
    locale,
    Object.fromEntries(
      ['errors', 'time'].flatMap((space) =>
        Object.entries(catalogs[`../../../locales/${locale}/${space}.json`] ?? {}).map(([name, text]) => [`${space}.${name}`, text]),
      ),
    ),
  );

const FACTS = { dimension: 'ai.requests', level: 'team', window: 'day', limit: 50, used: 50, remaining: 0 };
const said = (locale: string, facts: Record<string, unknown>) =>
  wordsFor(spoken(locale), new Refusal(429, LIMIT_REACHED, 'r1', [], { ...FACTS, ...facts }));
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000 + 60_000).toISOString();

test('P9: says which limit, how much, until when and whom to ask', () => {
  const words = said('en', { resets_at: inHours(16), ask: [{ name: 'Ada', role: 'operator' }, { name: 'Carla', role: 'operator' }] });

  expect(words.replace(/\d\d:\d\d/, '00:00')).toBe(
    'Your team has used 50 of 50 AI requests today. The limit resets in 16 hours (00:00). Ada or Carla can raise the limit.',
  );
});

test('P9: says what is left where that is not enough', () => {
  const storage = { dimension: 'storage.bytes', level: 'org', window: 'total', limit: 2e9, used: 1.5e9, remaining: 5e8 };

  expect(said('en', { ...storage, ask: [{ name: null, role: 'operator' }] })).toBe(
    'Your company has 500 MB of 2 GB of storage left, and this needs more. Emptying the trash makes room. ' +
      'The operator of this server can raise the limit.',
  );
});

test.each(LOCALES)('P9: says all of it in %s, in any number of names', (locale) => {
  for (const dimension of ['ai.requests', 'ai.tokens.total', 'storage.bytes'])
    for (const window of ['minute', 'hour', 'day', 'month', 'total'])
      for (const names of [[], ['Ada'], ['Ada', 'Carla'], ['Ada', 'Carla', 'Bob']]) {
        const resets = window === 'total' ? null : inHours(3);
        const ask = names.length ? names.map((name) => ({ name })) : [{ name: null }];
        const words = said(locale, { dimension, window, resets_at: resets, ask });
        expect(words).toContain('50');
        for (const name of names) expect(words).toContain(name);
        expect(words).not.toMatch(/[{}]|undefined|null| {2}| \./);
      }
});

test('P9: a refusal without the facts has words too', () => {
  expect(wordsFor(spoken('en'), new Refusal(429, LIMIT_REACHED, 'r1'))).toBe('Your team or company has reached a usage limit.');
});
