// The translations of the console: a language from nothing to served, with the keyboard alone.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { examineBoth, FULL } from './axe.mjs';
import { addLanguage, jobEnded, LOCALE, localizationScreensOf, localize, messageOf, propose } from './localization-screens.mjs';
import { EVERY_WIDTH, foreignText, misfits, takeBrackets, visit } from './stage.mjs';
import { bracketedWords } from './where.mjs';
import { LOCALES, wordsOf } from './words.mjs';
import { call, closeAll, found, openBrowser, openPerson, openServer, PATIENCE, takeFromPalette } from './world.mjs';

const t = wordsOf('en');
const ROOT = '/settings/instance/translations';
let browser, server, ada, localization;
before(async () => {
  [browser, server] = await Promise.all([openBrowser(), openServer()]);
  ada = await found(server);
  localization = await localize(server, ada);
  await server.say('restart SERVICE_EMBED_WORKER=1');
});
after(closeAll);

const person = (options) => openPerson(browser, server, { token: ada, ...options });
const of = (locale) => `[data-testid=locale][data-locale=${locale}]`;

describe('the overview', () => {
  it('is found from the palette and beside the languages', async () => {
    const { page, go, close } = await person();
    await go('/');
    await takeFromPalette(page, t('nav.translations'));
    await page.getByTestId('cell').first().waitFor();
    await go('/settings/instance/languages');
    await page.getByRole('main').getByRole('link', { name: t('nav.translations') }).click();
    await page.getByTestId('cell').first().waitFor();
    await close();
  });

  it('says in words how far a language is, and a cell leads to its messages', async () => {
    const { page, go, close } = await person();
    await go(ROOT);
    const coverage = (await call(server, '/api/l10n/coverage', { token: ada })).items.find((one) => one.locale === LOCALE);
    await page.locator(of(LOCALE)).getByText(t('localization.n_missing', { n: coverage.missing })).waitFor();
    const ui = coverage.namespaces.find((one) => one.ns === 'ui');
    const cell = page.locator(`[data-testid=cell][href*="ns=ui"][href*="locale=${LOCALE}"]`);
    assert.deepEqual((await cell.innerText()).split('\n'), [t('localization.percent', { n: Math.floor((100 * ui.approved) / ui.total) }), t('localization.n_missing', { n: ui.missing }), t('localization.n_pending', { n: ui.pending })]);
    assert.match(await cell.getAttribute('href'), /status=missing/);
    await close();
  });

  it('imports what a file proposes, with a report, and exports to a file', async () => {
    const { page, go, close } = await person();
    await go(ROOT);
    await page.locator(of('es')).getByRole('button').click();
    await page.getByRole('menuitem', { name: t('localization.export') }).click();
    await page.getByRole('dialog').getByRole('combobox').selectOption('po');
    await page.getByRole('button', { name: t('localization.export_do'), exact: true }).click();
    const link = page.getByRole('dialog').getByRole('link', { name: 'l10n/es.po' });
    const id = (await link.getAttribute('href')).split('/').at(-1);
    const file = await page.evaluate(async (object) => (await fetch(`/api/repo-obj/${object}/content`)).text(), id);
    assert.match(file, /msgctxt "ui.undo"/);
    const edited = file.replace(/(msgctxt "ui.undo"\nmsgid "Undo"\nmsgstr )"[^"]*"/, '$1"Dar marcha atrás"');
    await page.getByRole('button', { name: t('ui.done') }).click();
    await page.getByRole('button', { name: t('localization.import') }).click();
    await page.getByRole('dialog').getByRole('combobox').selectOption('file');
    await page.getByLabel(t('localization.file'), { exact: true }).setInputFiles({ name: 'es.po', mimeType: 'text/plain', buffer: Buffer.from(edited) });
    await page.getByLabel(t('localization.file_language')).selectOption('es');
    await page.getByRole('button', { name: t('localization.import_do'), exact: true }).click();
    const report = page.getByRole('region', { name: t('localization.report') });
    await report.waitFor();
    assert.match(await report.innerText(), new RegExp(t('localization.report_proposed')));
    await page.locator(of('es')).getByText(t('localization.n_pending', { n: 1 })).waitFor();
    await close();
  });

  it('adds a language that is named in an import', async () => {
    const { page, go, close } = await person();
    await go(ROOT);
    await page.getByRole('button', { name: t('localization.import') }).click();
    await page.getByLabel(t('localization.new_language')).fill('Portuguese');
    await page.getByText(t('localization.new_language_wrong')).waitFor();
    assert.ok(await page.getByRole('button', { name: t('localization.import_do'), exact: true }).isDisabled());
    await page.getByLabel(t('localization.new_language')).fill('pt-BR');
    await page.getByRole('button', { name: t('localization.import_do'), exact: true }).click();
    await page.locator('[data-testid=import][data-state=succeeded]').waitFor();
    await page.locator(of('pt-BR')).waitFor();
    await close();
  });

  it('says what drafts cost, makes them, and discards them alone', async () => {
    await addLanguage(server, ada, 'pt-BR');
    const { page, go, close } = await person();
    const menu = async (name) => { await page.locator(of('pt-BR')).getByRole('button').click(); await page.getByRole('menuitem', { name }).click(); };
    await go(ROOT);
    await menu(t('localization.draft'));
    const { missing } = (await call(server, '/api/l10n/coverage', { token: ada })).items.find((one) => one.locale === 'pt-BR');
    await page.getByTestId('cost').getByText(new RegExp(missing.toLocaleString('en'))).waitFor();
    await page.getByRole('switch', { name: t('localization.draft_all') }).click();
    await page.getByRole('button', { name: t('localization.draft_do'), exact: true }).click();
    await page.getByTestId('drafting').waitFor();
    await page.getByTestId('drafting').waitFor({ state: 'detached', timeout: 3 * PATIENCE });
    const { machine } = (await call(server, '/api/l10n/coverage', { token: ada })).items.find((one) => one.locale === 'pt-BR');
    assert.ok(machine > 400);
    await page.locator(of('pt-BR')).getByText(t('localization.n_machine', { n: machine })).waitFor();
    await menu(t('localization.discard'));
    await page.getByRole('button', { name: t('localization.discard_do'), exact: true }).click();
    await page.getByTestId('toast').getByText(t('localization.discarded', { n: machine })).waitFor();
    await close();
  });

  it('says of a draft which term of the glossary it leaves out', async () => {
    await addLanguage(server, ada, 'pt-BR');
    await call(server, '/api/glossary', { token: ada, body: { target: 'pt-BR', term: 'trash', translation: 'lixeira' } });
    const { jobs } = await call(server, '/api/l10n/draft', { token: ada, body: { locale: 'pt-BR', ns: 'trash' } });
    for (const job of jobs) await jobEnded(server, ada, job);
    const { page, go, close } = await person({ token: localization.translator });
    await go(`${ROOT}/desk?locale=pt-BR&ns=trash&key=trash.empty`);
    await page.locator('[data-testid=editor][data-key="trash.empty"]').getByTestId('checks').getByText('lixeira').waitFor();
    await go(`${ROOT}/desk?locale=pt-BR&ns=trash&key=trash.restore`);
    await page.locator('[data-testid=editor][data-key="trash.restore"]').getByTestId('checks').getByText(t('localization.check_fine')).waitFor();
    await close();
  });

  it('lets a translator look and manage nothing', async () => {
    const { page, go, close } = await person({ token: localization.translator });
    await go(ROOT);
    await page.locator(of(LOCALE)).waitFor();
    assert.equal(await page.getByRole('button', { name: t('localization.import') }).count(), 0);
    assert.equal(await page.locator(of(LOCALE)).getByRole('button').count(), 0);
    await close();
  });
});

