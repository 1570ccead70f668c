// The screens of the sign-up form, and people who have filled it in.
import { pbkdf2Sync } from 'node:crypto';
import { call } from './world.mjs';

/** What a visitor's browser works out while they type, as ALTCHA's protocol (version 2) says. */
function solve({ parameters, signature }) {
  const { nonce, salt, cost, keyLength, keyPrefix } = parameters;
  for (let counter = 0; ; counter++) {
    const number = Buffer.alloc(4);
    number.writeUInt32BE(counter);
    const derivedKey = pbkdf2Sync(Buffer.concat([Buffer.from(nonce, 'hex'), number]), Buffer.from(salt, 'hex'), cost, keyLength, 'sha256').toString('hex');
    if (derivedKey.startsWith(keyPrefix)) return Buffer.from(JSON.stringify({ challenge: { parameters, signature }, solution: { counter, derivedKey, time: 1 } })).toString('base64');
  }
}

export async function signUp(server, fields, more = {}) {
  const proof = solve(await call(server, '/api/beta/challenge'));
  await call(server, '/api/beta/signup', { body: { fields: { terms: true, ...fields }, proof, locale: 'en', elapsed_ms: 40_000, ...more } });
}

/** Visitors who look, and people in every state; `SERVICE_BETA_PROOF_TRIES=1` makes it quick. */
export async function welcome(server, ada) {
  for (let visitor = 0; visitor < 9; visitor++) await call(server, '/api/beta/config');
  await signUp(server, { email: 'katrin@hafnarbakki.example', name: 'Katrín Ósk', company: 'Hafnarbakki ehf.', size: '11 to 50', why: 'Berth plans that the night shift reads too.\nToday they are on paper.' });
  await signUp(server, { email: 'katrin@hafnarbakki.example', name: 'Katrín Ósk', why: 'Did this arrive?' });
  await signUp(server, { email: 'win@mailinator.com', why: 'Cheap watches' }, { hp: 'yes', elapsed_ms: 400 });
  await signUp(server, { email: 'femke@westland.example', company: 'Bloemenveiling Westland', size: '2 to 10', why: 'Auction lists.' });
  await signUp(server, { email: 'xose@conservas.example', company: 'Conservas Ría' }, { locale: 'es' });
  const { items } = await call(server, '/api/beta/prospects', { token: ada });
  const decide = (name, body) => call(server, `/api/beta/prospects/${items.find(({ fields }) => fields.email.startsWith(name)).id}/decide`, { token: ada, body });
  await decide('femke', { decision: 'accept', note: 'Met at the fair in Aalsmeer.' });
  await decide('xose', { decision: 'decline' });
}

export const BOARD = '/settings/instance/sign-ups';
export const FORM = '/settings/instance/sign-up-form';
export const view = (name) => `${FORM}?view=${name}`;
export const prospect = (page, text) => page.getByTestId('prospect').filter({ hasText: text });
const opened = (name) => async (page) => {
  await prospect(page, name).locator('[data-row]').click();
  await page.getByTestId('verdict-gate').waitFor();
};
const asked = (t, name, kind) => async (page) => {
  await opened(name)(page);
  await page.getByTestId('prospect-detail').getByRole('button', { name: t(`onboarding.${kind}`) }).first().click();
  await page.getByRole('dialog').waitFor();
};

export const onboardingScreensOf = ({ people, femke }, t) => [
  { name: 'sign-ups', path: BOARD, act: opened('katrin') },
  { name: 'sign-ups-suspect', path: BOARD, act: opened('win@') },
  { name: 'sign-ups-decided', path: `${BOARD}?state=accepted`, act: opened('femke') },
  { name: 'sign-ups-no-match', path: `${BOARD}?q=zeppelin`, act: (page) => page.getByText(t('onboarding.no_match_title')).waitFor() },
  { name: 'sign-ups-elsewhere', path: BOARD, token: femke, act: (page) => page.getByText(t('onboarding.elsewhere_title')).waitFor() },
  { name: 'sign-ups-forbidden', path: BOARD, token: people[4].token },
  { name: 'sign-up-decline', path: BOARD, act: asked(t, 'win@', 'decline') },
  { name: 'sign-up-invite', path: BOARD, act: asked(t, 'katrin', 'invite') },
  { name: 'sign-up-form', path: FORM, act: (page) => page.getByTestId('form-field').first().waitFor() },
  { name: 'sign-up-form-look', path: view('look'), act: (page) => page.getByTestId('contrast-count').waitFor() },
  { name: 'sign-up-form-page', path: view('page'), act: (page) => page.getByRole('switch').click() },
  { name: 'sign-up-form-judge', path: view('judge'), act: (page) => page.getByLabel(t('onboarding.judge_prompt')).fill('Ports, and who works in them.') },
];
