// @vitest-environment node
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { isRefusal } from './refusal';
import { readEvents, type ServerEvent } from './stream';

type Turn = (response: ServerResponse, request: IncomingMessage) => void;

const open: ReturnType<typeof createServer>[] = [];
afterEach(() => Promise.all(open.splice(0).map((server) => new Promise((done) => (server.closeAllConnections(), server.close(done))))));

/** A real server that answers the first request by the first turn, and so on; the last turn answers all that follow. */
async function serve(...turns: Turn[]): Promise<{ address: string; asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    turns[Math.min(asked.length, turns.length) - 1]!(response, request);
  });
  open.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked };
}

const stream = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });
const says = (text: string): Turn => (response) => stream(response).end(text);
const over: Turn = (response) => response.writeHead(204).end();

async function all(address: string, options: Parameters<typeof readEvents>[1] = {}): Promise<ServerEvent[]> {
  const found: ServerEvent[] = [];
  for await (const event of readEvents(address, { pause: 1, ...options })) found.push(event);
  return found;
}

it('reads ids, types and data of several lines, and skips comments', async () => {
  const { address } = await serve(says(': hello\n\nid: 1\nevent: delta\ndata: one\ndata: two\n\ndata:three\r\n\r\n'), over);

  expect(await all(address)).toEqual([
    { id: '1', type: 'delta', data: 'one\ntwo' },
    { id: '1', type: 'message', data: 'three' },
  ]);
});

it('puts together what arrives in pieces, even inside a letter', async () => {
  const bytes = Buffer.from('data: Hafrún\r\n\r\n');
  const { address } = await serve((response) => {
    stream(response);
    [...bytes].forEach((byte, at) => setTimeout(() => (response.write(Buffer.of(byte)), at === bytes.length - 1 && response.end()), at));
  }, over);

  expect((await all(address)).map((event) => event.data)).toEqual(['Hafrún']);
});

it('goes on after the last whole event when the line breaks, and loses and repeats none', async () => {
  const { address, asked } = await serve(
    (response) => (
      stream(response).write('id: 1\ndata: a\n\nid: 2\ndata: b\n\nid: 3\ndata: half'),
      setTimeout(() => response.destroy(), 20)
    ),
    (response, request) => says(`id: 3\ndata: c after ${request.headers['last-event-id']}\n\n`)(response, request),
    over,
  );

  expect((await all(address)).map((event) => event.data)).toEqual(['a', 'b', 'c after 2']);
  expect(asked.map((request) => request.headers['last-event-id'])).toEqual([undefined, '2', '3']);
});

it('starts after the event it is given', async () => {
  const { address, asked } = await serve(over);

  await all(address, { after: '41' });

  expect(asked[0]!.headers['last-event-id']).toBe('41');
});

it('tries again while the server restarts, and throws what it refuses', async () => {
  const refused: Turn = (response) =>
    response.writeHead(403, { 'content-type': 'application/problem+json' }).end('{"code": "access.forbidden"}');
  const { address, asked } = await serve((response) => response.writeHead(503).end(), says('data: back\n\n'), refused);
  const found: string[] = [];

  const ended = (async () => {
    for await (const event of readEvents(address, { pause: 1 })) found.push(event.data);
  })();

  await expect(ended).rejects.toSatisfy((error) => isRefusal(error, 'access.forbidden'));
  expect([found, asked.length]).toEqual([['back'], 3]);
});

it('waits as long as the server asks for', async () => {
  const { address } = await serve(says('retry: 120\ndata: x\n\n'), over);
  const began = Date.now();

  await all(address);

  expect(Date.now() - began).toBeGreaterThanOrEqual(115);
});

it('stops when the caller does', async () => {
  const { address, asked } = await serve((response) => stream(response).write('data: first\n\n'));
  const control = new AbortController();

  for await (const event of readEvents(address, { signal: control.signal, pause: 1 })) {
    expect(event.data).toBe('first');
    control.abort();
  }

  expect(asked).toHaveLength(1);
});
