import { expect, it } from 'vitest';
import { placeOf } from './TextRead';

const marked = (wanted: string, text: string) => {
  const [from, to] = placeOf(wanted, text);
  return [...text.normalize('NFC')].slice(from, to).join('');
};

it('finds a piece of a snippet over line ends, signs outside the plane and other compositions', () => {
  expect(marked('sluice keeper', 'The\nsluice\tkeeper sleeps.')).toBe('sluice\tkeeper');
  expect(marked('after', '🛳️🛳️ after all')).toBe('after');
  expect(marked('Hafrún', 'manifest of the Hafru\u0301n')).toBe('Hafrún');
});

it('says so when the text has changed meanwhile', () => {
  expect(placeOf('gone', 'another text')).toEqual([-1, -1]);
});
