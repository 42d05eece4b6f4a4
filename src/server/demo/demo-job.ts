import { setTimeout as sleep } from 'node:timers/promises';
import type { JobAction } from '../../../entities/job-action.ts';
import { Job } from '../../../entities/job.ts';
import type { Context } from '../../core/context.ts';
import type { JobData } from '../../core/job-drivers.ts';
import * as actions from '../../services/job/job-action.ts';
import * as jobs from '../../services/job/job.ts';

/** The job of the demo. */
export const DEMO_JOB = {
  type: 'actions',
  name: 'Nightly shop report',
  slug: 'nightly-shop-report',
  description: 'Loads the orders, keeps a week of snapshots and mails the returned orders as a file.',
  notes: 'Without `SMTP_URL` the mail stays in the outbox. Replace its recipient by your username to receive it.',
  intervalType: 'cron',
  interval: '30 2 * * *',
  enabled: true,
} as const;

/** Recipient of the mail if the owner of the demo has no e-mail address. No mail server delivers to this domain. */
const NOBODY = 'admin@shop.example';

/** Names of the actions that others refer to. */
const EXPORT = 'Write the returned orders to a file';

/** Pause between two looks at the run, in milliseconds. */
const POLL_MS = 200;

interface DemoAction {
  type: string;
  name: string;
  data: JobData;
}

const DATASET_ACTIONS: readonly DemoAction[] = [
  { type: 'refresh', name: 'Load the orders', data: { alias: 'orders' } },
  { type: 'snapshot', name: 'Take a snapshot', data: { alias: 'orders' } },
  { type: 'snapshot-cleanup', name: 'Delete old snapshots', data: { alias: 'orders', keep: 7 } },
  {
    type: 'export',
    name: EXPORT,
    data: { alias: 'orders', format: 'csv', filter: { status: 'returned' }, filename: 'returned orders' },
  },
];

const mailOf = (recipient: string, exportId: string): DemoAction => ({
  type: 'email',
  name: 'Mail the returned orders',
  data: {
    recipients: [recipient],
    subject: 'Returned orders',
    body: 'The returned orders of the last year are attached.',
    attach: [exportId],
  },
});

/**
 * Creates the job of the demo, which runs every night, and lets its schedule run it once, so that it has a history.
 * Completes one that was interrupted. Returns the result of the run; null if it ran before.
 */
export async function createDemoJob(
  ctx: Context,
  folderId: string,
  ordersId: string,
): Promise<{ success: boolean; duration: number } | null> {
  const found = await ctx.read.find(Job, DEMO_JOB.slug, ['id']);
  const id =
    found?.id ??
    (await jobs.create(ctx, { ...DEMO_JOB, folderId, datasets: [{ alias: 'orders', datasetId: ordersId }] }));
  await createActions(ctx, id);
  const [former] = await ctx.query({
    text: `select from dws.job_run where tenant_id = $1 and job_id = $2 limit 1`,
    values: [ctx.viewer.tenantId, id],
  });
  if (former) return null;
  await ctx.query({
    text: `update dws.job set next_run_at = now() where tenant_id = $1 and id = $2 and enabled`,
    values: [ctx.viewer.tenantId, id],
  });
  return waitForRun(ctx, id);
}

/** Waits for the first run of the schedule to end. Throws the reason of the aborted signal of the request. */
async function waitForRun({ query, viewer, request }: Context, jobId: string) {
  for (;;) {
    const [ended] = await query<{ success: boolean; duration: number }>({
      text: `
        select success, duration from dws.job_run
        where tenant_id = $1 and job_id = $2 and finished_at is not null and duration is not null`,
      values: [viewer.tenantId, jobId],
    });
    if (ended) return ended;
    await sleep(POLL_MS, undefined, { signal: request.signal });
  }
}

async function createActions(ctx: Context, jobId: string): Promise<void> {
  const present = (await ctx.read.children(Job, 'actions', { id: jobId }, ['name'])) as Pick<
    JobAction,
    'id' | 'name'
  >[];
  const ids = new Map(present.map(({ id, name }) => [name, id]));
  const add = async (action: DemoAction) => {
    if (!ids.has(action.name)) ids.set(action.name, await actions.create(ctx, jobId, action));
  };
  for (const action of DATASET_ACTIONS) await add(action);
  await add(mailOf(await findRecipient(ctx), ids.get(EXPORT)!));
}

/** Returns the owner of the demo, or an address that receives nothing if the owner has none. */
async function findRecipient({ query, viewer }: Context): Promise<string> {
  const [found] = await query({
    text: `select from dws.app_user where tenant_id = $1 and id = $2 and email is not null`,
    values: [viewer.tenantId, viewer.userId],
  });
  return found ? `user:${viewer.userId}` : NOBODY;
}
