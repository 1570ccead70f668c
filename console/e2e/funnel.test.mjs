// The sign-up form on pages of others, in its sandbox and on plain http; and texts that would like to be scripts.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { solveChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { examine } from './axe.mjs';
import { call, closeAll, found, openBrowser, openServer, patient, PATIENCE } from './world.mjs';

// Names that a browser does not trust like its own machine, so that pages there have no `crypto.subtle`.
const FLAGS = ['--host-resolver-rules=MAP us.example 127.0.0.1, MAP them.example 127.0.0.1'];
const CODES = ['<script>canary()</script>', '<img src=x onerror=canary()>', '<svg onload=canary()>', '</title><script>canary()//', '" onfocus="canary()" autofocus="', "' onclick='canary()", '</script><script>canary()</script>', '</textarea><script>canary()</script>', '--><script>canary()</script>', '<iframe srcdoc="<script>parent.canary()</script>">'];
const WRAPS = ['{}', 'x{}', '{}y', '\u202e{}', '&lt;{}', '"{}"', "'{}'", '</h1>{}', '{{copy.title}}{}', '\n{}'];
const VECTORS = CODES.flatMap((code) => WRAPS.map((wrap) => wrap.replace('{}', () => code)));
const CANARY = 'window.ran = 0; window.canary = () => { window.ran += 1; };';

const FIELDS = [
  { name: 'email', type: 'email', label: 'E-mail', required: true },
  { name: 'why', type: 'textarea', label: 'Why?', help: 'A sentence will do' },
  { name: 'size', type: 'select', label: 'How many are you?', options: ['1', 'more'] },
  // A form's elements hide its own properties of the same names.
  { name: 'matches', type: 'text', label: 'Matches' },
  { name: 'dataset', type: 'text', label: 'Data set' },
  { name: 'hidden', type: 'text', label: 'Hidden' },
];
const FORM = `<form data-beta data-beta-working="One moment"><label>E-mail <input name="email" type="email"></label><input name="hp" hidden>
  <label>Why? <textarea name="why"></textarea></label><input name="matches" aria-label="m"><input name="dataset" aria-label="d"><input name="hidden" aria-label="h">
  <button name="go" value="1">Send</button><p data-beta-status role="status"></p></form><p data-beta-thanks hidden>Thank you</p>`;
const strict = (us) => `default-src 'none'; script-src ${us}; connect-src ${us}; require-trusted-types-for 'script'`;

let browser, server, ada, them;
before(async () => {
  [browser, server, them] = await Promise.all([openBrowser(FLAGS), openServer({ SERVICE_BETA_PROOF_TRIES: '40', SERVICE_BETA_PROOF_COST: '100', SERVICE_RATE_CHALLENGES: '100000' }), openForeign()]);
  ada = await found(server);
  await publish();
});
after(async () => {
  them.close();
  await closeAll();
});

/** A server of somebody else, whose pages are what a test says. */
async function openForeign() {
  const pages = new Map();
  const foreign = createServer((request, reply) => {
    const { body = '', policy } = pages.get(request.url) ?? {};
    reply.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...(policy ? { 'content-security-policy': policy } : {}) });
    reply.end(body);
  });
  await new Promise((resolve) => foreign.listen(0, '127.0.0.1', resolve));
  const { port } = foreign.address();
  return { port, address: `http://127.0.0.1:${port}`, show: (path, body, policy) => pages.set(path, { body: `<!doctype html><html lang="en"><title>Theirs</title><body>${body}`, policy }), close: () => foreign.close() };
}

async function publish(changes = {}) {
  const experience = { fields: FIELDS, copy: { title: 'Be among the first', thanks: 'Thank you' }, ...changes };
  await call(server, '/api/beta/experience', { token: ada, method: 'PUT', body: { experience } });
  await call(server, '/api/beta/experience/publish', { token: ada, body: {} });
}

const emails = async () => (await call(server, '/api/beta/prospects?limit=200', { token: ada })).items.map((one) => one.fields.email);
const at = (host) => `http://${host}:${new URL(server.address).port}`;

async function fill(frame, email) {
  await frame.getByLabel('E-mail').fill(email);
  await frame.getByLabel('E-mail').press('Enter');
  await frame.getByText('Thank you').waitFor();
}

