// The sign-up form from both sides: a stranger fills it in, a person decides about them with the keyboard alone, and the stranger takes over a company.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { examine, examineBoth } from './axe.mjs';
import { BOARD, FORM, prospect, view, welcome } from './onboarding-screens.mjs';
import { wordsOf } from './words.mjs';
import { call, closeAll, confirm, found, join, openBrowser, openPerson, openServer, takeFromPalette, until } from './world.mjs';

const t = wordsOf('en');
let browser, server, ada, admin;
before(async () => {
  [browser, server] = await Promise.all([openBrowser(), openServer({ SERVICE_EMBED_WORKER: '1' })]);
  ada = await found(server);
  admin = await join(server, ada, 'marta', 'Marta Vidal', 'admin');
});
after(closeAll);

const person = (options) => openPerson(browser, server, { token: ada, ...options });
const open = (page, name) => page.getByRole('tab', { name: t(`onboarding.view_${name}`), exact: false }).click();
const preview = (page) => page.frameLocator('[data-testid=form-preview]');
const PICTURE = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

/** Both modes, the narrowest and the widest screen, in both directions; a page that takes its mode from the browser. */
async function examineEverywhere(page, name) {
  for (const colorScheme of ['light', 'dark'])
    for (const width of [320, 2560])
      for (const dir of ['rtl', 'ltr']) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await page.evaluate((to) => { document.documentElement.dir = to; }, dir);
        await holds(page, `${name} ${colorScheme} ${width} px ${dir}`, examine);
      }
}

async function holds(page, name, look) {
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, `${name} is too wide`);
  await look(page, name);
}

const focusedRow = (page) => page.evaluate(() => document.activeElement?.closest('[data-prospect]')?.textContent ?? '');

