import type { Client } from '../support/client.ts';
import { test as base } from '../support/report-fixture.ts';

/** A job of ann's, with its path. */
export interface TestJob {
  id: string;
  path: string;
}

/** Creates a job of the caller. */
export async function createJob(client: Client, more: object = {}): Promise<TestJob> {
  const { id } = await client.creates('/jobs', { name: 'Nightly', type: 'actions', ...more });
  return { id, path: `/jobs/${id}` };
}

/** Creates a notification to the caller as an action of a job. Returns its id. */
export const createNotify = async (client: Client, { path }: TestJob, name: string): Promise<string> =>
  (
    await client.creates(`${path}/actions`, {
      type: 'notify',
      name,
      data: { recipients: [client.username], message: 'Done' },
    })
  ).id;

/** Returns the names of the actions of a job, in their order, and checks that it has no gaps. */
export async function actionNames(client: Client, { path }: TestJob): Promise<string[]> {
  const { body } = await client.get(`${path}/actions`);
  const actions: { name: string; order: number }[] = body._embedded['svc:job-action'];
  if (actions.some(({ order }, index) => order !== index)) throw new Error(`Gaps: ${JSON.stringify(actions)}`);
  return actions.map(({ name }) => name);
}

export const test = base;