/** What a screen reader is told of a page: each named part with its role, its description and whether it is wrong. */
async function heard(page) {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  const fact = (node, name) => node.properties?.find((one) => one.name === name)?.value.value;
  return nodes.filter((node) => !node.ignored && node.name?.value).map((node) => ({
    role: node.role.value, name: node.name.value, description: node.description?.value ?? '', required: fact(node, 'required') ?? false, invalid: fact(node, 'invalid') === 'true',
  }));
}

/** A page, and what its policy, its scripts and its frames complained about when it is left. */
async function visit(path, work, options = {}) {
  const context = patient(await browser.newContext({ locale: 'en', ...options }));
  const page = await context.newPage();
  const complaints = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.addInitScript(`window.complaints = []; ${CANARY} document.addEventListener('securitypolicyviolation', (event) => complaints.push(event.effectiveDirective + ' ' + event.blockedURI));`);
  try {
    await page.goto(path);
    await work(page);
    for (const frame of page.frames()) complaints.push(...(await frame.evaluate(() => window.complaints ?? [])));
  } finally {
    await context.close();
  }
  return complaints;
}

describe('a page of somebody else', () => {
  it('signs people up under the strictest policy, without one violation', async () => {
    them.show('/strict', `${FORM}<script src="${server.address}/beta-sdk.js"></script>`, strict(server.address));
    const complaints = await visit(`${them.address}/strict`, async (page) => {
      await fill(page, 'strict@example.com');
      const called = await page.evaluate(async () => {
        const { config, challenge, signup } = window.Service.beta;
        await challenge();
        return [(await config('es')).version, await signup({ email: 'called@example.com' })];
      });
      assert.deepEqual(called[1], { status: 'received' });
    });
    assert.deepEqual(complaints, []);
    const kept = await emails();
    assert.ok(kept.includes('strict@example.com') && kept.includes('called@example.com'), String(kept));
  });

  it('is refused under a policy that names somebody else, and that is noticed', async () => {
    them.show('/other', `${FORM}<script src="${server.address}/beta-sdk.js"></script>`, strict('https://elsewhere.example'));
    const complaints = await visit(`${them.address}/other`, (page) => page.waitForFunction(() => window.complaints.length));
    assert.ok(complaints.some((text) => text.startsWith('script-src')), String(complaints));
  });

  it('signs people up on plain http, where there is no crypto.subtle', async () => {
    const us = at('us.example');
    them.show('/plain', `${FORM}<script src="${us}/beta-sdk.js"></script>`, strict(us));
    const complaints = await visit(`http://them.example:${them.port}/plain`, async (page) => {
      assert.equal(await page.evaluate(() => typeof crypto.subtle), 'undefined');
      await fill(page, 'plain@example.com');
    });
    assert.deepEqual(complaints, []);
    assert.ok((await emails()).includes('plain@example.com'));
  });

  for (const host of ['us.example', '127.0.0.1']) {
    it(`takes what is typed while a proof is worked out that never ends, at ${host}`, async () => {
      const us = at(host);
      them.show('/endless', `${FORM}<script src="${us}/beta-sdk.js"></script>`, strict(us));
      const complaints = await visit(`http://${host.replace('us', 'them')}:${them.port}/endless`, async (page) => {
        await page.route('**/api/beta/challenge', async (route) => {
          const reply = await route.fetch({ url: `${server.address}/api/beta/challenge`, timeout: PATIENCE });
          const { parameters, signature } = await reply.json();
          await route.fulfill({ response: reply, json: { parameters: { ...parameters, keyPrefix: 'f'.repeat(32) }, signature } });
        });
        await Promise.all([page.waitForResponse('**/api/beta/challenge'), page.getByLabel('E-mail').focus()]);
        await page.keyboard.type('typed@example.com');
        await page.getByLabel('E-mail').press('Enter');
        await page.getByRole('status').getByText('One moment').waitFor();
        await page.getByLabel('Why?').fill('To wait.');
        assert.equal(await page.getByLabel('E-mail').inputValue(), 'typed@example.com');
      });
      assert.deepEqual(complaints, []);
    });
  }

  it('says in words what was refused, keeps what was typed, and starts over with the same proof', async () => {
    them.show('/wrong', `${FORM.replace('type="email"', '')}<script src="${server.address}/beta-sdk.js"></script>`, strict(server.address));
    const complaints = await visit(`${them.address}/wrong`, async (page) => {
      await page.getByLabel('E-mail').fill('no address');
      await page.getByLabel('E-mail').press('Enter');
      await page.getByText('must be an e-mail address').waitFor();
      assert.equal(await page.getByLabel('E-mail').inputValue(), 'no address');
      await fill(page, 'right@example.com');
    });
    assert.deepEqual(complaints.filter((text) => !text.includes('400')), []);
  });
});

