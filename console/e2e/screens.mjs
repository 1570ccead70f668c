// Every screen, and a team that looks like one.
import { companyScreensOf, settle } from './company-screens.mjs';
import { fileScreensOf, stock } from './file-screens.mjs';
import { employ, jobScreensOf } from './job-screens.mjs';
import { knowledgeScreensOf, learn } from './knowledge-screens.mjs';
import { localizationScreensOf, localize } from './localization-screens.mjs';
import { onboardingScreensOf, welcome } from './onboarding-screens.mjs';
import { onceScreensOf } from './once-screens.mjs';
import { forSomebody } from './person-menu.mjs';
import { automate, workflowScreensOf } from './workflow-screens.mjs';
import { PASSWORD, call, found, join, put } from './world.mjs';

const NOTES = [
  ['Rotterdam handover', 'team', '# Berth 7, week 46\n\nThe *Hafrún* arrives **Tuesday 06:40**. Pilot is booked, customs is not.\n\n## Before she docks\n\n- [x] Book the pilot (VHF 14)\n- [x] Send the manifest to customs\n- [ ] Confirm the reefer plugs with Jeroen\n- [ ] Ask Reykjavík about the two late containers\n\n| Container | Temperature | For |\n| --- | --- | --- |\n| HAFU 220814 | −18 °C | Ísfélagið |\n| HAFU 220977 | +2 °C | Bloemenveiling |\n\n> If the fog stays, the tug goes first. Call **Marta**, not the office.\n\nThe checklist lives in `ops/berth-7.md`; [the tide table](https://example.org/tides) is printed beside the door.'],
  ['How we name lanes', 'team', 'Origin, destination, season: `RTM-REK-W`. Keep the season even when there is only one.'],
  ['Customs: who to call', 'team', '**Jeroen** for reefers, **Inés** for everything else. Never the general number after 17:00.'],
  ['Q4 rates, first draft', 'private', 'Fuel surcharge at 14 %. Hold until Marta has seen the Bilbao numbers.'],
  ['Fog protocol', 'team', '1. Tug first.\n2. Then the pilot.\n3. Then breakfast.'],
  ['Ideas for the yard', 'private', 'Paint the lanes. Move the reefer plugs closer to gate B.'],
  ['Bilbao visit', 'team', 'Meet Inés at the terminal at nine, bring the old drawings.'],
];
const PEOPLE = [['marta', 'Marta Vidal', 'admin'], ['jeroen', 'Jeroen de Wit', 'member'], ['sigrun', 'Sigrún Jónsdóttir', 'member'], ['ines', 'Inés Ortega', 'member'], ['tom', 'Tom Becker', 'viewer']];

