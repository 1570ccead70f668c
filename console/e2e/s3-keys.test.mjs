// S3 keys: made, shown once, used by real clients exactly as the screen says, revoked.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as pathOf } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { call, closeAll, confirm, found, openBrowser, openPerson, openServer, put } from './world.mjs';
import { LOCALES, wordsOf } from './words.mjs';

const run = promisify(execFile);
const python = process.env.PYTHON ?? fileURLToPath(new URL('../../.venv/bin/python', import.meta.url));
let browser, home;
before(async () => {
  browser = await openBrowser();
  home = mkdtempSync(pathOf(tmpdir(), 'atrium-s3-'));
});
after(async () => {
  rmSync(home, { recursive: true, force: true });
  await closeAll();
});

const button = (page, name) => page.getByRole('button', { name, exact: true });
const installed = (program) => run('which', [program]).then(() => true, () => false);

/** A machine that knows nothing of S3 yet. */
const fresh = () => ({ env: { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('AWS_'))), HOME: home } });

/** What the screen says, done as it says; every client on this machine, boto3 always. */
const USES = {
  boto3: (text) => run(python, ['-c', text], fresh()),
  'aws-cli': (text) => run('bash', ['-ec', text], fresh()),
  rclone: (text) => run('bash', ['-ec', text], fresh()),
  s3cmd: (text) => {
    writeFileSync(pathOf(home, '.s3cfg'), text);
    return run('bash', ['-ec', /then: (.*)/.exec(text)[1]], fresh());
  },
};
const PROGRAMS = { 'aws-cli': 'aws', rclone: 'rclone', s3cmd: 's3cmd' };

async function issue(page, t, name) {
  await page.getByRole('link', { name: t('nav.new_s3_key') }).first().click();
  await page.getByLabel(t('s3.name')).fill(name);
  await confirm(page);
  await button(page, t('s3.create')).click();
  await page.getByTestId('secret').nth(1).waitFor();
  const [id, secret] = await page.getByTestId('secret').allInnerTexts();
  return { id, secret };
}

describe('an S3 key', () => {
  for (const locale of LOCALES) {
    it(`is made, shown once and revoked in ${locale}`, async () => {
      const t = wordsOf(locale);
      const server = await openServer();
      const ada = await found(server);
      await call(server, '/api/profile', { token: ada, body: { locale } });
      const person = await openPerson(browser, server, { locale, token: ada });
      const { page } = person;
      await person.go('/settings/s3-keys');
      await page.getByText(t('s3.none_title')).waitFor();

      const { id, secret } = await issue(page, t, 'laptop');
      await page.getByText(t('s3.once')).waitFor();
      await button(page, 'boto3').last().click();
      const text = await page.getByRole('dialog').getByTestId('setup').innerText();
      await USES.boto3(text);
      await page.getByRole('dialog').getByRole('button', { name: 's3cmd', exact: true }).click();
      const { hostname, port } = new URL(server.address);
      await page.getByRole('dialog').getByTestId('setup').getByText(`host_base = ${hostname}:${port}`).waitFor();
      await button(page, t('s3.kept')).click();
      await page.getByText(id).first().waitFor();
      assert.ok(!(await page.content()).includes(secret), 'the secret is still on the page');

      await button(page, t('s3.revoke_name', { name: 'laptop' })).click();
      await page.getByRole('dialog').getByRole('button', { name: t('s3.revoke'), exact: true }).click();
      await page.getByTestId('toast').getByText(t('s3.revoked', { name: 'laptop' })).waitFor();
      await assert.rejects(USES.boto3(text), /InvalidAccessKeyId|403|Forbidden/);
      await person.close();
      await server.close();
    });
  }

  it('works in every client just as the screen says', async (test) => {
    const t = wordsOf('en');
    const server = await openServer();
    const ada = await found(server);
    await put(server, ada, 'proof.txt', 'here I am');
    const person = await openPerson(browser, server, { token: ada });
    const { page } = person;
    await person.go('/settings/s3-keys');
    await issue(page, t, 'clients');
    for (const client of Object.keys(PROGRAMS)) {
      await page.getByRole('dialog').getByRole('button', { name: client, exact: true }).click();
      const text = await page.getByRole('dialog').getByTestId('setup').innerText();
      await test.test(client, { skip: !(await installed(PROGRAMS[client])) && 'not on this machine' }, async () => {
        const { stdout } = await USES[client](text);
        assert.match(stdout, /proof\.txt/);
      });
    }
    await person.close();
    await server.close();
  });
});
