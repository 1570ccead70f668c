// A company's life: founded, taken over, branded, limited, suspended, resumed. And looks without a wrong frame.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ask, call, closeAll, confirm, found, join, openBrowser, openPerson, openServer, PASSWORD } from './world.mjs';
import { wordsOf } from './words.mjs';

const t = wordsOf('en');
const TEAL = { accent: '#0f766e', 'accent-text': '#0b5f58', focus: '#0f766e', 'accent-soft': '#dcf3f0', 'nav-active': '#dcf3f0', 'nav-active-text': '#0b4f49' };
// One red pixel.
const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==', 'base64');
let browser, server, ada;
before(async () => {
  [browser, server] = await Promise.all([openBrowser(), openServer()]);
  ada = await found(server);
});
after(closeAll);

const hex = (page, token) => page.locator(`[data-token="${token}"] input[type=text]`);
const shown = (page, name) => page.evaluate((property) => getComputedStyle(document.documentElement).getPropertyValue(property).trim(), name);
const button = (page, key) => page.getByRole('button', { name: t(key), exact: true });

async function foundCompany(page, name, owner) {
  await page.getByRole('link', { name: t('nav.new_company') }).click();
  await page.getByLabel(t('companies.name')).fill(name);
  await page.getByLabel(t('companies.owner')).fill(owner);
  await confirm(page);
  await button(page, 'companies.create').click();
}

