import { pathOf } from '@/api/repository';
import { folderNamed, folderOf, nameIn, trailOf } from './keys';

test('a key has a name and lies in a folder', () => {
  expect([nameIn('a/b/c.txt'), folderOf('a/b/c.txt')]).toEqual(['c.txt', 'a/b/']);
  expect([nameIn('c.txt'), folderOf('c.txt')]).toEqual(['c.txt', '']);
  expect(nameIn('a/b/')).toBe('b');
});

test('a folder knows every folder above it', () => {
  expect(trailOf('a/b/')).toEqual([{ name: 'a', folder: 'a/' }, { name: 'b', folder: 'a/b/' }]);
  expect(trailOf('')).toEqual([]);
});

test('odd keys survive the address', () => {
  expect(pathOf('jól 100%/a+b?.txt')).toBe('/api/repo/j%C3%B3l%20100%25/a%2Bb%3F.txt');
});

test('a typed folder is whole or nothing', () => {
  expect(folderNamed('a/', ' b / c ')).toBe('a/b/c/');
  expect(folderNamed('a/', ' / ')).toBeNull();
});
