import { CLIENTS, type Client } from './clients';

const access = { endpoint: 'https://a.test', bucket: 'files', region: 'atrium', access_key_id: 'AKID', secret_access_key: 's3cret' };

test.each(Object.keys(CLIENTS) as Client[])('%s is told where, which bucket and which key', (client) => {
  const text = CLIENTS[client](access);

  for (const part of ['a.test', 'files', 'atrium', 'AKID', 's3cret']) expect(text).toContain(part);
});

test('s3cmd leaves TLS out where there is none', () => {
  expect(CLIENTS.s3cmd({ ...access, endpoint: 'http://127.0.0.1:9000' })).toContain('host_base = 127.0.0.1:9000\n');
  expect(CLIENTS.s3cmd({ ...access, endpoint: 'http://127.0.0.1:9000' })).toContain('use_https = False');
});