describe('a company', () => {
  it('is founded, taken over, branded, suspended and resumed', async () => {
    const operator = await openPerson(browser, server, { token: ada });
    const owner = await openPerson(browser, server);
    await operator.go('/settings/instance/companies');
    await foundCompany(operator.page, 'Hafnarbakki ehf.', 'sigurdur');
    const link = await operator.page.getByTestId('secret').first().innerText();
    await button(operator.page, 'members.passed_on').click();
    await operator.page.getByRole('heading', { name: 'Hafnarbakki ehf.' }).waitFor();

    await owner.page.goto(link);
    await owner.page.getByLabel(t('signin.new_password')).fill(PASSWORD);
    await button(owner.page, 'signin.set_password').click();
    await owner.page.getByRole('heading', { name: t('home.recent') }).waitFor();

    await owner.go('/settings/company/branding');
    await owner.page.getByText(t('branding.from_instance')).waitFor();
    await owner.page.getByLabel(t('branding.title_field')).fill('Bakkinn');
    for (const [token, colour] of Object.entries(TEAL)) await hex(owner.page, token).fill(colour);
    assert.equal(await shown(owner.page, '--accent'), '#3b49df', 'the draft leaks out of its preview');
    assert.equal(await owner.page.getByTestId('preview').evaluate((preview) => getComputedStyle(preview).getPropertyValue('--accent')), '#0f766e');
    await button(owner.page, 'ui.save').click();
    await owner.page.getByTestId('toast').getByText(t('branding.saved')).waitFor();
    await owner.page.waitForFunction(() => getComputedStyle(document.documentElement).getPropertyValue('--accent').trim() === '#0f766e');
    assert.match(await owner.page.title(), /Bakkinn$/);
    await owner.page.getByText(t('branding.own'), { exact: true }).waitFor();

    await button(operator.page, 'companies.suspend').click();
    const confirm = operator.page.getByRole('dialog').getByRole('button', { name: t('companies.suspend'), exact: true });
    await operator.page.getByRole('dialog').getByRole('textbox').fill('Hafnarbakki');
    assert.ok(await confirm.isDisabled(), 'half a name suspends a company');
    await operator.page.getByRole('dialog').getByRole('textbox').fill('Hafnarbakki ehf.');
    await confirm.click();
    await operator.page.getByRole('heading', { name: t('companies.resume_title') }).waitFor();
    await owner.page.reload();
    await owner.page.getByText(t('app.read_only')).waitFor();
    assert.equal(await shown(owner.page, '--accent'), '#0f766e');

    await button(operator.page, 'companies.resume').click();
    await operator.page.getByRole('heading', { name: t('companies.suspend_title') }).waitFor();
    await owner.page.reload();
    await owner.settled();
    assert.equal(await owner.page.getByText(t('app.read_only')).count(), 0);
    await operator.close();
    await owner.close();
  });

  it('whose slug is taken is told so beside the slug', async () => {
    await call(server, '/api/orgs', { token: ada, body: { name: 'Acme', slug: 'acme', owner: { username: 'wile' } } });
    const operator = await openPerson(browser, server, { token: ada });
    await operator.go('/settings/instance/companies');
    await foundCompany(operator.page, 'Acme', 'roadrunner');

    const slug = operator.page.getByLabel(t('companies.slug'), { exact: true });
    await operator.page.getByText(t('errors.tenancy_slug_taken')).waitFor();

    assert.equal(await slug.getAttribute('aria-invalid'), 'true');
    assert.match(await operator.page.locator(`#${CSS(await slug.getAttribute('aria-describedby'))}`).innerText(), new RegExp(t('errors.tenancy_slug_taken')));
    await operator.close();
  });

  it('is found by its name and the search is in the address', async () => {
    const operator = await openPerson(browser, server, { token: ada });
    await operator.go('/settings/instance/companies');
    await operator.page.getByPlaceholder(t('companies.search')).fill('northw');
    await operator.page.waitForFunction(() => document.querySelectorAll('[data-row]').length === 1);

    assert.match(operator.page.url(), /q=northw/);
    await operator.page.locator('[data-row]').click();
    await operator.page.getByRole('heading', { name: 'Northwind Freight' }).waitFor();
    await operator.close();
  });

  it('gets a limit, shown as a meter, and loses it again', async () => {
    const operator = await openPerson(browser, server, { token: ada });
    await operator.go('/settings/instance/companies/northwind-freight');
    await operator.page.getByLabel(t('companies.dimension')).selectOption('jobs.concurrency');
    await operator.page.getByLabel(t('companies.window'), { exact: true }).selectOption('total');
    await operator.page.getByLabel(t('companies.most')).fill('4');
    await button(operator.page, 'companies.set_limit').click();

    await operator.page.getByRole('meter', { name: t('usage.jobs_concurrency') }).waitFor();
    await operator.page.getByRole('button', { name: t('companies.remove_limit', { name: t('usage.jobs_concurrency'), window: t('usage.right_now') }) }).click();
    await operator.page.getByRole('meter', { name: t('usage.jobs_concurrency') }).waitFor({ state: 'detached' });
    await operator.close();
  });

  it('shows what proves its hostname, and takes the operator’s word', async () => {
    const operator = await openPerson(browser, server, { token: ada });
    await operator.go('/settings/instance/companies/northwind-freight');
    await operator.page.getByLabel(t('company.hostname')).fill('notes.northwind.example');
    await operator.page.locator('form', { has: operator.page.getByLabel(t('company.hostname')) }).getByRole('button').click();
    await confirm(operator.page);
    await operator.page.getByRole('dialog').getByRole('button', { name: t('ui.save') }).click();
    await operator.page.getByText(t('companies.proof_lead')).waitFor();
    assert.match((await operator.page.getByTestId('secret').allInnerTexts()).join(' '), /notes\.northwind\.example .+/);

    await button(operator.page, 'companies.waive').click();
    await operator.page.locator('input[name=own_password]').fill('not the password');
    await operator.page.getByRole('dialog').getByRole('button', { name: t('ui.save') }).click();
    await operator.page.getByText(t('account.wrong_password')).waitFor();
    await confirm(operator.page);
    await operator.page.getByRole('dialog').getByRole('button', { name: t('ui.save') }).click();
    await operator.page.getByText(t('companies.works'), { exact: true }).waitFor();

    assert.equal(await operator.page.getByText(t('companies.proof_lead')).count(), 0);
    await call(server, '/api/orgs/northwind-freight', { token: ada, method: 'PATCH', body: { domain: null } });
    await operator.close();
  });
});

describe('people of a company', () => {
  it('are added to any team, with a role in the company', async () => {
    const owner = await openPerson(browser, server, { token: ada });
    await owner.go('/settings/company/teams/new');
    await owner.page.getByLabel(t('company.team_name')).fill('Finance');
    await button(owner.page, 'company.create_team').click();
    await owner.page.getByTestId('toast').getByText(t('company.team_made', { name: 'Finance' })).waitFor();
    await owner.go('/settings/company/people/new');
    await owner.page.getByLabel(t('members.username')).fill('grace');
    await owner.page.getByLabel(t('company.team'), { exact: true }).selectOption({ label: 'Finance' });
    await owner.page.getByLabel(t('company.role')).selectOption('org_reader');
    await confirm(owner.page);
    await owner.page.getByRole('dialog').getByRole('button', { name: t('nav.add_person') }).click();

    await owner.page.getByTestId('secret').first().waitFor();
    await button(owner.page, 'members.passed_on').click();
    const row = owner.page.locator('[data-row]', { hasText: 'grace' });
    await row.getByRole('cell', { name: 'Finance', exact: true }).waitFor();
    assert.equal(await row.getByRole('combobox').inputValue(), 'org_reader');
    await row.getByRole('combobox').selectOption('');
    await confirm(owner.page);
    await button(owner.page, 'members.change_role_action').click();
    await owner.page.getByTestId('toast').getByText(t('company.role_changed', { name: 'grace' })).waitFor();
    await owner.close();
  });

  it('cannot change their own role and read why', async () => {
    const owner = await openPerson(browser, server, { token: ada });
    await owner.go('/settings/company/people');

    const own = owner.page.locator('[data-row]', { hasText: 'Ada Lovelace' });
    await own.getByText(t('company.own_role')).waitFor();

    assert.equal(await own.getByRole('combobox').count(), 0);
    await owner.close();
  });

  it('without a role in it see no company page', async () => {
    const jo = await join(server, ada, 'jo', 'Jo');
    const person = await openPerson(browser, server, { token: jo.token });
    await person.go('/settings/company');

    await person.page.getByRole('heading', { name: t('app.forbidden_title') }).first().waitFor();

    assert.equal(await person.page.getByRole('navigation').getByRole('link', { name: t('nav.people') }).count(), 0);
    await person.close();
  });
});