export async function furnish(server) {
  const ada = await found(server);
  const people = [];
  for (const [username, name, role] of PEOPLE) people.push(await join(server, ada, username, name, role));
  await call(server, '/api/2fa/enable', { token: people[0].token, body: { password: 'correct horse battery' } });
  // Two-factor ends sessions, not tokens: by this one its screens are visited.
  const { token: marta } = await call(server, '/api/tokens', { token: people[0].token, body: { name: 'Berth planner', scope: ['notes:read'] } });
  // Before the automation, which leaves a run that waits for a worker.
  const knowledge = await learn(server, ada);
  const localization = await localize(server, ada);
  const automation = await automate(server, ada);
  const notes = [];
  for (const [title, visibility, body] of [...NOTES].reverse()) notes.unshift(await call(server, '/api/notes', { token: ada, body: { title, visibility, body } }));
  await call(server, '/api/notes', { token: people[2].token, body: { title: 'Winter tyres for the forklifts', visibility: 'team', body: 'Two sets arrived, the third is in Akureyri until Friday.' } });
  await call(server, `/api/notes/${notes[0].id}/share`, { token: ada, body: { user_id: people[1].id, permission: 'notes:write' } });
  await call(server, `/api/notes/${notes[0].id}`, { token: ada, method: 'PUT', body: { body: NOTES[0][2].replace('customs is not', 'customs by noon') } });
  await call(server, '/api/tokens', { token: ada, body: { name: 'Nightly backup', scope: ['notes:read', 'files:read'] } });
  await call(server, '/api/tokens', { token: ada, body: { name: 'Port community system', ttl: 'never', scope: ['notes:read', 'notes:write', 'files:read', 'files:write', 'search'] } });
  const ci = await call(server, '/api/tokens', { token: ada, body: { name: 'CI', ttl: 86_400 * 5 } });
  await call(server, '/api/whoami', { token: ci.token });
  for (const name of ['Terminal scanner', 'Laptop']) await call(server, '/api/s3/credentials', { token: people[3].token, body: { name } });
  const { id: contested } = await call(server, '/api/notes', { token: ada, body: { title: 'Watch list', visibility: 'private', body: 'Monday: quiet night.\nTuesday: fog until noon.' } });
  // Before the limits below are used up.
  for (const [term, translation, note] of [['berth', 'atraque', 'Where a ship lies.'], ['Hafrún', null, 'The name of a ship.']]) await call(server, '/api/glossary', { token: ada, body: { target: 'es', term, translation, note, case_sensitive: translation === null } });
  await call(server, '/api/translate', { token: ada, body: { text: 'The **Hafrún** leaves berth 7 at noon.', target: 'es', format: 'markdown' } });
  await settle(server, ada, people);
  await welcome(server, ada);
  const files = await stock(server, ada, people);
  await discard(server, ada, people);
  const jobs = await employ(server, ada);
  const said = [{ role: 'user', content: 'Which berth is free on Tuesday?' }, { role: 'assistant', content: '**Berth 7**, from 06:40 on.', usage: { prompt_tokens: 31, completion_tokens: 9, total_tokens: 40, exact: true } }];
  const conversation = { title: 'Which berth is free on Tuesday?', tainted: false, messages: said.map((one) => ({ ...one, at: new Date().toISOString() })) };
  const { id: chat } = await put(server, ada, 'chats/which-berth.json', JSON.stringify(conversation), 'application/vnd.atrium.chat+json');
  // Of a company that has tokens left. A model has read others' words here: what it does from now on is asked about.
  const { token: femke } = await call(server, '/api/login', { body: { username: 'femke', password: PASSWORD } });
  const tainted = { ...conversation, title: 'Berths in week 46', tainted: true };
  const { id: agent } = await put(server, femke, 'chats/berths.json', JSON.stringify(tainted), 'application/vnd.atrium.chat+json');
  return { chat, agent, femke, ada, marta, note: notes[0].id, contested, people, files, jobs, automation, knowledge, localization };
}

/** Something of every kind in the trash; one file's name was taken meanwhile. */
async function discard(server, ada, people) {
  const drop = (path, token) => call(server, path, { token, method: 'DELETE' });
  for (const [token, title] of [[ada, 'Pilots, old list'], [people[1].token, 'Crane hours']]) await drop(`/api/notes/${(await call(server, '/api/notes', { token, body: { title, visibility: 'team', body: 'Out of date.' } })).id}`, token);
  await drop(`/api/documents/${(await call(server, '/api/documents', { token: ada, body: { title: 'Handbook, first try', body: '# Draft', visibility: 'team' } })).id}`, ada);
  await drop(`/api/repo-obj/${(await put(server, ada, 'ports/gate-b.txt', 'Opens at eight.')).id}`, ada);
  await put(server, ada, 'ports/gate-b.txt', 'Opens at nine.');
}

