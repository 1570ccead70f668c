// Files: dropped, carried up through bad weather, looked at, compared, brought back, shared, explained, deleted.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joined } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { call, closeAll, found, join, openBrowser, openLine, openPerson, openServer, PATIENCE, put, until } from './world.mjs';
import { LOCALES, wordsOf } from './words.mjs';

const t = wordsOf('en');
let browser, server, ada;
before(async () => {
  [browser, server] = await Promise.all([openBrowser(), openServer()]);
  ada = await found(server);
});
after(closeAll);

const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==', 'base64');
const PART = 8 * 1024 * 1024;
const button = (page, name) => page.getByRole('button', { name, exact: true });
const row = (page, name) => page.locator('tr', { has: page.locator('[data-row]', { hasText: name }) });
/** Large files are picked from the disk, as people do: as a buffer they go through the browser's control channel, which takes half a minute on a busy machine. */
const folder = mkdtempSync(joined(tmpdir(), 'atrium-files-'));
after(() => rmSync(folder, { recursive: true }));
const pick = (page, name, body) => {
  writeFileSync(joined(folder, name), body);
  return page.getByTestId('picker').first().setInputFiles(joined(folder, name));
};
const upload = (page, ...files) => page.getByTestId('picker').first().setInputFiles(files.map(([name, body, mimeType = 'text/plain']) => ({ name, mimeType, buffer: Buffer.from(body) })));
const arrived = (page, n = 1) => page.waitForFunction((wanted) => document.querySelectorAll('[data-testid=upload][data-state=done]').length === wanted, n);
const news = (page, text) => page.getByTestId('toast').getByText(text).waitFor();

/** A line of so many bytes a second upwards; -1 takes the brake off. */
async function throttleOf({ context, page }) {
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  return (uploadThroughput) => session.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput });
}

describe('the life of a file', () => {
  for (const locale of LOCALES) {
    it(`works in ${locale}`, async () => {
      const words = wordsOf(locale);
      const house = await openServer();
      const owner = await found(house);
      await call(house, '/api/profile', { token: owner, body: { locale } });
      const marta = await join(house, owner, 'marta', 'Marta Vidal');
      const person = await openPerson(browser, house, { locale, token: owner });
      const { page } = person;

      await person.go('/files');
      await page.getByText(words('files.none_title')).waitFor();
      await button(page, words('files.new_folder')).click();
      await page.getByLabel(words('files.folder_name')).fill('ports/rotterdam');
      await button(page, words('files.open_folder')).click();
      await page.getByText(words('files.none_here')).waitFor();
      await upload(page, ['berths.txt', 'berth 7\nfree\n']);
      await arrived(page);
      await upload(page, ['berths.txt', 'berth 7\ntaken\n']);
      await arrived(page, 2);
      await row(page, 'berths.txt').getByText(words('files.private')).waitFor();

      await page.getByRole('link', { name: 'berths.txt' }).click();
      await page.locator('pre', { hasText: 'taken' }).waitFor();
      await page.getByRole('tab', { name: words('files.view_versions') }).click();
      await button(page, words('versions.compare_version', { n: 1 })).click();
      await page.locator('[data-line=removed]', { hasText: 'free' }).waitFor();
      await page.locator('[data-line=added]', { hasText: 'taken' }).waitFor();
      await button(page, words('ui.done')).click();
      await button(page, words('versions.restore_version', { n: 1 })).click();
      await page.getByRole('dialog').getByRole('button', { name: words('versions.restore'), exact: true }).click();
      await news(page, words('versions.restored', { n: 1, now: 3 }));
      assert.equal(await (await fetch(`${house.address}/api/repo-obj/${page.url().split('/files/')[1].split('?')[0]}/content`, { headers: { authorization: `Bearer ${owner}` } })).text(), 'berth 7\nfree\n');

      await button(page, words('files.share')).click();
      await page.getByLabel(words('files.share_whom')).selectOption({ label: 'Marta Vidal' });
      await page.getByLabel(words('files.share_level')).selectOption('edit');
      await page.getByLabel(words('files.share_until')).selectOption('week');
      await page.getByRole('dialog').getByRole('button', { name: words('files.share'), exact: true }).click();
      await news(page, words('files.shared_with', { name: 'Marta Vidal' }));
      await page.getByTestId('grant').getByText(words('files.can_edit')).waitFor();
      await page.getByText(words('files.why')).click();
      await page.getByLabel(words('files.why_who')).selectOption({ label: 'Marta Vidal' });
      await page.getByTestId('why').getByText(words('files.why_yes', { name: 'Marta Vidal' })).waitFor();
      await page.getByTestId('why').getByText(words('files.because_user', { level: words('files.can_edit') })).waitFor();

      const reader = await openPerson(browser, house, { token: marta.token });
      await reader.go('/shared');
      await reader.page.getByRole('link', { name: 'ports/rotterdam/berths.txt' }).click();
      await reader.page.getByText('berth 7').waitFor();
      await button(page, words('files.withdraw', { name: 'Marta Vidal' })).click();
      await news(page, words('files.unshared_with', { name: 'Marta Vidal' }));
      await button(page, words('ui.done')).click();
      await reader.page.reload();
      await reader.page.getByText(t('files.missing_body')).waitFor();

      await button(page, words('files.delete')).click();
      await news(page, words('trash.moved', { name: 'berths.txt' }));
      await page.getByText(words('files.none_here')).waitFor();
      for (const one of [person, reader]) await one.close();
      await house.close();
    });
  }
});