describe('the template', () => {
  const template = `<!doctype html><html lang="en"><title>{{copy.title}}</title><body><main><h1>{{copy.title}}</h1>${FORM}</main><script src="/beta-sdk.js"></script></body></html>`;

  it('signs people up from its sandbox, in a frame of somebody else too, and reaches nothing of ours', async () => {
    await publish({ template, embed_origins: [them.address] });
    them.show('/frame', `<iframe src="${server.address}/beta/template" title="form"></iframe>`, `default-src 'none'; frame-src ${server.address}`);
    const complaints = await visit(`${them.address}/frame`, async (page) => {
      await page.context().addCookies([{ name: 'theirs', value: 'secret', url: server.address }]);
      await page.evaluate(() => addEventListener('message', ({ data }) => { window.heard ??= data; }));
      const [, frame] = page.frames();
      await fill(frame, 'framed@example.com');
      const seen = await frame.evaluate(async () => {
        const tried = (work) => { try { return String(work()); } catch (error) { return error.name; } };
        const asked = (path, init) => fetch(path, init).then((reply) => reply.type, (error) => error.name);
        return {
          origin: self.origin, storage: tried(() => localStorage.length), session: tried(() => sessionStorage.length), cookie: tried(() => document.cookie),
          parent: tried(() => parent.document), who: await asked('/api/whoami', { credentials: 'include' }), board: await asked('/api/beta/prospects'), ready: await asked('/ready'),
        };
      });
      assert.deepEqual(seen, { origin: 'null', storage: 'SecurityError', session: 'SecurityError', cookie: 'SecurityError', parent: 'SecurityError', who: 'TypeError', board: 'TypeError', ready: 'TypeError' });
      // Neither side listens to the other: what is said into the frame changes nothing, and the form says nothing to the page around it.
      const before = await frame.content();
      await frame.evaluate(() => addEventListener('message', ({ data }) => { if (data === 'the last') parent.postMessage('the only answer', '*'); }));
      await page.evaluate(() => { for (const message of [{ type: 'signup' }, 'config', { fields: { email: 'x@example.com' } }, 'the last']) frames[0].postMessage(message, '*'); });
      await page.waitForFunction(() => window.heard);
      assert.equal(await page.evaluate(() => window.heard), 'the only answer');
      assert.equal(await frame.content(), before);
    });
    assert.deepEqual(complaints.filter((text) => !/CORS|Failed to load|net::ERR/.test(text)), []);
    assert.ok((await emails()).includes('framed@example.com'));
  });

  it('is not framed by pages that were not named', async () => {
    await publish({ template, embed_origins: ['https://elsewhere.example'] });
    let shown;
    await visit(`${them.address}/frame`, async (page) => { shown = await page.frames()[1].getByLabel('E-mail').count(); });
    assert.equal(shown, 0);
  });

  it('shows a hundred texts that would like to be scripts, and none runs, even where no policy holds it back', async () => {
    const copy = { title: VECTORS[0], ...Object.fromEntries(VECTORS.map((text, number) => [`v${number}`, text])) };
    const marks = VECTORS.map((_, number) => `<p title="{{copy.v${number}}}" data-x='{{copy.v${number}}}'>{{copy.v${number}}}</p><textarea aria-label="x">{{copy.v${number}}}</textarea>`);
    await publish({ copy, template: `<!doctype html><html lang="en"><title>{{copy.v30}}</title><body>${marks.join('')}</body></html>` });
    for (const bypassCSP of [false, true]) {
      await visit(`${server.address}/beta/template`, async (page) => {
        assert.equal(await page.locator('p').nth(5).innerText(), VECTORS[5].trim());
        assert.equal(await page.evaluate(() => window.ran), 0);
      }, { bypassCSP });
    }
    them.show('/live', VECTORS.map((text) => `<p title="${text}">${text}</p>`).join(''));
    await visit(`${them.address}/live`, async (page) => {
      await page.waitForFunction(() => window.ran > 20);
    });
  });
});