/** A hundred with ATRIUM_FULL=1, as `npm run e2e:screens` has it. */
const STRINGS = process.env.ATRIUM_FULL ? 100 : 6;
const field = (page) => page.getByRole('textbox', { name: t('localization.translation'), exact: true });
const opened = (page) => page.getByTestId('editor').getAttribute('data-key');
const desk = (query) => `${ROOT}/desk?locale=${LOCALE}&${query}`;

describe('the desk and the review', () => {
  it(`translate and approve ${STRINGS} texts with the keyboard alone, and each is served`, async () => {
    const { page, go, close } = await person({ token: localization.translator });
    await go(desk('status=missing'));
    const written = new Map();
    while (written.size < STRINGS) {
      const key = await opened(page);
      const { source } = await messageOf(server, ada, key);
      await page.waitForFunction(() => document.activeElement?.id === 'translation');
      await page.keyboard.insertText(`Ü ${source}`);
      written.set(key, `Ü ${source}`);
      await page.keyboard.press('Control+Enter');
      await page.waitForFunction((last) => document.querySelector('[data-testid=editor]')?.dataset.key !== last, key);
    }
    await close();
    const reviewer = await person({ token: localization.reviewer });
    await reviewer.go(`${ROOT}/review?locale=${LOCALE}`);
    const waiting = (await call(server, `/api/l10n/messages?locale=${LOCALE}&status=pending&limit=200`, { token: ada })).items;
    for (const { key } of waiting) {
      await reviewer.page.locator(`[data-testid=review][data-key="${key}"]`).waitFor();
      await reviewer.page.keyboard.press('a');
    }
    await reviewer.page.getByText(t('localization.all_reviewed_title')).waitFor();
    const { messages } = await call(server, `/api/i18n/catalog?locale=${LOCALE}`);
    for (const [key, text] of written) assert.equal(messages[key], text);
    await reviewer.close();
  });

  it('says what is wrong while it is written, and puts in arguments by key', async () => {
    const { page, go, close } = await person({ token: localization.translator });
    await go(desk('ns=app&key=app.palette_search'));
    await field(page).fill('Suchen nach ');
    await page.locator('[data-code=argument_absent]').waitFor();
    await page.keyboard.press('Control+Enter');
    assert.equal(await opened(page), 'app.palette_search');
    await page.keyboard.press('Alt+1');
    assert.equal(await field(page).inputValue(), 'Suchen nach {typed}');
    await page.getByText(t('localization.check_fine')).waitFor();
    await page.keyboard.press('Control+Enter');
    await page.waitForFunction(() => document.querySelector('[data-testid=editor]').dataset.key !== 'app.palette_search');
    assert.equal((await messageOf(server, ada, 'app.palette_search')).pending.text, 'Suchen nach {typed}');
    await close();
  });

  it('keeps texts while the network is not there, and sends them once it is', async () => {
    const { page, context, go, close } = await person({ token: localization.translator });
    await go(desk('ns=notes'));
    const key = await opened(page);
    const { source } = await messageOf(server, ada, key);
    await context.setOffline(true);
    await field(page).fill(`Offline ${source}`);
    await page.keyboard.press('Control+Enter');
    await page.waitForFunction((last) => document.querySelector('[data-testid=editor]').dataset.key !== last, key);
    await page.getByTestId('unsent').getByText(t('localization.unsent', { n: 1 })).waitFor();
    await context.setOffline(false);
    await page.getByTestId('unsent').waitFor({ state: 'detached' });
    assert.equal((await messageOf(server, ada, key)).pending.text, `Offline ${source}`);
    await close();
  });

  it('tells when a message changed meanwhile, and loses neither text', async () => {
    const { page, go, close } = await person({ token: localization.translator });
    await go(desk('ns=ui&key=ui.retry'));
    await field(page).fill('Nochmal');
    await propose(server, ada, 'ui.retry', 'Erneut versuchen');
    await page.keyboard.press('Control+Enter');
    await page.getByTestId('conflict').getByText('Erneut versuchen').waitFor();
    assert.equal(await field(page).inputValue(), 'Nochmal');
    await page.getByRole('button', { name: t('localization.conflict_mine') }).click();
    await page.waitForFunction(() => document.querySelector('[data-testid=editor]').dataset.key !== 'ui.retry');
    assert.equal((await messageOf(server, ada, 'ui.retry')).pending.text, 'Nochmal');
    await close();
  });

  it('takes an earlier text out of the history and proposes it again', async () => {
    const { page, go, close } = await person({ token: localization.translator });
    await propose(server, localization.translator, 'ui.needed', 'Rückwärts');
    await propose(server, localization.translator, 'ui.needed', 'Zurücknehmen');
    await go(desk('ns=ui&key=ui.needed'));
    await page.getByText(t('localization.history'), { exact: true }).click();
    await page.getByTestId('history').getByRole('listitem').filter({ hasText: 'Rückwärts' }).getByRole('button', { name: t('localization.history_use') }).click();
    assert.equal(await field(page).inputValue(), 'Rückwärts');
    await page.keyboard.press('Control+Enter');
    await page.waitForFunction(() => document.querySelector('[data-testid=editor]').dataset.key !== 'ui.needed');
    assert.equal((await messageOf(server, ada, 'ui.needed')).pending.text, 'Rückwärts');
    await close();
  });

  it('sends a text back with a comment, which its translator reads', async () => {
    await propose(server, localization.translator, 'ui.done', 'Erledigt', 'es');
    const { page, go, close } = await person({ token: localization.reviewer });
    await go(`${ROOT}/review?locale=es`);
    for (let times = 0; times < 9 && (await page.getByTestId('review').getAttribute('data-key')) !== 'ui.done'; times++) await page.keyboard.press('j');
    await page.locator('[data-testid=review][data-key="ui.done"]').waitFor();
    await page.getByTestId('difference').locator('ins').getByText('Erledigt').waitFor();
    await page.keyboard.press('b');
    await page.getByLabel(t('localization.comment')).waitFor();
    await page.keyboard.type('This is German.');
    await page.keyboard.press('Control+Enter');
    await page.getByTestId('toast').getByText(t('localization.sent_back')).waitFor();
    await close();
    const translator = await person({ token: localization.translator });
    await translator.go(`${ROOT}/desk?locale=es&ns=ui&key=ui.done`);
    await translator.page.getByText('This is German.').waitFor();
    await translator.close();
  });

  it('offers no decision on one’s own text', async () => {
    await propose(server, ada, 'ui.refresh', 'Aktualisieren', 'nl');
    const { page, go, close } = await person();
    await go(`${ROOT}/review?locale=nl`);
    await page.getByText(t('localization.own')).waitFor();
    assert.equal(await page.getByRole('button', { name: t('localization.approve') }).count(), 0);
    await close();
  });
});