describe('the board', () => {
  it('teaches how to show the form while there is no sign-up, and is found from the palette', async () => {
    const { page, go, close } = await person();
    await go('/');
    await takeFromPalette(page, t('nav.sign_ups'));
    await page.getByTestId('how-to-start').getByText('SERVICE_HOME=beta').waitFor();
    await examineBoth(page, 'empty board');
    await close();
    await welcome(server, ada);
  });

  it('counts how far visitors came and says where they stop', async () => {
    const { page, go, close } = await person();
    await go(BOARD);
    const count = async (step) => Number(await page.getByTestId(`step-${step}`).locator('dd').innerText());
    const written = async () => (await page.getByTestId('loss').isVisible()) && (await count('received')) >= 5;
    // Calls are counted in memory and written down every few seconds.
    await until('the calls are written', async () => {
      await page.reload();
      await page.getByTestId('prospect').first().waitFor();
      return written();
    }, 500);
    assert.deepEqual([await count('opened'), await count('started'), await count('received'), await count('refused')], [9, 5, 5, 0]);
    assert.equal(await page.getByTestId('loss').innerText(), t('onboarding.stop_started', { lost: '4', of: '9' }));
    await close();
  });

  it('shows answers by the form’s labels, signals with what they mean, and verdicts', async () => {
    const { page, go, close } = await person();
    await go(BOARD);
    await prospect(page, 'win@').locator('[data-row]').click();
    const detail = prospect(page, 'win@').getByTestId('prospect-detail');
    await detail.getByText('What would you use it for?').waitFor();
    for (const [name, value] of [['honeypot', 1], ['fast', '0.4'], ['disposable_domain', 'mailinator.com']]) await detail.getByText(t(`onboarding.signal_${name}_means`, { value })).waitFor();
    await detail.getByTestId('verdict-gate').getByText(t('onboarding.verdict_suspect')).waitFor();
    await prospect(page, 'katrin').locator('[data-row]').click();
    await page.getByText(t('onboarding.later')).waitFor();
    await page.getByText('Did this arrive?').waitFor();
    await close();
  });

  it('narrows by state, verdict and words', async () => {
    const { page, go, close } = await person();
    await go(BOARD);
    const names = async () => (await page.getByTestId('prospect').locator('[data-raw]').allInnerTexts()).map((text) => text.split('@')[0]).sort();
    await page.getByLabel(t('onboarding.state'), { exact: true }).selectOption('captured');
    await page.waitForFunction(() => document.querySelectorAll('[data-testid=prospect]').length === 2);
    assert.deepEqual(await names(), ['katrin', 'win']);
    await page.getByLabel(t('onboarding.verdict'), { exact: true }).selectOption('suspect');
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { level: 1 }).click();
    await page.keyboard.press('/');
    await page.keyboard.type('zeppelin');
    await page.getByText(t('onboarding.no_match_title')).waitFor();
    await page.getByRole('button', { name: t('onboarding.show_all') }).click();
    await page.waitForFunction(() => document.querySelectorAll('[data-testid=prospect]').length === 4);
    await close();
  });

  it('decides with the keyboard alone, once: the other decision is told what stands', async () => {
    const { page, go, close } = await person();
    const other = await person({ token: admin.token });
    await go(BOARD);
    await other.go(BOARD);
    await prospect(page, 'win@').waitFor();
    while (!(await focusedRow(page)).includes('win@')) await page.keyboard.press('j');
    await page.keyboard.press('d');
    await page.getByRole('dialog').getByText(t('onboarding.decline_title', { name: 'win@mailinator.com' })).waitFor();
    await page.keyboard.type('A robot.');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('[data-testid=prospect][data-state=declined]').filter({ hasText: 'win@' }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.match(await focusedRow(page), /win@/);
    await page.keyboard.press('Enter');
    await page.getByText('A robot.').waitFor();

    await prospect(other.page, 'win@').locator('[data-row]').focus();
    await other.page.keyboard.press('a');
    await other.page.getByRole('dialog').getByRole('button', { name: t('onboarding.accept') }).click();
    await other.page.getByText(t('errors.onboarding_decided')).waitFor();
    await other.close();
    await close();
  });

  it('offers an invitation to operators only', async () => {
    const { page, go, close } = await person({ token: admin.token });
    await go(BOARD);
    await prospect(page, 'katrin').locator('[data-row]').click();
    await page.getByRole('button', { name: t('onboarding.accept'), exact: false }).first().waitFor();
    assert.equal(await page.getByRole('button', { name: t('onboarding.invite') }).count(), 0);
    await page.keyboard.press('i');
    assert.equal(await page.getByRole('dialog').count(), 0);
    await close();
  });

  it('invites: the link is shown once, and its holder signs in as the owner of a company of their own', async () => {
    const { page, go, close } = await person();
    await go(BOARD);
    await prospect(page, 'katrin').locator('[data-row]').focus();
    await page.keyboard.press('i');
    assert.equal(await page.getByLabel(t('onboarding.company')).inputValue(), 'Hafnarbakki ehf.');
    assert.equal(await page.getByLabel(t('onboarding.username')).inputValue(), 'katrin@hafnarbakki.example');
    await confirm(page);
    await page.getByRole('dialog').getByRole('button', { name: t('onboarding.invite') }).click();
    const link = await page.getByTestId('secret').innerText();
    await page.getByRole('button', { name: t('onboarding.invited_done') }).click();
    await page.locator('[data-testid=prospect][data-state=accepted]').filter({ hasText: 'katrin' }).waitFor();
    assert.ok(!(await page.content()).includes(link.split('token=')[1]));

    const guest = await openPerson(browser, server, {});
    await guest.page.goto(link);
    await guest.page.locator('input[type=password]').first().fill('a phrase of her own');
    await guest.page.keyboard.press('Enter');
    await guest.page.getByRole('navigation', { name: t('app.navigation') }).waitFor();
    const { org, user } = await guest.page.evaluate(async () => (await fetch('/api/whoami')).json());
    assert.deepEqual([org.name, user.username], ['Hafnarbakki ehf.', 'katrin@hafnarbakki.example']);
    await guest.go(BOARD);
    await guest.page.getByText(t('onboarding.elsewhere_title')).waitFor();
    await guest.close();
    await close();
  });
});

