import { expect, test } from 'vitest';
import cases from '../../../../tests/domains/localization/check_cases.json';
import { checksOf, type Check } from './checks';
import { chipsOf } from './chips';

/** The server has one code for what the desk tells apart. */
const OF_SERVER: Partial<Record<Check['code'], string>> = {
  argument_absent: 'arguments',
  argument_unknown: 'arguments',
  tag_absent: 'tags',
  tag_unknown: 'tags',
  apostrophe: 'syntax',
};

test.each(cases)('$text for $source has the faults that the server finds', ({ source, text, locale, max_length: most, codes }) => {
  const found = checksOf(source, text, locale, most ?? null);

  expect(found.map(({ code }) => OF_SERVER[code] ?? code)).toEqual(codes);
});

test('a plural is put in with the forms of the language', () => {
  const [chip] = chipsOf('{n, plural, one {# file} other {# files}} in <b>{folder}</b>', 'pl');

  expect(chip?.before).toBe('{n, plural, few {# } many {# } one {# } other {# }}');
});

test('every argument and tag of a source is a chip, and fits', () => {
  const source = 'Hello <b>{name}</b>';

  expect(chipsOf(source, 'es').map(({ label }) => label)).toEqual(['{name}', '<b>']);
});