let calls = 1;
/** A program saves the note while it is being edited by hand; every time something else, or there would be nothing to decide. */
const contest = (t) => async (page) => {
  await page.getByRole('button', { name: t('notes.write'), exact: true }).click();
  await page.locator('.cm-content').click();
  // Something unsaved first: a text that is saved would simply follow the program's.
  await page.keyboard.press('Control+End');
  await page.keyboard.type('\nWednesday: horn');
  await page.evaluate(async (times) => {
    const [, id] = location.hash.split('/notes/');
    const now = await (await fetch(`/api/notes/${id}`)).json();
    await fetch(`/api/notes/${id}`, { method: 'PUT', body: JSON.stringify({ body: `${now.body.split('\n').slice(0, 2).join('\n')}\nWednesday: the pilot called ${times} times.` }) });
  }, ++calls);
  await page.keyboard.type(' heard at four.');
  await page.getByRole('heading', { name: t('writing.conflict_title') }).waitFor();
  await page.locator('.cm-content').waitFor();
  await page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('atrium.draft')).forEach((key) => localStorage.removeItem(key)));
};

/** A task for the agent; without a model of its own the server calls the tool that the question names. */
async function useTools(t, page, task) {
  if (await page.getByTestId('approvals').count()) return;
  await page.getByRole('switch', { name: t('chat.use_tools') }).click();
  await page.getByLabel(t('chat.ask')).fill(task);
  await page.keyboard.press('Enter');
}