describe('the form', () => {
  it('is changed by keys and by dragging, translated beside, saved, compared and published; an older version comes back', async () => {
    const { page, go, close } = await person();
    await go(FORM);
    const fields = page.getByTestId('form-field');
    const names = () => fields.getByLabel(t('onboarding.name'), { exact: true }).evaluateAll((found) => found.map((one) => one.value));
    await fields.first().waitFor();
    assert.deepEqual((await names()).slice(0, 3), ['email', 'name', 'company']);
    await page.getByRole('button', { name: t('onboarding.move', { name: 'Company or group' }), exact: true }).focus();
    await page.keyboard.press('ArrowUp');
    assert.deepEqual((await names()).slice(0, 3), ['email', 'company', 'name']);
    await page.keyboard.press('ArrowUp');
    assert.deepEqual((await names()).slice(0, 3), ['company', 'email', 'name']);
    await page.getByRole('button', { name: t('onboarding.move', { name: 'Your name' }), exact: true }).dragTo(fields.first());
    assert.deepEqual((await names()).slice(0, 3), ['name', 'company', 'email']);
    await page.getByLabel(t('onboarding.new_type')).selectOption('url');
    await page.getByRole('button', { name: t('onboarding.add_field') }).click();
    await fields.last().getByLabel(t('onboarding.label')).fill('Website');
    await open(page, 'texts');
    await page.getByLabel(t('onboarding.beside')).selectOption('nl');
    await page.getByTestId('missing').getByText(t('onboarding.missing', { n: 1 })).waitFor();
    await page.getByLabel(t('onboarding.text_in', { name: 'url.label', language: 'Nederlands' })).fill('Webadres');
    await page.getByTestId('missing').getByText(t('onboarding.missing', { n: 0 })).waitFor();
    await page.getByLabel(t('onboarding.text_in', { name: 'copy.title', language: 'English' })).fill('Join the harbour');
    await page.getByRole('button', { name: t('onboarding.save_draft') }).click();
    await page.getByRole('button', { name: t('onboarding.publish'), exact: true }).click();
    await page.getByRole('dialog').locator('[data-line=added]').filter({ hasText: 'copy.title: Join the harbour' }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: t('onboarding.publish'), exact: true }).click();
    await open(page, 'versions');
    await page.getByTestId('form-version').waitFor();
    const shown = await (await fetch(`${server.address}/api/beta/config?locale=nl`)).json();
    assert.deepEqual([shown.fields[0].name, shown.fields.at(-1).label], ['name', 'Webadres']);

    // The preview is the draft, in each language; visitors see what was published.
    await open(page, 'texts');
    await page.getByLabel(t('onboarding.text_in', { name: 'copy.title', language: 'English' })).fill('Second thoughts');
    await page.getByText(t('onboarding.preview_changed')).waitFor();
    await page.getByRole('button', { name: t('onboarding.save_draft') }).click();
    await preview(page).getByRole('heading', { name: 'Second thoughts' }).waitFor();
    await page.getByLabel(t('ui.language'), { exact: true }).selectOption('nl');
    await preview(page).getByLabel('Webadres').waitFor();
    assert.equal((await (await fetch(`${server.address}/api/beta/config`)).json()).copy.title, 'Join the harbour');
    await open(page, 'versions');
    await page.getByRole('button', { name: t('onboarding.bring_back_name', { n: 1 }) }).click();
    await page.getByLabel(t('ui.language'), { exact: true }).selectOption('en');
    await preview(page).getByRole('heading', { name: 'Join the harbour' }).waitFor();
    await close();
  });

  it('wears a logo and colours of its own, and none that are hard to read', async () => {
    const { page, go, close } = await person();
    await go(view('look'));
    const files = page.getByTestId('files-logo');
    await files.locator('input[type=file]').setInputFiles({ name: 'harbour.png', mimeType: 'image/png', buffer: PICTURE });
    await files.getByText(t('onboarding.file_used')).waitFor();
    await page.getByLabel(t('branding.hex_of', { name: t('branding.token_accent') }), { exact: true }).fill('#9aa5ff');
    await page.getByText(t('onboarding.fault_contrast')).waitFor();
    assert.equal(await page.getByRole('button', { name: t('onboarding.save_draft') }).isDisabled(), true);
    await page.locator('[data-passes=false]').first().getByRole('button').click();
    await page.getByText(t('onboarding.fault_contrast')).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: t('onboarding.save_draft') }).click();
    await preview(page).locator('img.logo').waitFor();
    const painted = await preview(page).getByRole('button').evaluate((button) => getComputedStyle(button).backgroundColor);
    const chosen = await page.getByLabel(t('branding.token_accent'), { exact: true }).inputValue();
    assert.deepEqual(painted.match(/\d+/g).map(Number), chosen.slice(1).match(/../g).map((part) => parseInt(part, 16)));

    // What visitors are shown is not deleted under them; what they are not shown is.
    await page.getByRole('button', { name: t('onboarding.publish'), exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: t('onboarding.publish'), exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const remove = async () => {
      await page.getByRole('button', { name: t('onboarding.delete_file', { name: 'harbour.png' }) }).click();
      await page.getByRole('dialog').getByRole('button', { name: t('onboarding.delete'), exact: true }).click();
    };
    await remove();
    await page.getByText(t('errors.onboarding_asset_in_use')).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: t('onboarding.unuse_name', { name: 'harbour.png' }) }).click();
    await page.getByRole('button', { name: t('onboarding.save_draft') }).click();
    await preview(page).locator('img.logo').waitFor({ state: 'detached' });
    await call(server, '/api/beta/experience/publish', { token: ada, body: {} });
    await remove();
    await page.getByTestId('form-file').waitFor({ state: 'detached' });
    await close();
  });

  it('is a page of one’s own for the sites that are named; the server’s objections are read there', async () => {
    const { page, context, go, close } = await person();
    await go(view('page'));
    await page.getByRole('switch', { name: t('onboarding.template_own') }).click();
    const html = page.getByLabel(t('onboarding.template_html'), { exact: true });
    const save = page.getByRole('button', { name: t('onboarding.save_draft') });
    await save.click();
    await preview(page).locator('form[data-beta]').waitFor();
    await preview(page).getByLabel('E-mail address').waitFor();
    await html.evaluate((area) => area.setSelectionRange(area.value.indexOf('</main>'), area.value.indexOf('</main>')));
    await page.getByRole('button', { name: 'copy.thanks_more' }).click();
    assert.match(await html.inputValue(), /\{\{copy\.thanks_more\}\}<\/main>/);
    const good = await html.inputValue();
    await html.fill(`${good}<script>alert(1)</script>{{copy.nothing}}`);
    await save.click();
    await page.getByTestId('reasons').getByText('{{copy.nothing}} stands for nothing here').waitFor();
    await html.fill(good);
    const origins = page.getByLabel(t('onboarding.origins_field'));
    await origins.fill('https://www.example.com/path');
    await page.getByText(t('onboarding.origins_wrong', { origin: 'https://www.example.com/path' })).waitFor();
    assert.equal(await save.isDisabled(), true);
    await origins.fill('https://www.example.com\n\n');
    await save.click();
    await preview(page).getByText('We read every sign-up', { exact: false }).first().waitFor();
    const own = await context.newPage();
    await own.goto(`${server.address}/beta/template?draft=1&locale=nl`);
    assert.equal(await own.evaluate(() => document.documentElement.lang), 'nl');
    await examineEverywhere(own, 'template');
    await own.close();
    const { experience } = await call(server, '/api/beta/experience', { token: ada });
    assert.deepEqual(experience.embed_origins, ['https://www.example.com']);
    await page.getByRole('switch', { name: t('onboarding.template_own') }).click();
    await save.click();
    await preview(page).locator('form[data-beta]').waitFor({ state: 'detached' });
    await close();
  });

  it('has its judge tried on answers that are made up, and nothing is kept', async () => {
    const { page, go, close } = await person();
    await go(view('judge'));
    await page.getByLabel(t('onboarding.judge_prompt')).fill('People who work in ports.');
    await page.getByLabel('E-mail address').fill('no address');
    await page.getByRole('button', { name: t('onboarding.try_judge') }).click();
    await page.getByText(t('onboarding.trial_wrong')).waitFor();
    await page.getByLabel('E-mail address').fill('ada@example.com');
    await page.getByRole('button', { name: t('onboarding.try_judge') }).click();
    await page.getByTestId('trial').getByTestId('verdict-judge').waitFor();
    await page.getByTestId('trial').getByText(t('onboarding.scored', { verdict: t('onboarding.verdict_unsure'), score: '50' })).waitFor();
    assert.equal((await call(server, '/api/beta/experience', { token: ada })).experience.judge_prompt ?? '', '');
    assert.equal((await call(server, '/api/beta/prospects?q=ada%40example.com', { token: ada })).items.length, 0);
    await close();
  });

  it('is not saved while the server would refuse it', async () => {
    const { page, go, close } = await person();
    await go(FORM);
    await page.getByRole('switch', { name: t('onboarding.required_name', { name: 'E-mail address' }) }).click();
    await page.getByText(t('onboarding.fault_no_email')).waitFor();
    assert.equal(await page.getByRole('button', { name: t('onboarding.save_draft') }).isDisabled(), true);
    await close();
  });
});

