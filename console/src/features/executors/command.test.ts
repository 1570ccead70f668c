import { commandFor, SAMPLE_KIND } from './command';

const place = { url: 'https://a.test', token: 'atw_1', kinds: [] as string[], model: null };

test('without kinds the demo’s own is served, with a result it takes', () => {
  expect(commandFor(place)).toContain(`ATRIUM_TOKEN=atw_1 atrium-worker --url https://a.test \\\n  --kind ${SAMPLE_KIND}=jobs:run`);
  expect(commandFor(place)).toContain('"shipments": 3');
});

test('every kind and the model are named, and nothing breaks out of its quotes', () => {
  const command = commandFor({ ...place, kinds: ['x.a.b', 'x.c.d'], model: "it's; rm -rf" });

  expect(command).toContain('--kind x.a.b=jobs:run');
  expect(command).toContain('--kind x.c.d=jobs:run');
  expect(command).toContain(String.raw`--model 'it'\''s; rm -rf'`);
});