describe('uploads', () => {
  it('start again by themselves after the connection drops, and make one version', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/files?at=weather/');
    let drops = 2;
    await page.route('**/api/repo/weather/**', (route) => (drops-- > 0 ? route.abort('connectionreset') : route.continue()));
    await upload(page, ['storm.txt', 'x'.repeat(200_000)]);
    await page.locator('[data-testid=upload][data-state=waiting]').waitFor();
    await arrived(page);

    const { items } = await call(server, '/api/repo?prefix=weather/', { token: ada });
    assert.deepEqual(items.map((one) => [one.key, one.size, one.version.number]), [['weather/storm.txt', 200_000, 1]]);
    await person.close();
  });

  it('make no second version when only the answer was lost', async () => {
    const person = await openPerson(browser, server, { token: ada });
    await person.go('/files?at=lost/');
    let lost = false;
    await person.page.route('**/api/repo/lost/**', async (route) => {
      if (lost) return route.continue();
      lost = true;
      await route.fetch({ timeout: PATIENCE });
      return route.abort('connectionreset');
    });
    await upload(person.page, ['answer.txt', 'forty-two']);
    await arrived(person.page);

    const { items } = await call(server, '/api/repo?prefix=lost/', { token: ada });
    assert.deepEqual(items.map((one) => one.version.number), [1]);
    await person.close();
  });

  it('show their progress side by side, and a cancelled one leaves nothing', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    const speed = await throttleOf(person);
    await person.go('/files?at=slow/');
    await speed(150_000);
    await upload(page, ...['one.bin', 'two.bin', 'three.bin', 'four.bin'].map((name) => [name, 'x'.repeat(600_000)]));
    await page.locator('[data-testid=upload][data-state=sending]').nth(2).waitFor();
    await page.locator('[data-testid=upload][data-state=queued]', { hasText: 'four.bin' }).waitFor();
    await page.waitForFunction(() => [...document.querySelectorAll('[data-testid=upload] progress')].some((bar) => bar.value > 0 && bar.value < bar.max));
    await button(page, t('files.cancel_name', { name: 'two.bin' })).click();
    await page.locator('[data-testid=upload]', { hasText: 'two.bin' }).waitFor({ state: 'detached' });
    await page.locator('[data-testid=upload][data-state=sending]', { hasText: 'four.bin' }).waitFor();
    await speed(-1);
    await arrived(page, 3);

    const { items } = await call(server, '/api/repo?prefix=slow/', { token: ada });
    assert.deepEqual(items.map((one) => one.key), ['slow/four.bin', 'slow/one.bin', 'slow/three.bin']);
    await person.close();
  });

  it('begin again when the line is cut in the middle of a file', async () => {
    const line = await openLine(server);
    const person = await openPerson(browser, line, { token: ada });
    const { page } = person;
    const speed = await throttleOf(person);
    await person.go('/files?at=tunnel/');
    await speed(300_000);
    await upload(page, ['train.bin', 'x'.repeat(1_500_000)]);
    await page.waitForFunction(() => document.querySelector('[data-testid=upload] progress')?.value > 100_000);
    line.cut();
    await page.locator('[data-testid=upload][data-state=waiting]').waitFor();
    line.mend();
    await speed(-1);
    await arrived(page);

    const { items } = await call(server, '/api/repo?prefix=tunnel/', { token: ada });
    assert.deepEqual(items.map((one) => [one.size, one.version.number]), [[1_500_000, 1]]);
    await person.close();
    line.close();
  });

  it('of large files go on where they stopped: a part that arrived is never sent again', async () => {
    const line = await openLine(server);
    const person = await openPerson(browser, line, { token: ada });
    const { page } = person;
    const speed = await throttleOf(person);
    await person.go('/files?at=films/');
    await page.getByLabel(t('files.new_are')).selectOption('team');
    const sent = [];
    page.on('request', (request) => sent.push(/partNumber=(\d+)/.exec(request.url())?.[1]));
    await speed(10_000_000);
    const film = randomBytes(3 * PART + 12_345);
    // The second part is under way once the first has arrived.
    const next = page.waitForRequest(/partNumber=2/);
    await pick(page, 'film.mp4', film);
    await next;
    line.cut();
    await page.locator('[data-testid=upload][data-state=waiting]', { hasText: t('files.state_resuming', { n: 0 }).split(';')[0] }).waitFor();
    const [arrivedBefore, ...underWay] = [...new Set(sent.filter(Boolean))];
    line.mend();
    await speed(-1);
    await arrived(page);

    const again = sent.filter(Boolean).filter((part, at, all) => all.indexOf(part) !== at);
    assert.equal(arrivedBefore, '1');
    assert.deepEqual([...new Set(again)], underWay.slice(-1), 'only the part under way goes once more');
    const { items } = await call(server, '/api/repo?prefix=films/', { token: ada });
    assert.deepEqual(items.map((one) => [one.size, one.version.number, one.visibility, one.version.content_type]), [[film.length, 1, 'team', 'video/mp4']]);
    const kept = await fetch(`${server.address}/api/repo-obj/${items[0].id}/content`, { headers: { authorization: `Bearer ${ada}` } });
    assert.ok(film.equals(Buffer.from(await kept.arrayBuffer())), 'other bytes than were sent');
    await person.close();
    line.close();
  });

  it('of large files make no second version when only the last answer was lost', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await put(server, ada, 'reels/two.mp4', 'the first take');
    await person.go('/files?at=reels/');
    let lost = false;
    await page.route(/\/s3\/files\/reels\/two\.mp4\?uploadId=/, async (route) => {
      if (lost || route.request().method() !== 'POST') return route.continue();
      lost = true;
      await route.fetch({ timeout: PATIENCE });
      return route.abort('connectionreset');
    });
    await pick(page, 'two.mp4', randomBytes(2 * PART + 1));
    await arrived(page);

    const { items } = await call(server, '/api/repo?prefix=reels/', { token: ada });
    assert.deepEqual(items.map((one) => [one.size, one.version.number, one.visibility]), [[2 * PART + 1, 2, 'private']]);
    await person.close();
  });

  it('of large files that are cancelled leave no part behind', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    const speed = await throttleOf(person);
    await person.go('/files?at=cancelled/');
    await speed(8_000_000);
    await pick(page, 'reel.mp4', randomBytes(3 * PART));
    await page.waitForFunction((part) => document.querySelector('[data-testid=upload] progress')?.value >= part, PART);
    const [ended] = await Promise.all([page.waitForResponse((answer) => answer.request().method() === 'DELETE'), button(page, t('files.cancel_name', { name: 'reel.mp4' })).click()]);

    assert.equal(ended.status(), 204);
    const open = await (await fetch(`${server.address}/s3/files?uploads&prefix=cancelled/`, { headers: { authorization: `Bearer ${ada}` } })).text();
    assert.doesNotMatch(open, /<UploadId>/);
    await person.close();
  });

  it('take what is dropped anywhere, and say where it goes', async () => {
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/files?at=dropped/');
    await page.getByLabel(t('files.new_are')).selectOption('team');
    const drag = (type) => page.evaluate((name) => {
      const data = new DataTransfer();
      data.items.add(new File(['hello'], 'jól 100%+.txt', { type: 'text/plain' }));
      document.body.dispatchEvent(new DragEvent(name, { dataTransfer: data, bubbles: true, cancelable: true }));
    }, type);
    await drag('dragover');
    await page.getByTestId('veil').getByText('/dropped/').waitFor();
    await drag('drop');
    await arrived(page);
    await page.getByTestId('veil').waitFor({ state: 'detached' });

    const { items } = await call(server, '/api/repo?prefix=dropped/', { token: ada });
    assert.deepEqual(items.map((one) => [one.key, one.visibility, one.filename]), [['dropped/jól 100%+.txt', 'team', 'jól 100%+.txt']]);
    await person.close();
  });

  it('that the server refuses say why', async () => {
    const person = await openPerson(browser, server, { token: ada });
    await call(server, '/api/quota', { token: ada, body: { dimension: 'storage.bytes', window: 'total', limit: 1 } });
    try {
      await person.go('/files?at=full/');
      await upload(person.page, ['big.txt', 'more than one byte']);
      await person.page.locator('[data-testid=upload][data-state=refused]').getByText(t('errors.limit_storage')).waitFor();
    } finally {
      await call(server, '/api/quota', { token: ada, body: { dimension: 'storage.bytes', window: 'total', limit: null } });
    }
    await person.page.getByRole('button', { name: t('files.retry_name', { name: 'big.txt' }) }).click();
    await arrived(person.page);
    await person.close();
  });
});