/** The parts of the editor, the question before publishing, and the board, each with something in it. */
const PARTS = {
  fields: [FORM, (page) => page.getByTestId('form-field').first().waitFor()],
  texts: [view('texts'), (page) => page.getByLabel(t('onboarding.beside')).selectOption('nl')],
  look: [view('look'), (page) => page.getByTestId('contrast-count').waitFor()],
  page: [view('page'), (page) => page.getByRole('switch', { name: t('onboarding.template_own') }).click()],
  judge: [view('judge'), (page) => page.getByLabel(t('onboarding.judge_prompt')).fill('People who work in ports.')],
  versions: [view('versions'), (page) => page.getByTestId('form-version').first().waitFor()],
  publish: [view('texts'), async (page, look) => {
    await page.getByLabel(t('onboarding.text_in', { name: 'copy.title', language: 'English' })).fill(look);
    await page.getByRole('button', { name: t('onboarding.save_draft') }).click();
    await page.getByRole('button', { name: t('onboarding.publish'), exact: true }).click();
    await page.getByRole('dialog').locator('[data-line=added]').first().waitFor();
  }],
  board: [BOARD, async (page) => {
    await prospect(page, 'win@').locator('[data-row]').click();
    await page.getByTestId('verdict-gate').waitFor();
  }],
};
// The narrowest screen, where most breaks; with the variable, every width in every mode and direction.
const VIEWS = process.env.ATRIUM_FULL
  ? ['light', 'dark'].flatMap((mode) => [320, 2560].flatMap((width) => ['ltr', 'rtl'].map((dir) => [mode, width, dir])))
  : [['light', 320, 'rtl']];