describe('pointing at a text of the console', () => {
  const es = wordsOf('es');
  const bar = (page) => page.getByRole('button', { name: es('app.point_leave') });
  const start = async (page) => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type(es('app.point'));
    await page.getByRole('option', { name: es('app.point'), exact: true, selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await bar(page).waitFor();
  };
  /** The open message; where a place has several, the one that is meant. */
  const arrives = async (page, key) => {
    const listed = page.getByTestId('pointed').getByText(key, { exact: true });
    const editor = page.locator(`[data-testid=editor][data-key="${key}"]`);
    await listed.or(editor).first().waitFor();
    if (await listed.count()) await listed.click();
    await editor.waitFor();
    assert.match(page.url(), /locale=es/);
    // The mode has ended: a click is a click again.
    await bar(page).waitFor({ state: 'detached' });
  };
  before(() => call(server, '/api/profile', { token: localization.translator, body: { locale: 'es' } }));
  after(() => call(server, '/api/profile', { token: localization.translator, body: { locale: 'en' } }));

  it('opens its message in the language on screen, by click and by key, and leaves the console usable', async () => {
    const { page, go, close } = await person({ token: localization.translator, locale: 'es' });
    const main = page.getByRole('main');
    const notes = page.getByRole('complementary').getByRole('link', { name: es('nav.notes'), exact: true });
    for (const [path, key, place] of [
      ['/settings', 'nav.profile', main.getByText(es('nav.profile')).first()],
      ['/', 'app.account_menu', page.getByRole('button', { name: new RegExp(es('app.account_menu')) }).first()],
      [`${ROOT}/desk?locale=es`, 'localization.search', page.getByPlaceholder(es('localization.search'))],
    ]) {
      await go(path);
      await place.waitFor();
      await start(page);
      await place.click();
      await arrives(page, key);
    }
    await go('/');
    await start(page);
    await notes.click({ modifiers: ['Alt'] });
    await page.waitForURL(/#\/notes/);
    await notes.focus();
    await page.keyboard.press('Alt+Enter');
    await arrives(page, 'nav.notes');
    await go('/');
    await start(page);
    await page.keyboard.press('Escape');
    await bar(page).waitFor({ state: 'detached' });
    await notes.click();
    await page.waitForURL(/#\/notes/);
    await close();
  });

  it('is for translators alone', async () => {
    const { page, go, close } = await person({ token: localization.reviewer });
    await go('/');
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: t('app.key_help') }).waitFor();
    assert.equal(await page.getByRole('option', { name: t('app.point') }).count(), 0);
    await close();
  });
});

describe('readable by everybody', () => {
  before(() => propose(server, localization.translator, 'ui.close', 'Schließen'));
  for (const locale of LOCALES.filter((one) => one !== 'en')) {
    it(`in ${locale}, on a phone too`, async () => {
      const words = wordsOf(locale);
      await call(server, '/api/profile', { token: ada, body: { locale } });
      const { page, go, close } = await person({ locale, width: 360 });
      try {
        for (const screen of localizationScreensOf({ localization }, words).filter(({ name }) => !name.endsWith('translator'))) {
          // Some screens are dialogs on the same address: each begins on a fresh page.
          await page.goto('about:blank');
          await go(screen.path);
          await screen.act(page);
          // Where writing scrolled to, the bar at the top covers half of a button.
          await page.evaluate(() => { scrollTo(0, 0); });
          if (FULL) await examineBoth(page, `${screen.name} ${locale}`);
          assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth), 0, screen.name);
        }
      } finally {
        await call(server, '/api/profile', { token: ada, body: { locale: 'en' } });
        await close();
      }
    });
  }

  it('from right to left in the pseudo-locale, too', async (run) => {
    const people = new Map();
    for (const token of [undefined, localization.translator, localization.reviewer]) people.set(token, await person({ ...(token && { token }), wrap: true }));
    const widths = FULL ? EVERY_WIDTH : [320, 1440];
    for (const screen of localizationScreensOf({ localization }, bracketedWords('en'))) {
      await run.test(screen.name, async () => {
        const one = people.get(screen.token);
        await visit(one, screen);
        assert.deepEqual(await one.page.evaluate(foreignText), []);
        await one.page.evaluate(takeBrackets);
        await one.page.evaluate(() => { document.documentElement.dir = 'rtl'; });
        assert.deepEqual(await misfits(one.page, widths), [], `${screen.name} mirrored`);
        if (FULL) await examineBoth(one.page, `${screen.name} mirrored`);
      });
    }
    for (const one of people.values()) await one.close();
  });
});
