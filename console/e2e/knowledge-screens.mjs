// The screens of the knowledge graph, and a team whose documents a model has read.
import { closeModels, openModel } from './model.mjs';
import { call, put, until } from './world.mjs';
import { ended } from './workflow-screens.mjs';

const TEXTS = {
  'harbour/handover.txt': 'Captain Ingvar Bergsson sails the Hafrún to Rotterdam. Northwind Freight owns the Hafrún. The pilot comes aboard at six.',
  'harbour/winter.txt': 'In winter Ingvar Bergsson lives in Akureyri. Northwind Freight employs Ingvar Bergsson. The Freighter Hafrún is repaired in Bilbao.',
  'harbour/rates.txt': 'Cargo on the Hafrún is cheaper. Northwind Freight trades with Bloemenveiling Aalsmeer in Rotterdam.',
};
const ENTITIES = { person: ['Ingvar Bergsson'], organisation: ['Northwind Freight', 'Bloemenveiling Aalsmeer'], product: ['Freighter Hafrún', 'Hafrún'], place: ['Rotterdam', 'Akureyri', 'Bilbao'] };
const RELATIONS = [
  ['Ingvar Bergsson', 'sails', 'Hafrún'],
  ['Hafrún', 'sails_to', 'Rotterdam'],
  ['Northwind Freight', 'owns', 'Hafrún'],
  ['Ingvar Bergsson', 'lives_in', 'Akureyri'],
  ['Northwind Freight', 'employs', 'Ingvar Bergsson'],
  ['Freighter Hafrún', 'repaired_in', 'Bilbao'],
  ['Northwind Freight', 'trades_with', 'Bloemenveiling Aalsmeer'],
];

/** What a truthful model says about one of these texts: each name once in every sentence, and relations within a sentence. */
export function factsIn(text) {
  const entities = [];
  const relations = [];
  for (const quote of text.match(/[^.]+\./g)?.map((one) => one.trim()) ?? []) {
    const ids = new Map();
    let rest = quote;
    for (const [kind, names] of Object.entries(ENTITIES)) {
      for (const name of names.filter((one) => rest.includes(one))) {
        // A shorter name inside a longer one is not named by itself.
        rest = rest.replaceAll(name, '');
        ids.set(name, `e${entities.length}`);
        entities.push({ id: ids.get(name), kind, name, quote });
      }
    }
    for (const [from, kind, to] of RELATIONS) if (ids.has(from) && ids.has(to)) relations.push({ from: ids.get(from), kind, to: ids.get(to), quote });
  }
  return { entities, relations };
}

/** A model that answers every question with what the document says, until it is closed. */
export async function openReader() {
  const model = await openModel();
  const answer = async () => {
    for (let turn = 0; ; turn++) {
      const line = await model.line();
      const { document } = JSON.parse(model.asked[turn].messages.at(-1).content);
      line.say(JSON.stringify(factsIn(document)));
      line.finish();
    }
  };
  void answer();
  return model;
}

export const find = async (server, token, name) => (await call(server, `/api/kg/entities?q=${encodeURIComponent(name)}`, { token })).items.find((one) => one.name === name);

/** Documents that are read, one that is not, and a merge. A worker and a model are there only meanwhile. */
export async function learn(server, ada) {
  const model = await openReader();
  await server.say(`restart SERVICE_EMBED_WORKER=1 SERVICE_LOCAL_MODEL_URL=${model.url} SERVICE_LOCAL_MODEL=reader`);
  for (const [key, text] of Object.entries(TEXTS)) await put(server, ada, key, text, 'text/plain', '?visibility=team');
  await ended(server, ada, (await call(server, '/api/kg/extract', { token: ada, method: 'POST' })).id);
  const [ship, same] = [await find(server, ada, 'Hafrún'), await find(server, ada, 'Freighter Hafrún')];
  const merge = await call(server, '/api/jobs', { token: ada, body: { kind: 'knowledge.merge', input: { keep: ship.id, drop: same.id } } });
  await until('the merge succeeds', async () => (await call(server, `/api/jobs/${merge.id}`, { token: ada })).state === 'succeeded');
  const captain = await find(server, ada, 'Ingvar Bergsson');
  await put(server, ada, 'harbour/new-crane.txt', 'The Liebherr arrives in March.', 'text/plain', '?visibility=team');
  await server.say('restart SERVICE_EMBED_WORKER=0 SERVICE_LOCAL_MODEL_URL= SERVICE_LOCAL_MODEL=');
  await closeModels();
  return { ship: ship.id, captain: captain.id };
}

export const knowledgeScreensOf = ({ knowledge, people, femke }, t) => [
  { name: 'knowledge', path: '/knowledge', act: async (page) => { await page.getByTestId('entity').first().waitFor(); await page.getByTestId('unread').first().waitFor(); } },
  { name: 'knowledge-none', path: '/knowledge', token: femke, act: (page) => page.getByText(t('knowledge.none_title')).waitFor() },
  { name: 'knowledge-no-match', path: '/knowledge?q=zeppelin&type=event', act: (page) => page.getByText(t('knowledge.no_match_title')).waitFor() },
  { name: 'knowledge-viewer', path: '/knowledge', token: people[4].token, act: (page) => page.getByTestId('entity').first().waitFor() },
  { name: 'entity', path: `/knowledge/${knowledge.ship}`, act: (page) => page.getByTestId('neighbour').first().waitFor() },
  { name: 'entity-list', path: `/knowledge/${knowledge.captain}?view=list`, act: (page) => page.getByTestId('relation').first().waitFor() },
  { name: 'entity-merge', path: `/knowledge/${knowledge.captain}`, act: async (page) => { await page.getByRole('button', { name: t('knowledge.merge') }).click(); await page.getByRole('dialog').getByText('Akureyri').waitFor(); } },
  { name: 'entity-preview', path: `/knowledge/${knowledge.captain}`, act: async (page) => { await page.getByRole('button', { name: t('knowledge.merge') }).click(); await page.getByRole('dialog').getByText('Akureyri').click(); await page.getByTestId('preview').waitFor(); } },
  { name: 'entity-missing', path: '/knowledge/0197a0b0-0000-7000-8000-000000000000', act: (page) => page.getByText(t('knowledge.missing_body')).waitFor() },
];
