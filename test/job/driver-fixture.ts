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

/** An action of a job of ann's. The tests decide as whom it runs. */
export interface TestAction {
  type: string;
  job: { id: string; name: string; path: string };
  action: { id: string; name: string; path: string };
  data: JobData;
}

/** Creates a job with one action of a type, which uses a dataset of the caller. */
export async function createAction(ann: Client, type: string, data: JobData): Promise<TestAction> {
  const job = await createJob(ann);
  const action = await ann.creates(`${job.path}/actions`, { type, name: type, data });
  return {
    type,
    job: { ...job, name: 'Nightly' },
    action: { id: action.id, name: type, path: `${job.path}/actions/${action.id}` },
    data: action.data,
  };
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
  const run: ActionRun = {
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

/** Previews an action for a caller. */
export async function preview(
  service: Service,
  { id }: Pick<Client, 'id'>,
  { type, job, action, data }: TestAction,
): Promise<JobData> {
  const ctx = await contextOf(service, `user:${id}`);
  return jobActionDriverOf(type).preview!({ job, action, data, datasetId: data['datasetId'] as string, ctx });
}

/** Returns the principal of a user. */
export const ownerOf = ({ id }: Pick<Client, 'id'>): string => `user:${id}`;