describe('a folder', () => {
  it('has a way up, more on request, and finds and sorts names', async () => {
    for (let n = 0; n < 60; n++) await put(server, ada, `many/file-${String(n).padStart(2, '0')}.txt`, 'x');
    await put(server, ada, 'many/inner/deep.txt', 'x');
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/files?at=many/');
    assert.equal(await page.locator('[data-row]').count(), 50);
    await button(page, t('ui.more')).click();
    await page.waitForFunction(() => document.querySelectorAll('[data-row]').length === 61);

    await page.getByLabel(t('files.search')).fill('file-1');
    await page.waitForURL(/q=file-1/);
    await page.waitForFunction(() => document.querySelectorAll('[data-row]').length === 10);
    await page.getByLabel(t('files.search')).fill('E-5');
    await page.waitForURL(/q=E-5/);
    await page.waitForFunction(() => document.querySelectorAll('[data-row]').length === 10);
    await page.getByLabel(t('files.search')).fill('zzz');
    await page.getByText(t('files.none_found_body', { q: 'zzz' })).waitFor();
    await page.getByLabel(t('files.search')).fill('');
    await page.getByRole('link', { name: 'inner' }).waitFor();
    await button(page, t('files.changed')).press('Enter');
    await page.waitForURL(/order=updated/);
    await page.getByRole('columnheader', { name: t('files.changed') }).and(page.locator('[aria-sort=descending]')).waitFor();
    await page.waitForFunction(() => document.querySelectorAll('[data-row]')[1]?.textContent.startsWith('file-59'));
    await button(page, t('files.changed')).press('Enter');
    await page.waitForURL(/dir=asc/);
    await page.waitForFunction(() => document.querySelectorAll('[data-row]')[1]?.textContent.startsWith('file-00'));
    await page.getByRole('link', { name: 'inner' }).click();
    await page.getByRole('link', { name: 'deep.txt' }).click();
    await page.getByRole('navigation', { name: t('files.trail') }).getByRole('link', { name: 'many' }).click();
    await page.getByRole('link', { name: 'inner' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'deep.txt' }).waitFor();
    await person.close();
  });

  it('is shut to people without the permission, and read-only to viewers', async () => {
    const tom = await join(server, ada, 'tom', 'Tom Becker', 'viewer');
    const person = await openPerson(browser, server, { token: tom.token });
    await person.go('/files');

    assert.equal(await button(person.page, t('files.upload')).count(), 0);
    await person.close();
  });
});