describe('the form at our own address', () => {
  const dangerous = () => ({
    fields: [FIELDS[0], ...VECTORS.slice(0, 25).map((text, number) => ({ name: `f${number}`, type: ['text', 'textarea', 'checkbox', 'select'][number % 4], label: text, help: VECTORS[number + 25], ...(number % 4 === 3 ? { options: [VECTORS[number + 50], 'other'] } : {}) }))],
    copy: { title: VECTORS[76], intro: VECTORS[77], submit: VECTORS[78], thanks: VECTORS[79], thanks_more: VECTORS[80] },
  });

  before(() => server.say('restart SERVICE_HOME=beta'));

  it('runs none of them either, and receives people', async () => {
    await publish(dangerous());
    for (const bypassCSP of [false, true]) {
      const complaints = await visit(`${server.address}/`, async (page) => {
        await page.getByLabel('E-mail').fill(`page${bypassCSP}@example.com`);
        await page.getByLabel('E-mail').press('Enter');
        await page.locator('section h1').waitFor();
        assert.equal(await page.locator('section h1').innerText(), VECTORS[79].trim());
        assert.equal(await page.evaluate(() => window.ran), 0);
      }, { bypassCSP });
      assert.deepEqual(complaints, []);
    }
  });

  it('begins the proof with the first field that is entered, and tells a screen reader what it wants, what is wrong and what it waits for', async () => {
    await publish();
    const complaints = await visit(`${server.address}/`, async (page) => {
      const email = page.getByLabel('E-mail');
      const asked = [];
      page.on('request', (request) => new URL(request.url()).pathname === '/api/beta/challenge' && asked.push(request.url()));
      let goOn;
      const held = new Promise((resolve) => { goOn = resolve; });
      await page.route('**/api/beta/signup', async (route) => {
        await held;
        await route.continue();
      });
      await email.waitFor();
      await page.waitForLoadState('networkidle');
      const empty = await heard(page);
      assert.equal(asked.length, 0);
      assert.ok(empty.some(({ role, name }) => role === 'heading' && name === 'Be among the first'));
      assert.deepEqual(empty.find(({ role, name }) => role === 'textbox' && name === 'E-mail'), { role: 'textbox', name: 'E-mail', description: '', required: true, invalid: false });
      assert.equal(empty.find(({ role, name }) => role === 'textbox' && name === 'Why? (optional)').description, 'A sentence will do');
      assert.ok(!empty.some(({ name }) => name === 'Leave this empty'));

      const begun = page.waitForRequest('**/api/beta/challenge');
      await email.focus();
      await begun;
      await email.press('Enter');
      const wrong = (await heard(page)).find(({ role, name }) => role === 'textbox' && name === 'E-mail');
      assert.deepEqual([wrong.invalid, wrong.description.length > 0], [true, true]);
      assert.equal(await page.evaluate(() => document.activeElement.name), 'email');

      await email.fill('heard@example.com');
      await email.press('Enter');
      await page.getByRole('status').filter({ hasText: 'a small puzzle' }).waitFor();
      goOn();
      await page.getByRole('heading', { name: 'Thank you' }).waitFor();
      assert.equal(asked.length, 1);
    });
    assert.deepEqual(complaints, []);
  });

  it('is filled in by keyboard alone, keeps what was typed over a reload, and passes axe on a phone in both modes', async () => {
    await publish();
    for (const colorScheme of ['light', 'dark']) {
      const complaints = await visit(`${server.address}/`, async (page) => {
        await examine(page, `funnel ${colorScheme}`);
        await page.keyboard.press('Tab');
        await page.keyboard.type(`keys-${colorScheme}@example.com`);
        await page.keyboard.press('Tab');
        await page.keyboard.type('Because.');
        await page.reload();
        assert.equal(await page.getByLabel('Why?').inputValue(), 'Because.');
        await page.getByLabel('Why?').focus();
        for (const key of ['Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Enter']) await page.keyboard.press(key);
        await page.getByRole('heading', { name: 'Thank you' }).waitFor();
        assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Thank you');
        await examine(page, `thanks ${colorScheme}`);
      }, { colorScheme, viewport: { width: 320, height: 640 } });
      assert.deepEqual(complaints, []);
    }
  });
});

describe('a proof', () => {
  it('is solved by ALTCHA’s own JavaScript client as it is', async () => {
    const challenge = await call(server, '/api/beta/challenge');
    const solution = await solveChallenge({ challenge, deriveKey });
    const proof = Buffer.from(JSON.stringify({ challenge, solution })).toString('base64');
    assert.deepEqual(await call(server, '/api/beta/signup', { body: { fields: { email: 'altcha@example.com' }, proof } }), { status: 'received' });
  });
});
