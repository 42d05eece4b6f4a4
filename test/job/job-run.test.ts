import { expect } from 'vitest';
import { expectBody } from '../support/expect.ts';
import { createJob, createNotify, test } from './job-fixture.ts';

const RUN = '{ operation { status } result { runId success history { task { key } result { key success } } } }';

test('a run executes the actions in their order and returns the specified result', async ({ ann }) => {
  const job = await createJob(ann);
  const [first, second] = [await createNotify(ann, job, 'First'), await createNotify(ann, job, 'Second')];
  const { status, body } = await ann.post(job.path, {});
  expect(status).toBe(200);
  expect(body).toEqual({
    success: true,
    duration: expect.any(Number),
    history: [first, second].map((id) => ({
      task: { key: `action:${id}` },
      result: { key: `action:${id}`, success: true },
    })),
  });
  const { runJob } = await ann.data(`mutation ($id: ID!) { runJob(id: $id) ${RUN} }`, { id: job.id });
  expect(runJob.operation.status).toBe('SUCCEEDED');
  expect(runJob.result.history).toEqual(body.history);
  await expectBody(ann.get(`${job.path}/history`), 200, { count: 2 });
});