describe('editor and board', () => {
  it('hold on the narrowest screen from right to left, and axe finds nothing', async (run) => {
    for (const [mode, width, dir] of VIEWS) {
      const look = `${mode} ${width} px ${dir}`;
      const { page, go, close } = await person({ mode, width, height: 900 });
      for (const [name, [path, act]] of Object.entries(PARTS)) {
        await run.test(`${name} ${look}`, async () => {
          await page.goto('about:blank');
          await go(path);
          await page.evaluate((to) => { document.documentElement.dir = to; }, dir);
          await act(page, look);
          await holds(page, `${name} ${look}`, examine);
        });
      }
      await close();
    }
  });

  it('shows the draft as wide as a phone and as a desktop', async () => {
    const { page, go, close } = await person();
    await go(FORM);
    const width = () => preview(page).locator('body').evaluate(() => innerWidth);
    assert.ok((await width()) <= 384);
    await page.getByRole('button', { name: t('onboarding.device_desktop') }).click();
    await page.waitForFunction(() => document.querySelector('[data-testid=form-preview]').clientWidth > 900);
    assert.ok((await width()) > 900);
    await page.getByRole('button', { name: t('onboarding.device_phone') }).click();
    await page.waitForFunction(() => document.querySelector('[data-testid=form-preview]').clientWidth <= 384);
    await close();
  });
});

describe('a stranger', () => {
  it('signs up at the root address with the keyboard, in Chromium with a real proof; the page is small, and axe finds nothing', async () => {
    await server.say('restart SERVICE_HOME=beta');
    const { page, close } = await openPerson(browser, server, { worker: false });
    const reply = await page.goto(server.address);
    const bytes = (await reply.body()).length + (await (await fetch(`${server.address}/beta-sdk.js`)).arrayBuffer()).byteLength;
    assert.ok(bytes < 30_000, `${bytes} bytes`);
    await examineEverywhere(page, 'form');
    await page.locator('input[name=email]').focus();
    await page.keyboard.type('runa@example.com');
    await page.locator('input[name=terms]').focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Thank you' }).waitFor();
    await close();
    const operator = await person({ worker: false });
    await operator.page.goto(`${server.address}/index.html#${BOARD}`);
    await prospect(operator.page, 'runa@example.com').waitFor();
    await operator.close();
  });
});
