import { asCurl, callsOf, noteCall, screenNow } from './calls';

test('a call becomes a command that reads its token from the shell', () => {
  const command = asCurl(
    { method: 'PUT', path: '/api/notes/1', body: '{"title":"it\'s"}', ifMatch: '"3"', public: false },
    'https://a.test',
  );

  expect(command).toBe(
    `curl -X PUT 'https://a.test/api/notes/1' \\\n  -H "Authorization: Bearer $ATRIUM_TOKEN" \\\n  -H 'If-Match: "3"' \\\n  -H 'Content-Type: application/json' \\\n  -d '{"title":"it'\\''s"}'`,
  );
});

test('passwords and codes never enter the list', async () => {
  await noteCall(
    new Request('http://a.test/api/login', {
      method: 'POST',
      body: JSON.stringify({ username: 'ada', password: 'hunter2', code: '123456' }),
    }),
  );

  const [call] = callsOf(screenNow());
  expect(call?.body).toBe('{"username":"ada","password":"…","code":"…"}');
});
