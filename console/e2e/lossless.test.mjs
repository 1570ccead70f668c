// What was not touched stays byte for byte: texts of every kind opened, edited in one place, and saved.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { call, closeAll, found, openBrowser, openPerson, openServer, until } from './world.mjs';
import { wordsOf } from './words.mjs';

const t = wordsOf('en');
/** 2,000 with ATRIUM_FULL=1. */
const MANY = process.env.ATRIUM_FULL ? 2000 : 24;
const TABS = 2;
const MARK = 'zQz';
let browser, server, ada;
before(async () => {
  [browser, server] = await Promise.all([openBrowser(), openServer()]);
  ada = await found(server);
});
after(closeAll);

/** Chance that is the same on every run. */
let seed = 19;
const chance = (below) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
const one = (list) => list[chance(list.length)];

const PIECES = [
  '# Fog protocol', 'Tug first.  ', '\tindented by a tab', '- one\n- two\n\t- under two', '1. first\n2) second', '* * *', '> said\n> twice',
  '<div class="x">\n  <b>kept &amp; as it was</b>\n</div>', '<!-- not shown -->', '| a | b |\n|:--|--:|\n| 1 | 2\t|', '```js\nlet a\t= 1;\n```', '~~~\nno end',
  '👩‍🚀 🇮🇸 é é', 'שלום עולם', 'مرحبا 12 عالم', '[x]: <http://example.org> "t"', 'a&nbsp;b \u00a0 c\u200bd', '- [ ] open\n- [x] done', '   ', '', '\\*not bold\\*', '*a _b_ **c***',
  'Setext\n======', 'hard\\\nbreak', '![alt](pic.png)', '`` ` ``', '\ufeffmarked', 'a\u2028b\u2029c', 'tail \t ',
];
const FRONT = '---\ntitle: "Watch"\ntags: [a, b]\n---\n';
const ENDINGS = ['\r\n', '\n', 'mixed', '\r\n'];

const OWN = ['../../README.md', '../../STYLE.md', ...readdirSync(new URL('../../docs/guides', import.meta.url)).map((name) => `../../docs/guides/${name}`)]
  .filter((path) => path.endsWith('.md'))
  .map((path) => readFileSync(new URL(path, import.meta.url), 'utf8'));

function generated() {
  const pieces = Array.from({ length: 3 + chance(12) }, () => one(PIECES));
  return (chance(3) ? '' : FRONT) + pieces.join(one(['\n', '\n\n', '\n\n\n'])) + one(['', '\n', '\n\n']);
}

function textOf(index) {
  const text = index % 6 === 0 ? OWN[(index / 6) % OWN.length] : generated();
  const ending = ENDINGS[index % ENDINGS.length];
  if (ending === 'mixed') return text.replaceAll('\n', () => one(['\n', '\r\n', '\r\n', '\n\r\n']));
  return text.replaceAll('\n', ending);
}

const make = (kind, body) => call(server, `/api/${kind}`, { token: ada, body: { title: 'Watch list', body, visibility: 'team' } });
const read = async (kind, id) => (await call(server, `/api/${kind}/${id}`, { token: ada })).body;
const editor = (page, kind) => page.getByLabel(t(`${kind}.body`), { exact: true });
/** The text once it is stored: keys that are typed slowly are stored in several steps, and the page is gone by the last of them. */
const stored = (kind, id, is) => until(`${kind} ${id} is stored`, async () => { const body = await read(kind, id); return is(body) && body; });

async function open({ page, go }, kind, id) {
  await go(`/${kind}/${id}`);
  await editor(page, kind).focus();
  await page.keyboard.press('Control+Home');
}

/** Some lines down and some letters in, then a few keys, and on to elsewhere. */
async function editOnce(person, kind, id, down, along) {
  const { page } = person;
  await open(person, kind, id);
  for (let times = 0; times < down; times++) await page.keyboard.press('ArrowDown');
  for (let times = 0; times < along; times++) await page.keyboard.press('ArrowRight');
  await page.keyboard.type(MARK);
  await person.go('/trash');
}

describe('a text that is edited in one place', () => {
  it(`is the same everywhere else, in ${MANY} notes and documents`, async () => {
    const texts = Array.from({ length: MANY }, (_, index) => ({ text: textOf(index), kind: index % 2 ? 'notes' : 'documents', down: chance(6), along: chance(5) }));
    assert.ok(texts.filter(({ text }) => text.includes('\r\n')).length > MANY / 2);
    const waiting = texts.entries();
    const write = async () => {
      const person = await openPerson(browser, server, { token: ada });
      for (const [index, { text, kind, down, along }] of waiting) {
        const { id } = await make(kind, text);
        await editOnce(person, kind, id, down, along);
        const [before, after, ...more] = (await stored(kind, id, (body) => body.includes(MARK))).split(MARK);
        assert.equal(more.length, 0);
        assert.ok(before + after === text, `text ${index} of ${kind} is not what it was: ${JSON.stringify(text.slice(0, 300))}`);
      }
      await person.close();
    };
    await Promise.all(Array.from({ length: TABS }, write));
  });

  it('ends new and pasted lines as the others end', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    for (const [end, pasted] of [['\r\n', 'three\nfour'], ['\n', 'three\r\nfour']]) {
      const { id } = await make('notes', `one${end}two${end}`);
      await open(person, 'notes', id);
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      // A clipboard would change the line breaks to those of the machine that runs this.
      await editor(page, 'notes').evaluate((field, text) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData('text/plain', text);
        field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
      }, pasted);
      await person.go('/trash');

      assert.equal(await stored('notes', id, (body) => body.includes('four')), ['one', 'three', 'four', 'two', ''].join(end));
    }
    await person.close();
  });
});
