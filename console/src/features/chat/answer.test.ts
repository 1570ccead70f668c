import { NOTHING, isOver, withEvent, type Answer } from './answer';

const hear = (...events: [string, object][]): Answer =>
  events.reduce((answer, [type, data]) => withEvent(answer, { id: '', type, data: JSON.stringify(data) }), NOTHING);
const CALL = { call: 'c1', name: 'notes_list', arguments: { q: 'x' }, effect: 'read' };
const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, exact: true };

test('what is said before a call is a step, and what is said last is the answer', () => {
  const answer = hear(
    ['start', { id: 't1', conversation: 'o1' }],
    ['delta', { text: 'Let me ' }],
    ['delta', { text: 'look. ' }],
    ['tool_call', CALL],
    ['tool_result', { call: 'c1', status: 'ok', text: 'found' }],
    ['delta', { text: 'One note.' }],
    ['done', { text: 'One note.', finish: 'stop', usage: USAGE, stop: 'answer', steps: [], approvals: [], tainted: true }],
  );

  expect(answer.steps).toEqual([{ said: 'Let me look.' }, { ...CALL, status: 'ok', result: 'found', artifact: null }]);
  expect([answer.text, answer.stop, answer.conversation, isOver(answer)]).toEqual(['One note.', 'answer', 'o1', true]);
});

test('a run that waits is not over, and its calls say that they wait', () => {
  const asked = { ...CALL, name: 'notes_create', effect: 'write' };
  const last = { text: '', finish: 'stop', usage: USAGE, stop: 'approval', steps: [{ ...asked, status: 'needs_approval', result: '' }] };
  const approvals = [{ ...asked, words: [], digest: 'd' }];
  const answer = hear(['start', { id: 't1' }], ['tool_call', asked], ['done', { ...last, approvals }]);

  expect([answer.state, answer.approvals.length, isOver(answer)]).toEqual(['waiting', 1, false]);
  expect(answer.steps).toMatchObject([{ status: 'needs_approval' }]);
});

test('a stream that was taken up in the middle has every call at its end', () => {
  const steps = [{ ...CALL, status: 'ok', result: 'found' }, { ...CALL, call: 'c2', status: 'rejected', result: 'declined' }];
  const answer = hear(
    ['start', { id: 't1' }],
    ['tool_call', { ...CALL, call: 'c2' }],
    ['done', { text: 'Then not.', finish: 'stop', usage: USAGE, stop: 'answer', steps, approvals: [] }],
  );

  expect(answer.steps).toMatchObject(steps);
});

test('a quota that ends a run, and an error, are told with their code', () => {
  const refusal = { code: 'quotas.exceeded' };
  const quota = hear(['done', { text: '', finish: null, usage: USAGE, stop: 'quota', refusal, approvals: [] }]);
  const failed = hear(['error', { code: 'models.unavailable', status: 502, text: 'half', usage: USAGE }]);

  expect(quota.refusal?.code).toBe('quotas.exceeded');
  expect([failed.state, failed.error?.code, failed.text]).toEqual(['failed', 'models.unavailable', 'half']);
});