/** name, address, whether signed in or as whom, what to do before looking. */
export const screensOf = (team, t) => [
  { name: 'sign-in', path: '/sign-in', outside: true },
  { name: 'join', path: '/join', outside: true },
  { name: 'activate', path: '/activate', outside: true },
  { name: 'reset', path: '/reset', outside: true },
  { name: 'sign-in-forgot', path: '/sign-in', outside: true, act: (page) => page.getByText(t('signin.forgot')).click() },
  { name: 'home', path: '/' },
  { name: 'search', path: '/search' },
  { name: 'search-found', path: '/search?q=berth', act: (page) => page.locator('[data-row] mark').first().waitFor() },
  { name: 'search-none', path: '/search?q=zeppelin&kind=note', act: (page) => page.getByText(t('search.none_narrowed')).waitFor() },
  ...knowledgeScreensOf(team, t),
  { name: 'notes', path: '/notes' },
  { name: 'note-write', path: `/notes/${team.note}`, act: (page) => page.locator('.cm-content').waitFor() },
  { name: 'note-preview', path: `/notes/${team.note}`, act: async (page) => { await page.getByRole('button', { name: t('notes.preview') }).click(); await page.locator('.prose table').waitFor(); } },
  { name: 'note-share', path: `/notes/${team.note}`, act: async (page) => { await page.getByRole('button', { name: t('notes.share'), exact: true }).click(); await page.getByRole('dialog').getByText('Jeroen de Wit').first().waitFor(); } },
  { name: 'note-history', path: `/notes/${team.note}/history`, act: (page) => page.getByTestId('version').nth(1).waitFor() },
  { name: 'note-compare', path: `/notes/${team.note}/history`, act: async (page) => { await page.getByRole('button', { name: t('versions.compare_version', { n: 1 }), exact: true }).click(); await page.locator('[data-line=added]').first().waitFor(); } },
  ...fileScreensOf(team, t),
  { name: 'chat', path: '/chat', act: (page) => page.getByRole('heading', { name: t('chat.connect_title') }).waitFor() },
  { name: 'chat-conversation', path: `/chat/${team.chat}`, act: (page) => page.locator('[data-testid=message][data-role=assistant] p').first().waitFor() },
  { name: 'chat-json', path: `/chat/${team.chat}`, act: async (page) => { await page.getByRole('button', { name: t('chat.as_json') }).click(); await page.getByLabel(t('chat.schema')).fill('{"type": "object"}'); } },
  { name: 'agent-steps', path: '/chat', token: team.femke, act: async (page) => { await useTools(t, page, 'Use files_list to see what is there.'); await page.locator('[data-testid=call][data-status=ok] summary').first().click(); await page.locator('[data-testid=live]').waitFor({ state: 'detached' }); } },
  { name: 'agent-approval', path: `/chat/${team.agent}`, token: team.femke, act: async (page) => { await useTools(t, page, 'Write down with notes_create that berth 7 is free on Tuesday.'); await page.getByTestId('approvals').waitFor(); } },
  { name: 'chat-missing', path: '/chat/0197a0b0-0000-7000-8000-000000000000', act: (page) => page.getByText(t('chat.missing_body')).waitFor() },
  { name: 'translate', path: '/translate', act: async (page) => { await page.getByRole('button', { name: /leaves berth 7/ }).click(); await page.getByText(t('translate.simulated')).waitFor(); } },
  { name: 'translate-none', path: '/translate', token: team.people[3].token, act: (page) => page.getByText(t('translate.none_title')).waitFor() },
  { name: 'trash', path: '/trash' },
  { name: 'trash-none', path: '/trash', token: team.people[3].token },
  { name: 'trash-purge', path: '/trash', act: async (page) => { await page.getByRole('button', { name: t('trash.purge_name', { name: 'Pilots, old list' }) }).click(); await page.getByRole('dialog').waitFor(); } },
  { name: 'trash-taken', path: '/trash', act: async (page) => { await page.getByRole('button', { name: t('trash.restore_name', { name: 'gate-b.txt' }) }).click(); await page.getByRole('dialog').waitFor(); } },
  ...jobScreensOf(team, t),
  ...workflowScreensOf(team, t),
  { name: 'members', path: '/settings/members' },
  { name: 'member-role', path: '/settings/members', act: forSomebody(t, 'members.change_role') },
  { name: 'member-credentials', path: '/settings/members', act: async (page) => { await forSomebody(t, 'members.credentials')(page); await page.getByTestId('credential').first().waitFor(); } },
  { name: 'member-remove', path: '/settings/members', act: forSomebody(t, 'members.remove') },
  { name: 'member-add', path: '/settings/members/new' },
  { name: 'glossary', path: '/settings/glossary', act: (page) => page.getByText('atraque').waitFor() },
  { name: 'glossary-none', path: '/settings/glossary', act: async (page) => { await page.getByRole('searchbox').fill('nothing like it'); await page.getByText(t('glossary.no_match_title')).waitFor(); } },
  { name: 'glossary-add', path: '/settings/glossary', act: async (page) => { await page.getByRole('button', { name: t('glossary.add') }).click(); await page.getByRole('dialog').waitFor(); } },
  { name: 'tokens', path: '/settings/tokens' },
  { name: 'token-new', path: '/settings/tokens/new', act: async (page) => { await page.getByText(t('tokens.scope_some'), { exact: true }).click(); await page.getByLabel(t('tokens.life')).selectOption('never'); } },
  { name: 'features', path: '/settings/features' },
  { name: 'audit', path: '/settings/audit' },
  { name: 'instance', path: '/settings/instance' },
  { name: 'languages', path: '/settings/instance/languages' },
  ...localizationScreensOf(team, t),
  { name: 'plugins', path: '/settings/plugins' },
  { name: 'plugin-page', path: '/plugins/example-tools', act: (page) => page.locator('.word-counter textarea').waitFor() },
  { name: 'plugin-page-none', path: '/plugins/nothing', act: (page) => page.getByText(t('plugins.no_page_title')).waitFor() },
  ...companyScreensOf(t),
  ...onboardingScreensOf(team, t),
  { name: 'settings', path: '/settings' },
  { name: 'account-profile', path: '/settings/profile' },
  { name: 'account-security', path: '/settings/security' },
  { name: 'account-appearance', path: '/settings/appearance' },
  { name: 'palette', path: '/', act: async (page) => { await page.keyboard.press('Control+k'); await page.getByRole('option').first().waitFor(); } },
  { name: 'shortcuts', path: '/', act: async (page) => { await page.keyboard.press('?'); await page.getByRole('dialog').waitFor(); } },
  { name: 'note-conflict', path: `/notes/${team.contested}`, act: contest(t) },
  { name: 'curl', path: '/settings/members', act: async (page) => { await page.getByRole('button', { name: t('app.curl_open') }).click(); await page.getByRole('dialog').waitFor(); } },
];

/** The lasting screens first: what shows a secret once leaves one more of it behind. */
export const allScreensOf = (team, t) => [...screensOf(team, t), ...onceScreensOf(team, t)];