describe('a look', () => {
  it('that cannot be read is not saved, and one click makes it readable', async () => {
    const owner = await openPerson(browser, server, { token: ada });
    await owner.go('/settings/company/branding');
    await hex(owner.page, 'accent').fill('#9aa5ff');
    await owner.page.getByText(t('branding.blocked', { n: 3 })).waitFor();
    assert.ok(await button(owner.page, 'ui.save').isDisabled());

    await owner.page.locator('[data-passes=false]').first().getByRole('button').click();

    await owner.page.getByTestId('contrast-count').getByText(t('branding.passed', { passed: 86, all: 86 })).waitFor();
    assert.ok(await button(owner.page, 'ui.save').isEnabled());
    await owner.close();
  });

  it('the server refuses lands on its field with a colour that would do', async () => {
    const owner = await openPerson(browser, server, { token: ada });
    await owner.go('/settings/company/branding');
    await owner.page.route('**/api/org/branding', (route) => (route.request().method() === 'PUT' ? route.continue({ postData: JSON.stringify({ theme: { 'dark-text': '#444444' } }) }) : route.continue()));
    await owner.page.getByLabel(t('branding.title_field')).fill('Northwind');
    await button(owner.page, 'ui.save').click();

    const row = owner.page.locator('[data-token=dark-text]');
    await row.getByText(t('branding.refused')).waitFor();

    await row.getByRole('button', { name: /#[0-9a-f]{6}$/ }).click();
    assert.notEqual(await row.locator('input[type=text]').inputValue(), '#e8ebf1');
    await owner.close();
  });

  it('has a logo that is kept, worn and removed, and is reset after a question', async () => {
    const owner = await openPerson(browser, server, { token: ada });
    await owner.go('/settings/company/branding');
    await owner.page.locator('input[type=file]').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: PIXEL });
    await owner.page.getByTestId('toast').getByText(t('branding.logo_saved')).waitFor();
    await owner.page.waitForFunction(() => document.querySelector('[data-testid=mark]').src.startsWith('data:image/png'));
    await button(owner.page, 'branding.logo_remove').click();
    await owner.page.getByTestId('toast').getByText(t('branding.logo_removed')).waitFor();
    await owner.page.getByLabel(t('branding.tagline')).fill('All in one place');
    await button(owner.page, 'ui.save').click();
    await owner.page.getByText(t('branding.own'), { exact: true }).waitFor();

    await button(owner.page, 'branding.reset').click();
    await owner.page.getByRole('dialog').getByRole('button', { name: t('branding.reset') }).click();

    await owner.page.getByText(t('branding.from_instance')).waitFor();
    assert.equal(await owner.page.getByLabel(t('branding.tagline')).inputValue(), '');
    await owner.close();
  });

  it('is on before the program has loaded, in both modes', async () => {
    await call(server, '/api/branding', { token: ada, method: 'PUT', body: { title: 'Harbour', tagline: 'Ships', theme: { ...TEAL, radius: '2px', font: 'serif' } } });
    for (const [mode, accent] of [['light', '#0f766e'], ['dark', '#6b78ff']]) {
      const stranger = await openPerson(browser, server, { mode });
      await stranger.page.route(/\/assets\/.*\.js/, (route) => (/boot-/.test(route.request().url()) ? route.continue() : route.abort()));
      await stranger.page.goto(server.address);

      assert.equal(await shown(stranger.page, '--accent'), accent, `${mode}: a colour of the other mode`);
      assert.equal(await shown(stranger.page, '--radius'), '2px');
      assert.equal(await stranger.page.title(), 'Harbour');
      await stranger.page.context().close();
    }
    const stranger = await openPerson(browser, server);
    await stranger.go('/sign-in');
    await stranger.page.getByText('Ships').waitFor();
    assert.match(await stranger.page.title(), /Harbour$/);
    await stranger.close();
    await call(server, '/api/branding', { token: ada, method: 'PUT', body: {} });
  });

  it('of the instance is edited by the same editor', async () => {
    const operator = await openPerson(browser, server, { token: ada });
    await operator.go('/settings/instance/branding');
    await operator.page.getByLabel(t('branding.title_field')).fill('Harbour');
    await button(operator.page, 'ui.save').click();
    await operator.page.getByTestId('toast').getByText(t('branding.saved')).waitFor();

    const { title } = await call(server, '/api/branding');

    assert.equal(title, 'Harbour');
    await operator.close();
  });
});

