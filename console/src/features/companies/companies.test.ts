import { describe, expect, it } from 'vitest';
import { isSlug, slugOf } from './companies';

describe('a slug', () => {
  it('is made of plain letters', () => {
    expect(slugOf('Ísfélagið & Co.')).toBe('isfelagid-co');
    expect(slugOf('  Bloemenveiling  ')).toBe('bloemenveiling');
  });
  it('is empty when nothing is left', () => expect(slugOf('!!!')).toBe(''));
  it('knows what the server takes', () => {
    expect(isSlug('acme-2')).toBe(true);
    expect(isSlug('Acme')).toBe(false);
    expect(isSlug('')).toBe(false);
    expect(isSlug('a'.repeat(64))).toBe(false);
  });
});
