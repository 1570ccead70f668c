// How the console behaves: keys, ended sessions, refusals, deep links.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { call, closeAll, confirm, found, join, openBrowser, openPerson, openServer, PASSWORD } from './world.mjs';
import { wordsOf } from './words.mjs';

const t = wordsOf('en');
let browser, server, ada;
before(async () => {
  [browser, server] = await Promise.all([openBrowser(), openServer()]);
  ada = await found(server);
});
after(closeAll);

const makeNote = (title, body = 'text') => call(server, '/api/notes', { token: ada, body: { title, body, visibility: 'team' } });
const person = (options) => openPerson(browser, server, { token: ada, ...options });

describe('the palette', () => {
  it('loses no keystroke while it opens', async () => {
    const { page, go, close } = await person();
    await go('/');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('audit');
    assert.equal(await page.getByRole('combobox').inputValue(), 'audit');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/settings\/audit/);
    await close();
  });

  it('finds notes by what they say, and gives focus back on Escape', async () => {
    await makeNote('Ballast log', 'ballast water report');
    const { page, go, close } = await person();
    await go('/');
    await page.keyboard.press('/');
    await page.keyboard.type('ballast wat');
    await page.getByRole('option', { name: 'Ballast log' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: t('app.search') }).first().click();
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => document.activeElement?.tagName === 'BUTTON');
    await close();
  });
});

describe('notes', () => {
  it('filters as one types, and the address carries the search', async () => {
    await makeNote('Anchor chain');
    await makeNote('Bunker prices');
    const { page, go, close } = await person();
    await go('/notes');
    await page.getByLabel(t('notes.search')).fill('bunker');
    await page.waitForURL(/q=bunker/);
    await page.locator('[data-row]', { hasText: 'Anchor chain' }).waitFor({ state: 'detached' });
    assert.equal(await page.locator('[data-row]').count(), 1);
    await page.reload();
    await page.locator('[data-row]', { hasText: 'Bunker prices' }).waitFor();
    assert.equal(await page.getByLabel(t('notes.search')).inputValue(), 'bunker');
    await close();
  });

  it('renders Markdown without letting it in', async () => {
    const note = await makeNote('Hostile', '<script>window.__errors.push("ran")</script>\n\n[x](javascript:alert(1)) <img src=x onerror="window.__errors.push(1)"> **bold** [fine](https://example.org)');
    const { page, go, close } = await person();
    await go(`/notes/${note.id}`);
    await page.getByRole('button', { name: t('notes.preview') }).click();
    await page.locator('.prose strong', { hasText: 'bold' }).waitFor();
    assert.equal(await page.locator('.prose script, .prose img').count(), 0);
    assert.deepEqual(await page.locator('.prose a').evaluateAll((links) => links.map((link) => link.getAttribute('href'))), ['https://example.org']);
    await close();
  });
});

