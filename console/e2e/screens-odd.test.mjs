// Every screen: readable by everybody, at every width. The second of two files, so that two cores share them.
import { describe, it } from 'node:test';
import { allScreensOf } from './screens.mjs';
import { furnished, inspect, peopleFor } from './stage.mjs';
import { wordsOf } from './words.mjs';

const stage = furnished();

describe('axe finds nothing, and the layout holds', () => {
  it('on every other screen from the second, light and dark, from 320 to 2560 px', async (run) => {
    const screens = allScreensOf(stage.team, wordsOf('en')).filter((_, place) => place % 2 === 1);
    const people = await peopleFor(stage, screens);
    for (const screen of screens) await run.test(screen.name, () => inspect(people.for(screen), screen));
    await people.close();
  });
});
