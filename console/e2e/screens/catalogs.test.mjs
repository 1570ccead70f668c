// Every word on any screen comes from the catalogs, seen by one run. With ATRIUM_WRITE_SCREENS=1 the catalogs then say on which screens each message stands.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allScreensOf } from '../screens.mjs';
import { foreignText, furnished, peopleFor, visit } from '../stage.mjs';
import { bracketedWords, makeWhere } from '../where.mjs';

const stage = furnished();

describe('every word comes from the catalogs', () => {
  it('on any screen', async () => {
    const where = makeWhere();
    const screens = allScreensOf(stage.team, bracketedWords('en'));
    const people = await peopleFor(stage, screens, { wrap: true });
    const strangers = [];
    for (const screen of screens) {
      const person = people.for(screen);
      await visit(person, screen);
      await where.see(person.page, screen);
      strangers.push(...(await person.page.evaluate(foreignText)).map((text) => `${screen.name}: ${text}`));
    }
    assert.deepEqual(strangers, []);
    assert.ok(where.count() > 1000, `only ${where.count()} messages were seen on a screen`);
    if (process.env.ATRIUM_WRITE_SCREENS) where.write();
    await people.close();
  });
});