describe('sessions', () => {
  it('returns to where one was after the session ended', async () => {
    const { page, context, go, close } = await openPerson(browser, server);
    await page.goto(server.address);
    await page.evaluate(() => localStorage.setItem('atrium.signed_in', 'a while ago'));
    assert.deepEqual(await context.cookies(), []);
    await page.goto('about:blank');
    await page.goto(`${server.address}/#/settings/tokens`);
    await page.getByText(t('signin.ended')).waitFor();
    await page.getByLabel(t('signin.username')).fill('ada');
    await page.getByLabel(t('signin.password'), { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: t('nav.tokens') }).waitFor();
    await go('/');
    await close();
  });

  it('says in words what was wrong, with the request’s id', async () => {
    const { page, close } = await openPerson(browser, server);
    await page.goto(`${server.address}/login`);
    await page.getByLabel(t('signin.username')).fill('ada');
    await page.getByLabel(t('signin.password'), { exact: true }).fill('wrong wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText(t('errors.identity_bad_credentials')).waitFor();
    assert.match(await page.getByRole('alert').innerText(), /Request \S{6,}/);
    await close();
  });

  it('shows first run only once', async () => {
    const { page, close } = await openPerson(browser, server);
    await page.goto(server.address);
    await page.getByRole('heading', { name: t('signin.title') }).waitFor();
    await close();
  });

  it('takes the token of an activation link out of the address', async () => {
    const { page, close } = await openPerson(browser, server);
    await page.goto(`${server.address}/activate#ata_secret`);
    await page.getByRole('heading', { name: t('signin.activate_title') }).waitFor();
    assert.ok(!page.url().includes('ata_secret'));
    await close();
  });
});

describe('what a role reaches', () => {
  it('hides pages from the navigation and explains a direct address', async () => {
    const member = await join(server, ada, 'linus', 'Linus Berg');
    const { page, go, close } = await openPerson(browser, server, { token: member.token });
    await go('/settings');
    await page.getByRole('main').getByRole('link', { name: t('nav.s3_keys') }).waitFor();
    assert.equal(await page.getByRole('link', { name: t('nav.tokens') }).count(), 0);
    await go('/settings/tokens');
    await page.getByText(t('app.forbidden_body', { permission: 'settings:manage' })).waitFor();
    await close();
  });

  it('shows a suspended company a banner, and no way to write', async () => {
    const { page, go, close } = await person();
    await server.say('suspend');
    try {
      await go('/notes');
      await page.getByText(t('app.read_only')).waitFor();
      assert.equal(await page.getByRole('link', { name: t('notes.new_short'), exact: true }).count(), 0);
    } finally {
      await server.say('resume');
    }
    await close();
  });

  it('shows a new token once', async () => {
    const { page, go, close } = await person();
    await go('/settings/tokens/new');
    await page.getByLabel(t('tokens.name')).fill('nightly backup');
    await page.getByLabel(t('tokens.life')).selectOption('never');
    await page.getByText(t('tokens.never_warning')).waitFor();
    await confirm(page);
    await page.getByRole('button', { name: t('tokens.create') }).click();
    const secret = await page.getByTestId('secret').first().innerText();
    assert.equal((await call(server, '/api/whoami', { token: secret })).user.username, 'ada');
    await page.getByRole('button', { name: t('tokens.kept') }).click();
    await page.getByRole('cell', { name: 'nightly backup ada' }).waitFor();
    assert.ok(!(await page.content()).includes(secret));
    await page.getByRole('button', { name: t('tokens.revoke_name', { name: 'nightly backup' }) }).click();
    await page.getByRole('dialog').getByRole('button', { name: t('tokens.revoke') }).click();
    await page.getByText(t('tokens.none_title')).waitFor();
    await close();
  });

  it('flips a feature, and flips it back when the server refuses', async () => {
    const { page, go, close } = await person();
    await go('/settings/features');
    const chat = page.getByRole('switch', { name: t('features.feature_chat'), exact: true });
    await chat.click();
    await page.getByText(t('features.turned_off', { name: t('features.feature_chat') })).waitFor();
    assert.equal((await call(server, '/api/features', { token: ada })).items.find((one) => one.name === 'chat').enabled, false);
    await page.route('**/api/features/chat', (route) => route.fulfill({ status: 500, json: { code: 'internal', request_id: 'r-1' } }));
    await chat.click();
    await page.getByText(t('errors.status_500')).waitFor();
    assert.equal(await chat.getAttribute('aria-checked'), 'false');
    await close();
  });
});

describe('addresses', () => {
  it('open what they name, and Back goes back', async () => {
    const note = await makeNote('Deep link');
    const { page, go, close } = await person();
    await go(`/notes/${note.id}`);
    await page.getByLabel(t('notes.title_field')).waitFor();
    await page.getByRole('link', { name: t('nav.files') }).click();
    await page.getByRole('heading', { name: t('nav.files'), level: 1 }).waitFor();
    await page.goBack();
    await page.getByLabel(t('notes.title_field')).waitFor();
    await go('/nowhere');
    await page.getByText(t('app.lost_body')).waitFor();
    await close();
  });

  it('show the calls behind a screen as curl, without secrets', async () => {
    const { page, go, close } = await person();
    await go('/settings/members');
    await page.getByRole('button', { name: t('app.curl_open') }).click();
    const text = await page.getByRole('dialog').innerText();
    assert.match(text, /curl 'http:\/\/127\.0\.0\.1:\d+\/api\/members\?limit=200'/);
    assert.ok(!text.includes(ada));
    await close();
  });
});
