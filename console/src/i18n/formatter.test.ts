import { formatterOf } from './formatter';
import is from '../../../locales/is/time.json';

const catalog = (messages: Record<string, string>) => messages;
const time = Object.fromEntries(Object.entries(is).map(([name, text]) => [`time.${name}`, text]));

test('an Icelandic 21 is singular, a Spanish one is not', () => {
  const messages = catalog({ 'home.people': '{n, plural, one {# skrá} other {# skrár}}' });

  expect(formatterOf('is', messages).t('home.people', { n: 21 })).toBe('21 skrá');
  expect(formatterOf('es', messages).t('home.people', { n: 21 })).toBe('21 skrár');
});

test('Icelandic numbers are written the Icelandic way although browsers lack the data', () => {
  expect(formatterOf('is', {}).number(1234567)).toBe('1.234.567');
  expect(formatterOf('is', catalog({ 'home.people': '{n, plural, other {#}}' })).t('home.people', { n: 12345 })).toBe('12.345');
});

test('dates and distances come from the catalog', () => {
  const formatter = formatterOf('is', time);
  const now = new Date('2026-11-15T12:00:00').getTime();

  expect(formatter.date('2026-11-15T09:05:00')).toBe('15. nóvember 2026');
  expect(formatter.ago('2026-11-15T11:58:00', now)).toBe('fyrir 2 mínútum');
  expect(formatter.ago('2026-11-14T12:00:00', now)).toBe('í gær');
  expect(formatter.ago('2026-11-18T12:00:00', now)).toBe('eftir 3 daga');
});

test('a message that does not exist is found to be missing', () => {
  expect(formatterOf('en', {}).find('errors.nothing_like_it')).toBeNull();
});
