import { expect } from 'vitest';
import type { Context } from '../../src/core/context.ts';
import { newId } from '../../src/core/id.ts';
import type { ActionRun, JobData } from '../../src/core/job-drivers.ts';
import { jobActionDriverOf } from '../../src/services/job/drivers/driver-registry.ts';
import { createJobContext } from '../../src/services/job/job-context.ts';
import type { Client } from '../support/client.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createJob } from './job-fixture.ts';

/** Returns the context of a run for an owner, `user:<id>` or `team:<id>`. */
export async function contextOf(
  service: Service,
  owner: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<Context> {
  const [tenant] = await systemQuery<{ id: string }>(service, `select id from dws.tenant where slug = 'default'`);
  return createJobContext(service.platform, tenant!.id, owner, signal);
}

/** The only action of a job. */
export interface TestAction {
  type: string;
  job: { id: string; name: string; path: string };
  action: { id: string; name: string; path: string };
  data: JobData;
}

/** Creates a job of the caller with one action of a type. */
export async function createAction(
  owner: Client,
  type: string,
  data: JobData,
  jobInput: object = {},
): Promise<TestAction> {
  const job = await createJob(owner, jobInput);
  const action = await owner.creates(`${job.path}/actions`, { type, name: type, data });
  return {
    type,
    job: { ...job, name: 'Nightly' },
    action: { id: action.id, name: type, path: `${job.path}/actions/${action.id}` },
    data: action.data,
  };
}

/** The outcome of an action in a run. */
interface Outcome {
  success: boolean;
  error: string | null;
  /** The lines of its log, without their times. */
  log: string[];
  attempts: number;
}

const RUN = `mutation ($id: ID!) { runJob(id: $id) { result { success } } }`;

/** Runs the job of an action by an API. Returns the outcome of the action. */
export async function run(
  caller: Client,
  { job, action }: TestAction,
  api: 'GraphQL' | 'REST' = 'GraphQL',
): Promise<Outcome> {
  const result =
    api === 'REST' ? (await caller.post(job.path, {})).body : (await caller.data(RUN, { id: job.id })).runJob.result;
  const [latest] = (await caller.get(`${job.path}/history`)).body._embedded['svc:job-history'];
  const outcome = outcomeOf(latest, action.id);
  expect(result).toMatchObject({ success: outcome.success });
  return outcome;
}

interface RunRecord {
  history: { task: { key: string }; result: Omit<Outcome, 'log'> & { log: string } }[];
}

/** Returns the outcome of an action in a run. */
function outcomeOf({ history }: RunRecord, actionId: string): Outcome {
  const { success, error, log, attempts } = history.find(({ task }) => task.key === `action:${actionId}`)!.result;
  const lines = log.split('\n').filter(Boolean);
  return { success, error, attempts, log: lines.map((line) => line.slice(line.indexOf(' ') + 1)) };
}

/** Runs an action once as an owner. Returns the lines of its log. */
export async function attempt(
  service: Service,
  owner: string,
  { type, job, action, data }: TestAction,
  {
    signal = new AbortController().signal,
    runId = newId(),
    onLog,
    onProgress = () => undefined,
  }: { signal?: AbortSignal; runId?: string; onLog?: () => void; onProgress?: () => void } = {},
): Promise<string[]> {
  const lines: string[] = [];
  const run: ActionRun<JobData> = {
    job,
    action,
    data,
    datasetId: data['datasetId'] as string,
    ctx: await contextOf(service, owner, signal),
    runId,
    secrets: new Map(),
    signal,
    log(line) {
      lines.push(line);
      onLog?.();
    },
    progress: onProgress,
    actAs: (principal) => contextOf(service, principal, signal),
  };
  await jobActionDriverOf(type).run!(run);
  return lines;
}

const PREVIEW = `query ($job: ID!, $action: ID!) {
  jobActionPreview(jobId: $job, jobActionId: $action) { preview }
}`;

/** Returns the preview of an action, which is the same in both APIs. */
export async function preview(caller: Client, { job, action }: TestAction): Promise<JobData> {
  const { jobActionPreview } = await caller.data(PREVIEW, { job: job.id, action: action.id });
  expect((await caller.post(`${action.path}/_preview`)).body).toEqual(jobActionPreview);
  return jobActionPreview.preview;
}

/** Returns the principal of a user. */
export const ownerOf = ({ id }: Pick<Client, 'id'>): string => `user:${id}`;