describe('usage', () => {
  it('turns amber at four fifths and red at the limit', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const limit = (most) => call(server, '/api/quota', { token: ada, body: { dimension: 'ai.requests', window: 'month', limit: most } });
    for (let n = 0; n < 4; n++) await call(server, '/api/ai/echo', { token: ada, body: {} });
    for (const [most, fullness] of [[10, 'calm'], [5, 'near'], [4, 'full'], [null, 'open']]) {
      await limit(most);
      await person.page.goto('about:blank');
      await person.go('/settings/usage');

      assert.equal(await person.page.getByRole('region', { name: t('usage.ai_requests'), exact: true }).getByTestId('meter').first().getAttribute('data-fullness'), fullness);
    }
    await person.close();
  });
});

describe('storage', () => {
  it('says what takes the place, and that a limit was raised, in every language', async () => {
    await call(server, '/api/notes', { token: ada, body: { title: 'Long', body: 'x'.repeat(2500) } });
    for (const language of ['en', 'es', 'nl', 'is']) {
      await call(server, '/api/profile', { token: ada, body: { locale: language } });
      const person = await openPerson(browser, server, { token: ada, locale: language, worker: false });
      await person.page.route('**/api/usage', async (route) => {
        const reply = await route.fetch();
        const body = await reply.json();
        const line = body.items.find((one) => one.dimension === 'storage.bytes' && one.level === 'org');
        Object.assign(line, { limit: 5000, remaining: 0, raised_from: 1000, raised_at: '2026-03-01T10:00:00Z' });
        await route.fulfill({ response: reply, json: body });
      });
      await person.go('/settings/usage');

      const region = person.page.getByTestId('parts');
      await region.first().waitFor();
      assert.equal(await region.count(), 2);
      for (const part of ['files', 'notes', 'workflows', 'jobs']) {
        assert.equal(await region.first().getByText(wordsOf(language)(`usage.parts_${part}`), { exact: true }).count(), 1);
      }
      assert.equal(await person.page.getByTestId('raised').count(), 1);
      await person.close();
    }
    await call(server, '/api/profile', { token: ada, body: { locale: 'en' } });
  });
});

describe('the languages of an instance', () => {
  it('are what its operator chose, for everyone who may not switch', async () => {
    const fresh = await openServer();
    const operator = await openPerson(browser, fresh, { token: await found(fresh) });
    await operator.go('/settings/instance/languages');
    await operator.page.getByLabel(t('instance.default_language')).selectOption('es');
    await operator.page.getByRole('switch', { name: t('instance.switching') }).click();
    await button(operator.page, 'ui.save').click();
    await operator.page.getByTestId('toast').getByText(t('instance.languages_saved')).waitFor();

    const visitor = await openPerson(browser, fresh);
    await visitor.page.goto(fresh.address);
    await visitor.page.getByRole('button', { name: wordsOf('es')('signin.submit'), exact: true }).waitFor();

    assert.equal(await visitor.page.evaluate(() => document.documentElement.lang), 'es');
    for (const person of [operator, visitor]) await person.close();
    await fresh.close();
  });
});

describe('an empty team', () => {
  it('may load sample notes', async () => {
    const fresh = await openServer();
    const person = await openPerson(browser, fresh, { token: await found(fresh) });
    await person.go('/');
    await button(person.page, 'home.samples_do').click();

    await person.page.getByText(t('home.samples'), { exact: true }).waitFor({ state: 'detached' });

    assert.ok((await ask(person.page, '/api/notes')).items.length > 0);
    await person.close();
    await fresh.close();
  });
});

/** An id as a selector: React's ids have colons. */
const CSS = (id) => id.replaceAll(/([^\w-])/g, '\\$1');
