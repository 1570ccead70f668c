import { lineOf, readJson } from './positions';

const TEXT = '{\n  "slug": "a",\n  "steps": [\n    { "name": "x",\n      "with": { "a/b": 1 } },\n    {\n      "name": "y" }\n  ]\n}\n';

test('every value has its line', () => {
  const read = readJson(TEXT);

  expect(read.broken).toBeNull();
  expect(read.value).toEqual(JSON.parse(TEXT));
  expect(['', '/slug', '/steps', '/steps/0', '/steps/0/with/a~1b', '/steps/1', '/steps/1/name'].map((path) => lineOf(read, path))).toEqual([
    1, 2, 3, 4, 5, 6, 7,
  ]);
});

test('what is missing is shown where it belongs', () => {
  expect(lineOf(readJson(TEXT), '/steps/1/tool')).toBe(6);
  expect(lineOf(readJson(TEXT), '/start')).toBe(1);
});

test('a text that is no JSON says where it breaks', () => {
  expect(readJson('{\n  "a": 1\n  "b": 2\n}').broken).toBe(3);
  expect(readJson('{\n  "a": tru\n}').broken).toBe(2);
  expect(readJson('{"a": 1,}').broken).toBe(1);
  expect(readJson('{} x').broken).toBe(1);
  expect(readJson('').broken).toBe(1);
  expect(readJson('['.repeat(100_000)).broken).toBe(1);
});

test('agrees with the browser about what is JSON, for many broken texts', () => {
  let seed = 5;
  const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
  const letters = '{}[]",:0e-.tn\\ \n';
  for (let round = 0; round < 600; round++) {
    const at = random(TEXT.length);
    const text = TEXT.slice(0, at) + letters[random(letters.length)]! + TEXT.slice(at + random(2));
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      value = undefined;
    }
    expect(JSON.stringify(readJson(text).value)).toBe(JSON.stringify(value));
    expect(readJson(text).broken === null).toBe(value !== undefined);
  }
});
