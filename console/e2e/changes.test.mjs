// What a colleague does shows without a reload, and all tabs of a browser share one stream.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { call, closeAll, found, join, openBrowser, openPerson, openServer } from './world.mjs';
import { wordsOf } from './words.mjs';

const t = wordsOf('en');
let browser, server, ada, grace;
before(async () => {
  [browser, server] = await Promise.all([openBrowser(), openServer()]);
  ada = await found(server);
  grace = (await join(server, ada, 'grace', 'Grace Hopper')).token;
});
after(closeAll);

const makeNote = (title) => call(server, '/api/notes', { token: ada, body: { title, body: 'first', visibility: 'team' } });
const opened = (page) => page.waitForRequest((request) => request.url().endsWith('/api/changes'));

describe('changes of others', () => {
  it('shows what a colleague saved, in the list and in the open note', async () => {
    const note = await makeNote('Tide table');
    const reader = await openPerson(browser, server, { token: grace });
    await Promise.all([opened(reader.page), reader.go(`/notes/${note.id}`)]);
    await reader.page.getByLabel(t('notes.body'), { exact: true }).waitFor();

    await call(server, `/api/notes/${note.id}`, { token: ada, method: 'PUT', body: { title: 'Tide table of May', body: 'second' } });
    await makeNote('Fog signals');

    await reader.page.getByText('second').first().waitFor();
    await reader.page.getByText('Tide table of May').first().waitFor();
    await reader.page.getByText('Fog signals').first().waitFor();
    await reader.close();
  });

  it('opens one stream for two tabs, and the second goes on when the first closes', async () => {
    const note = await makeNote('Two tabs');
    const person = await openPerson(browser, server, { token: grace });
    const streams = [];
    person.context.on('request', (request) => { if (request.url().endsWith('/api/changes')) streams.push(request); });
    await Promise.all([opened(person.page), person.go('/notes')]);
    const second = await person.context.newPage();
    await second.goto(`${server.address}/#/notes/${note.id}`);
    await second.getByLabel(t('notes.body'), { exact: true }).waitFor();
    assert.equal(streams.length, 1);

    await Promise.all([second.waitForRequest((request) => request.url().endsWith('/api/changes')), person.page.close()]);
    await call(server, `/api/notes/${note.id}`, { token: ada, method: 'PUT', body: { body: 'heard by the second' } });

    await second.getByText('heard by the second').first().waitFor();
    await person.close();
  });
});
