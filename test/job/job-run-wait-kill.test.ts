import { expect } from 'vitest';
import { eventually } from '../operation/fixture.ts';
import { startListener } from '../outbound/listener.ts';
import { expectBody, expectStatus } from '../support/expect.ts';
import { test } from './job-cluster.ts';
import { createJob } from './job-fixture.ts';
import { latestRun } from './job-run-fixture.ts';
import { lateRun, makeDue } from './job-wait-fixture.ts';
import { urlOf } from './webhook-fixture.ts';

test('a run that waits for its next attempt survives a killed worker, and another one continues it', async ({
  cluster,
}) => {
  const { caller, startWorker, onEnd, databaseUrl } = cluster;
  const receiver = await startListener('127.0.0.1');
  onEnd(() => receiver.close());
  receiver.respond = (_request, response) => void response.writeHead(500).end();
  const job = await createJob(caller);
  const data = { url: urlOf(receiver), retry: { times: 1, delay: 3_600_000 } };
  await caller.creates(`${job.path}/actions`, { type: 'webhook', name: 'Call', data });

  const worker = await startWorker();
  await expectStatus(caller.post(job.path, {}, { prefer: 'respond-async' }), 202);
  const { id, nextAttemptAt } = await lateRun(caller, job);
  expect(await worker.end('SIGKILL')).toBe('SIGKILL');
  await startWorker();
  expect(await latestRun(caller, job)).toMatchObject({ id, status: 'running', nextAttemptAt });
  expect(receiver.requests).toHaveLength(1);

  receiver.respond = (_request, response) => void response.writeHead(200).end();
  await makeDue(databaseUrl, job);
  const run = await eventually(async () => {
    const last = await latestRun(caller, job);
    return last.finishedAt && last;
  });
  expect(run).toMatchObject({ id, status: 'succeeded', nextAttemptAt: null, history: [{ result: { attempts: 2 } }] });
  expect(receiver.requests).toHaveLength(2);
  await expectBody(caller.get(job.path), 200, { lockedAt: null });
});
