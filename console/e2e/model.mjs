// A model whose words a suite says itself, one by one.
import { createServer } from 'node:http';

const servers = new Set();

/** Answers questions by what `say` and `finish` are told; `hungUp` counts lines that the server closed. */
export async function openModel() {
  const lines = [];
  const waiting = [];
  const model = { asked: [], hungUp: 0, close: () => new Promise((done) => (server.closeAllConnections(), server.close(done))) };
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') return response.writeHead(404).end();
    let body = '';
    for await (const piece of request) body += piece;
    model.asked.push(JSON.parse(body));
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    const send = (chunk) => response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    const line = {
      say: (...words) => words.forEach((content) => send({ choices: [{ delta: { content } }] })),
      think: (...words) => words.forEach((reasoning_content) => send({ choices: [{ delta: { reasoning_content } }] })),
      finish: (tokens = 5) => {
        send({ choices: [{ delta: {}, finish_reason: 'stop' }] });
        send({ choices: [], usage: { prompt_tokens: 7, completion_tokens: tokens } });
        response.end('data: [DONE]\n\n');
      },
    };
    /** Ask for tools, each as [name, arguments], and end the answer with that. */
    line.call = (...calls) => {
      calls.forEach(([name, values], index) => send({ choices: [{ delta: { tool_calls: [{ index, id: `x${index}`, type: 'function', function: { name, arguments: JSON.stringify(values) } }] } }] }));
      send({ choices: [{ delta: {}, finish_reason: 'tool_calls' }] });
      send({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 5 } });
      response.end('data: [DONE]\n\n');
    };
    line.die = () => request.socket.destroy();
    response.on('close', () => { if (!response.writableFinished) model.hungUp++; });
    const next = waiting.shift();
    if (next) next(line);
    else lines.push(line);
  });
  /** The next question that comes. */
  model.line = () => (lines.length ? Promise.resolve(lines.shift()) : new Promise((resolve) => waiting.push(resolve)));
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  model.url = `http://127.0.0.1:${server.address().port}/v1`;
  servers.add(model);
  return model;
}

export const closeModels = () => Promise.all([...servers].map((model) => model.close()));
