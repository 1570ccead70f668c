// The screens of jobs and executors, and a team with work in every state.
import { call } from './world.mjs';

export const COUNT = 'x.example-tools.word-count';
export const REPORT = 'x.integrator-demo.lane-report';

/** Jobs that wait for one reason or another, run, are done, failed and cancelled; a worker that was here, one that never was. */
export async function employ(server, ada) {
  const executor = (name, more = {}) => call(server, '/api/executors', { token: ada, body: { name, mode: 'pull', ...more } });
  const { worker_token: worker } = await executor('reports', { capabilities: [REPORT] });
  await executor('gpu-1', { model: 'llama-3.1-8b-instruct' });
  await call(server, '/api/org/executors', { token: ada, body: { name: 'terminal-bilbao', mode: 'pull' } });
  const enqueue = (kind, input, more = {}) => call(server, '/api/jobs', { token: ada, body: { kind, input, ...more } });
  const claim = () => call(server, '/api/workers/claim', { token: worker, body: { kinds: [REPORT], max_wait: 10 } });
  const tell = ({ job, claim_token }, word, more) => call(server, `/api/workers/jobs/${job.id}/${word}`, { token: worker, body: { claim_token, ...more } });

  const done = await enqueue(REPORT, { lane: 'ROT-SIN' });
  await tell(await claim(), 'complete', { result: { lane: 'ROT-SIN', shipments: 41, on_time: 0.93, remarks: 'Two late at Suez.' } });
  await enqueue(REPORT, { lane: 'LIS-REK' });
  const failed = await claim();
  await tell(failed, 'fail', { error: 'the weighbridge does not answer' });
  const cancelled = await enqueue(COUNT, { text: 'never mind' });
  await call(server, `/api/jobs/${cancelled.id}/cancel`, { token: ada, method: 'POST' });
  await enqueue(REPORT, { lane: 'REK-AMS' });
  await claim();
  await enqueue(COUNT, { text: 'Tuesday’s manifest' }, { run_at: new Date(Date.now() + 5 * 3_600_000).toISOString() });
  const waiting = await enqueue(COUNT, { text: 'The tug goes first, then the pilot, then breakfast.' });
  return { done: done.id, failed: failed.job.id, waiting: waiting.id };
}

export const jobScreensOf = ({ jobs }, t) => [
  { name: 'jobs', path: '/jobs', act: (page) => page.getByTestId('queue-now').nth(1).waitFor() },
  { name: 'jobs-none-of-state', path: '/jobs?state=failed', act: (page) => page.getByText(t('jobs.none_of_state_body')).or(page.getByTestId('job').first()).waitFor() },
  { name: 'job-try', path: '/jobs/try' },
  { name: 'job-done', path: `/jobs/${jobs.done}`, act: (page) => page.getByRole('heading', { name: t('jobs.result') }).waitFor() },
  { name: 'job-waiting', path: `/jobs/${jobs.waiting}` },
  { name: 'job-cancel', path: `/jobs/${jobs.waiting}`, act: async (page) => { await page.getByRole('button', { name: t('jobs.cancel'), exact: true }).click(); await page.getByRole('dialog').waitFor(); } },
  { name: 'executors', path: '/settings/executors' },
  { name: 'instance-executors', path: '/settings/instance/executors' },
  { name: 'models', path: '/settings/models', act: (page) => page.getByLabel(t('executors.role_utility')).waitFor() },
  { name: 'executor-new', path: '/settings/executors/new', act: (page) => page.getByText(t('executors.mode_push'), { exact: true }).click() },
];
