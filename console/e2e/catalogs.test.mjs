// Every word on any screen comes from the catalogs.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allScreensOf } from './screens.mjs';
import { furnished, peopleFor, visit } from './stage.mjs';
import { wordsOf } from './words.mjs';

const t = wordsOf('en');
const stage = furnished();

describe('every word comes from the catalogs', () => {
  it('on any screen', async () => {
    const wrapped = (key, values) => `⟦${t(key, values)}⟧`;
    const screens = allScreensOf(stage.team, wrapped);
    const people = await peopleFor(stage, screens, { wrap: true });
    const strangers = [];
    for (const screen of screens) {
      const person = people.for(screen);
      await visit(person, screen);
      strangers.push(...(await person.page.evaluate(foreignText)).map((text) => `${screen.name}: ${text}`));
    }
    assert.deepEqual(strangers, []);
    await people.close();
  });
});

/** Texts and spoken labels outside brackets, unless they are somebody's own words (data-raw). */
function foreignText() {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const owner = node.parentElement;
    if (!/\p{L}{2,}/u.test(node.data) || owner.closest('[data-raw], script, style')) continue;
    let whole = owner;
    while (whole && !/⟦[\s\S]*⟧/.test(whole.textContent) && whole.parentElement) whole = whole.parentElement;
    // A message with tags is split over nodes; its brackets are on an ancestor that holds little more than it.
    const before = document.createRange();
    before.setStart(whole, 0);
    before.setEnd(node, node.data.length);
    const text = before.toString();
    if (text.split('⟦').length - text.split('⟧').length < 1 && !node.data.includes('⟧')) found.push(node.data.trim().slice(0, 60));
  }
  for (const element of document.querySelectorAll('[aria-label], [placeholder], [title]')) {
    if (element.closest('[data-raw]')) continue;
    for (const name of ['aria-label', 'placeholder', 'title']) {
      const text = element.getAttribute(name);
      if (text && /\p{L}{2,}/u.test(text) && !text.includes('⟦') && !element.matches('[role=switch], pre')) found.push(`${name}: ${text.slice(0, 60)}`);
    }
  }
  return found;
}
