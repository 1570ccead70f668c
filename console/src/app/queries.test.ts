import { QueryObserver } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { makeQueries } from './queries';

/** Answers given when the test says so, each with what the server knew when it was asked. */
function server() {
  let teams = 1;
  const waiting: (() => void)[] = [];
  return {
    change: () => void (teams += 1),
    ask: () => { const known = teams; return new Promise<number>((answer) => waiting.push(() => answer(known))); },
    answerAll: async () => { while (waiting.length > 0) { waiting.shift()!(); await new Promise((later) => setTimeout(later)); } },
  };
}

it('asks again for what changed while it was loading for the first time', async () => {
  const queries = makeQueries();
  const { change, ask, answerAll } = server();
  const stop = new QueryObserver(queries, { queryKey: ['company'], queryFn: ask }).subscribe(() => undefined);

  change();
  const asked = queries.invalidateQueries({ queryKey: ['company'] });
  await new Promise((later) => setTimeout(later));
  await answerAll();
  await asked;

  expect(queries.getQueryData(['company'])).toBe(2);
  stop();
});

it('leaves alone what the change does not concern', async () => {
  const queries = makeQueries();
  const { ask, answerAll } = server();
  let asked = 0;
  const stop = new QueryObserver(queries, {
    queryKey: ['members'],
    queryFn: () => {
      asked += 1;
      return ask();
    },
  }).subscribe(() => undefined);

  await queries.invalidateQueries({ queryKey: ['company'] });
  await answerAll();

  expect([asked, queries.getQueryData(['members'])]).toEqual([1, 1]);
  stop();
});
