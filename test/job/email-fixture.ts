import { expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
import type { TestJob } from './job-fixture.ts';

/** The last task of a run, as the history shows it. */
interface LastTask {
  runId: string;
  success: boolean;
  error: string | null;
  log: string;
}

/** Gives users the address `<username>@example.com`. */
export async function giveAddresses(...users: Client[]): Promise<void> {
  for (const user of users) await expectStatus(user.put('/me', { email: `${user.username}@example.com` }), 200);
}

/** Adds an action to a job. Returns its id. */
export const addAction = async (
  owner: Client,
  job: TestJob,
  type: string,
  data: object,
  name = type,
): Promise<string> => (await owner.creates(`${job.path}/actions`, { type, name, data })).id;

/** Adds an email to a job. Returns the id of the action. */
export const addEmail = (owner: Client, job: TestJob, data: object): Promise<string> =>
  addAction(owner, job, 'email', { subject: 'Figures', body: 'The figures are attached.', ...data });

/** Replaces the file of an action. */
export async function putFile(
  owner: Client,
  job: TestJob,
  action: string,
  { content, filename, type }: { content: string | Buffer; filename: string; type: string },
): Promise<void> {
  const form = new FormData();
  form.append('file', new Blob([content as BlobPart], { type }), filename);
  await expectStatus(owner.request('PUT', `/api${job.path}/actions/${action}/action-file-contents`, form), 200);
}

/** Runs a job to its end. Returns the result of its last task, with the log as text without times. */
export async function runJob(owner: Client, job: TestJob): Promise<LastTask> {
  await expectStatus(owner.post(job.path, {}), 200);
  return readLastRun(owner, job);
}

/** Returns the result of the last task of the latest run. */
export async function readLastRun(owner: Client, job: TestJob): Promise<LastTask> {
  const { body } = await owner.get(`${job.path}/history?limit=1`);
  const [run] = body._embedded['svc:job-history'];
  const { success, error, log } = run.history.at(-1).result;
  expect(run.status).toBe(success ? 'succeeded' : 'failed');
  return { runId: run.id, success, error, log: log.replace(/^\S+Z /gm, '') };
}