describe('a file', () => {
  it('that is a picture is shown, and saved under its name', async () => {
    const { id } = await put(server, ada, 'pictures/dot.png', PIXEL, 'image/png');
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go(`/files/${id}`);
    await page.waitForFunction(() => document.querySelector('main img')?.naturalWidth === 1);

    const [saved] = await Promise.all([page.waitForEvent('download'), button(page, t('files.download')).click()]);
    assert.equal(saved.suggestedFilename(), 'dot.png');
    assert.deepEqual(readFileSync(await saved.path()), PIXEL);
    await person.close();
  });

  it('that is a PDF is shown in a frame, read with the person’s own credential', async () => {
    const { id } = await put(server, ada, 'papers/bill.pdf', '%PDF-1.4\n%%EOF', 'application/pdf');
    const person = await openPerson(browser, server, { token: ada });
    const [shown] = await Promise.all([person.page.waitForResponse((answer) => answer.url().includes(`/api/repo-obj/${id}/content`)), person.go(`/files/${id}`)]);

    assert.equal(shown.status(), 200);
    assert.equal(shown.headers()['content-type'], 'application/pdf');
    await person.page.getByTitle(t('files.pdf_of', { name: 'bill.pdf' })).waitFor();
    await person.close();
  });

  it('that could run something is only ever text', async () => {
    const { id } = await put(server, ada, 'pages/evil.html', '<script>window.__errors.push("ran")</script>', 'text/html');
    const person = await openPerson(browser, server, { token: ada });
    await person.go(`/files/${id}`);
    await person.page.locator('pre', { hasText: '<script>' }).waitFor();
    await person.close();
  });

  it('tells what was read out of it, and where it came from', async () => {
    const { id } = await put(server, ada, 'texts/letter.txt', 'Dear harbour master', 'text/plain');
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await until('its text is read', async () => (await call(server, `/api/repo-obj/${id}`, { token: ada })).text.state === 'done');
    await person.go(`/files/${id}?view=text`);
    await page.locator('pre', { hasText: 'Dear harbour master' }).waitFor();
    await page.keyboard.press('Tab');
    await page.getByRole('tab', { name: t('files.view_processing') }).click();
    await page.getByText(t('files.processing_none_body')).waitFor();
    await person.close();
  });

  it('becomes private only after a question, and its shares end', async () => {
    const grace = await join(server, ada, 'grace', 'Grace Hopper');
    const { id } = await put(server, ada, 'plans/winter.txt', 'snow');
    await call(server, `/api/repo-obj/${id}/share`, { token: ada, body: { user_id: grace.id } });
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go(`/files/${id}`);
    await button(page, t('files.shared')).click();
    await page.getByRole('menuitem', { name: t('files.private') }).click();
    await page.getByRole('dialog').getByRole('button', { name: t('files.private_do') }).click();
    await news(page, t('files.now_private'));

    assert.deepEqual((await call(server, `/api/repo-obj/${id}/grants`, { token: ada })).items, []);
    await person.close();
  });
});
