import { reasonsFor, seesIt, type Grant, type Person } from './why';

const jo: Person = { id: 'jo', team_id: 'ops', role: 'member', org_role: null };
const file = (visibility: 'private' | 'team' | 'shared') => ({ owner_id: 'ada', team_id: 'ops', visibility });
const grant = (principal_id: string, expired = false) => ({ principal_id, expired, capability: 'view' }) as Grant;
const whys = (person: Person, visibility: 'private' | 'team' | 'shared', grants: Grant[] = []) =>
  reasonsFor(person, file(visibility), grants, 'org').map((reason) => reason.why);

test('an owner sees their own', () => expect(whys({ ...jo, id: 'ada' }, 'private')).toEqual(['owner']));
test('a teammate sees what is the team’s, a worker does not', () => {
  expect(whys(jo, 'team')).toEqual(['their_team']);
  expect(whys({ ...jo, role: 'worker' }, 'team')).toEqual([]);
});
test('a role in the company reads every team’s', () =>
  expect(whys({ ...jo, team_id: 'finance', org_role: 'org_reader' }, 'team')).toEqual(['company_role']));
test('a share reaches by person, team and company', () =>
  expect(whys(jo, 'shared', [grant('jo'), grant('ops'), grant('org'), grant('finance')])).toEqual(['grant', 'grant', 'grant']));
test('a share that ended explains and opens nothing', () => {
  const reasons = reasonsFor(jo, file('shared'), [grant('jo', true)], 'org');

  expect(reasons.map((reason) => reason.why)).toEqual(['ended']);
  expect(seesIt(reasons)).toBe(false);
});
test('a private file has no reason for anybody else', () => expect(whys(jo, 'private')).toEqual([]));
