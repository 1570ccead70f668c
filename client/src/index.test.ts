import { createClient, Refused } from './index';

/** What was sent, and what is answered. */
function server(answer: () => Response = () => Response.json({ id: 'n1', title: 'Harbour' })) {
  const heard: Request[] = [];
  const send = async (request: Request) => {
    heard.push(request);
    return answer();
  };
  return { heard, client: createClient({ address: 'https://atrium.test', token: 'secret', send }) };
}

test('a row is asked with its path, query, headers and body', async () => {
  const { heard, client } = server();
  const { data } = await client.PUT('/api/notes/{id}', {
    params: { path: { id: 'a/b' }, header: { 'If-Match': '"3"' } },
    body: { title: 'Harbour' },
  });
  await client.GET('/api/notes', { params: { query: { q: 'pier & quay', limit: 5 } } });

  expect(data.title).toBe('Harbour');
  expect(heard.map((one) => `${one.method} ${one.url}`)).toEqual([
    'PUT https://atrium.test/api/notes/a%2Fb',
    'GET https://atrium.test/api/notes?q=pier%20%26%20quay&limit=5',
  ]);
  expect(heard[0]!.headers.get('if-match')).toBe('"3"');
  expect(heard[0]!.headers.get('authorization')).toBe('Bearer secret');
  expect(heard[0]!.headers.get('content-type')).toBe('application/json');
  expect(await heard[0]!.json()).toEqual({ title: 'Harbour' });
  expect(heard[1]!.headers.has('content-type')).toBe(false);
});

test('what has no value is not sent', async () => {
  const { heard, client } = server();
  await client.GET('/api/notes', { params: { query: { q: undefined, limit: 5 } } });

  expect(heard[0]!.url).toBe('https://atrium.test/api/notes?limit=5');
});

test('a reply is its value, bytes, or nothing', async () => {
  const nothing = server(() => new Response(null, { status: 204 }));
  const bytes = server(() => new Response('{"not": "parsed"}', { headers: { 'content-type': 'application/json' } }));

  expect((await nothing.client.request('POST', '/api/x/plugin/do')).data).toBeUndefined();
  const { data } = await bytes.client.GET('/api/repo-obj/{id}/content', { params: { path: { id: 'o1' } }, as: 'blob' });
  expect(await data.text()).toBe('{"not": "parsed"}');
});

test('a refusal is thrown with its stable code', async () => {
  const problem = { code: 'notes.missing', title: 'No such note', detail: 'there is no such note' };
  const answer = () => Response.json(problem, { status: 404, headers: { 'x-request-id': 'r1' } });
  vi.stubGlobal('fetch', async () => answer());
  const call = createClient({ address: 'https://atrium.test' }).GET('/api/notes/{id}', { params: { path: { id: 'n1' } } });

  await expect(call).rejects.toMatchObject({ name: 'Refused', status: 404, code: 'notes.missing', detail: 'there is no such note', requestId: 'r1' });
  await expect(call).rejects.toBeInstanceOf(Refused);
  vi.unstubAllGlobals();
});
