// llama.cpp's own server behind a line that writes down what was asked and what was said, so that a page can be compared with it.
import { spawn } from 'node:child_process';
import { createServer, request as send } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const open = new Set();

/** `small` speaks; `tiny` calls the tools it is given. Each of `asked` has the question (`body`), what was `said`, and whether the line was `cut`. */
export async function openLlama(name) {
  const child = spawn(process.env.PYTHON ?? at('../../.venv/bin/python'), [at('llama.py'), name], { stdio: ['pipe', 'pipe', 'inherit'] });
  const { value: line, done } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  if (done) throw new Error('llama.cpp did not start');
  const [address, key, model] = line.split(' ');
  const asked = [];
  let passing = Promise.resolve();
  const server = createServer((near, reply) => void passing.then(() => passOn(new URL(address), near, reply, asked)).catch(() => reply.destroy()));
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  const url = `http://127.0.0.1:${server.address().port}/v1`;
  const llama = {
    asked,
    url,
    key,
    model,
    /** What a server of ours is started with to use it. */
    settings: { SERVICE_LOCAL_MODEL_URL: url, SERVICE_LOCAL_MODEL_KEY: key, SERVICE_LOCAL_MODEL_USAGE_PIECES: '1' },
    /** Questions wait from here on, until `go`. */
    pause() { passing = new Promise((resolve) => { llama.go = resolve; }); },
    async busy() {
      const metrics = await fetch(address.replace('/v1', '/metrics'), { headers: { authorization: `Bearer ${key}` } });
      return !(await metrics.text()).includes('llamacpp:requests_processing 0');
    },
    async close() {
      open.delete(llama);
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      if (child.exitCode === null) await new Promise((ended) => { child.once('exit', ended); child.stdin.end(); });
    },
  };
  open.add(llama);
  return llama;
}

export const closeLlamas = () => Promise.all([...open].map((llama) => llama.close()));

async function passOn(address, near, reply, asked) {
  let body = '';
  for await (const piece of near) body += piece;
  const one = body ? { body: JSON.parse(body), said: '', cut: false } : null;
  if (one) asked.push(one);
  const far = send({ host: address.hostname, port: address.port, path: near.url, method: near.method, headers: near.headers }, (answer) => {
    reply.writeHead(answer.statusCode, answer.headers);
    const hear = listener(one);
    answer.on('data', (chunk) => { hear(chunk); reply.write(chunk); }).on('end', () => reply.end()).on('error', () => reply.destroy());
  });
  far.on('error', () => reply.destroy());
  reply.on('close', () => {
    if (one && !reply.writableFinished) one.cut = true;
    far.destroy();
  });
  far.end(body);
}

/** Takes the words out of the events that pass. */
function listener(one) {
  let rest = '';
  const decoder = new TextDecoder();
  return (chunk) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop();
    for (const line of lines) if (one && line.startsWith('data: {')) one.said += JSON.parse(line.slice(6)).choices?.[0]?.delta?.content ?? '';
  };
}
