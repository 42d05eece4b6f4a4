import { PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import { LOCKS } from '../../core/locks.ts';
import type { OperationName, QueuedWork } from '../../core/operations.ts';
import type { OperationQueue } from '../../core/platform.ts';
import { Dispatcher, type TenantLimits, type Waiting, type WaitingUser } from './dispatcher.ts';

const SCHEMA = 'dws_jobs';
/**
 * Names of the queues in pg-boss. Runs of jobs and agents wait for other operations, so they must not take their
 * places. Renderings neither take the places of refreshes nor wait behind them. The same applies to syncs, which may
 * take hours, and images, which wait for AI providers.
 */
const QUEUES = {
  operations: 'operation',
  jobs: 'job-run',
  renderings: 'rendering',
  syncs: 'library-sync',
  images: 'image',
  agents: 'agent-run',
} as const;
type QueueName = (typeof QUEUES)[keyof typeof QUEUES];

/** The limits of all queues. */
export type QueueLimits = Record<keyof typeof QUEUES, TenantLimits>;

const OWN_QUEUES: Partial<Record<OperationName, QueueName>> = {
  'job.run': QUEUES.jobs,
  'template.render': QUEUES.renderings,
  'library.sync': QUEUES.syncs,
  'agent.run': QUEUES.agents,
  'image.create': QUEUES.images,
};

const queueOf = ({ operation }: QueuedWork): QueueName => OWN_QUEUES[operation] ?? QUEUES.operations;

/**
 * Channel that wakes workers. pg-boss has its own, but that wakes only its polling loops, where each further entry of a
 * backlog waits for the next poll.
 */
const CHANNEL = 'dws_queue';

/** Maximum of pg-boss. An operation that runs longer continues, but pg-boss no longer counts it. */
const MAX_EXPIRY_SECONDS = 86_399;

interface QueueOptions {
  /**
   * The migrator's database URL. pg-boss installs its schema and runs as this login; the transactions of tenants only
   * add jobs.
   */
  url: string;
  log: Logger;
  /** Maximum duration of an operation, in milliseconds. */
  maxDurationMs: number;
}

/**
 * The queue of long operations on pg-boss. It delivers each work item to one worker, once. The reconciler does the
 * retries and takeovers.
 */
export interface PgBossQueue extends OperationQueue {
  /** Calls `handle`, which never throws, for each work item until `stopConsuming`. */
  consume(handle: (work: QueuedWork) => Promise<void>, limits: QueueLimits): Promise<void>;
  /** Stops taking work items. Running ones continue. */
  stopConsuming(): void;
  close(): Promise<void>;
}

interface FetchedWork extends QueuedWork {
  jobId: string;
}

/** A user whose work waits, with the group of it in pg-boss. */
interface WaitingGroup extends WaitingUser {
  groupId: string;
}

/** Opens the queue. Installs its schema where it is missing. */
export async function openQueue({ url, log, maxDurationMs }: QueueOptions): Promise<PgBossQueue> {
  const boss = await startBoss(url, log, maxDurationMs);
  const db = boss.getDb();
  let dispatchers: Dispatcher<FetchedWork, WaitingGroup>[] = [];
  let subscription: { close(): Promise<void> } | undefined;
  const onError = (error: unknown) => log.warn({ err: error }, 'The queue is unavailable');

  return {
    async send(work, tx) {
      const transactionDb = {
        executeSql: async (text: string, values: unknown[] = []) => ({ rows: await tx.query({ text, values }) }),
      };
      for (const name of Object.values(QUEUES)) {
        const entries = work.filter((item) => queueOf(item) === name).map(entryOf);
        if (entries.length > 0) await boss.insert(name, entries, { db: transactionDb });
      }
      await tx.query({ text: `select pg_notify($1, '')`, values: [CHANNEL] });
    },
    async consume(handle, limits) {
      dispatchers = Object.entries(QUEUES).map(([key, name]) => {
        const run = async ({ jobId, ...work }: FetchedWork) => {
          await handle(work);
          await boss.complete(name, jobId).catch(onError);
        };
        const fetch = async ({ groupId }: WaitingGroup, all: readonly WaitingGroup[]): Promise<FetchedWork | null> => {
          const ignoreGroups = all.map((other) => other.groupId).filter((id) => id !== groupId);
          const [job] = await boss.fetch<QueuedWork>(name, { ignoreGroups });
          return job ? { ...job.data, jobId: job.id } : null;
        };
        const giveBack = async ({ jobId, ...work }: FetchedWork) => {
          await boss.insert(name, [entryOf(work)]);
          await boss.complete(name, jobId);
        };
        const list = () => listWaiting(db, name);
        return new Dispatcher({ ...limits[key as keyof typeof QUEUES], list, fetch, giveBack, run, onError });
      });
      const wake = () => dispatchers.forEach((dispatcher) => dispatcher.wake());
      subscription = await db.listen?.(CHANNEL, wake, wake);
    },
    stopConsuming: () => dispatchers.forEach((dispatcher) => void dispatcher.stop()),
    async close() {
      dispatchers.forEach((dispatcher) => void dispatcher.stop());
      await subscription?.close();
      await boss.stop({ graceful: false, close: true });
    },
  };
}

/** Returns the entry of a work item. The entries of a user form a group. */
const entryOf = ({ workId, tenantId, userId, operation, startAfter }: QueuedWork) => ({
  data: { workId, tenantId, userId, operation },
  singletonKey: workId,
  group: { id: userId },
  ...(startAfter && { startAfter }),
});

/** Returns the users whose work waits in a queue. An entry of a former version has the group of its tenant. */
async function listWaiting(db: ReturnType<PgBoss['getDb']>, name: QueueName): Promise<Waiting<WaitingGroup>> {
  const { rows } = (await db.executeSql(
    `select data->>'tenantId' as "tenantId", data->>'userId' as "userId", group_id as "groupId",
      min(created_on) as "createdAt", (extract(epoch from min(start_after) - now()) * 1000)::float8 as "inMs"
    from ${SCHEMA}.job_common
    where name = $1 and state < 'active' and not blocked
    group by start_after > now(), 1, 2, 3
    order by 4`,
    [name],
  )) as { rows: (WaitingGroup & { inMs: number })[] };
  const times = rows.map(({ inMs }) => inMs).filter((inMs) => inMs > 0);
  return {
    users: rows.filter(({ inMs }) => inMs <= 0).map(({ tenantId, userId, groupId }) => ({ tenantId, userId, groupId })),
    nextInMs: times.length > 0 ? Math.ceil(Math.min(...times)) : null,
  };
}

async function startBoss(url: string, log: Logger, maxDurationMs: number): Promise<PgBoss> {
  const boss = new PgBoss({
    connectionString: url,
    max: 4,
    application_name: 'dws queue',
    schema: SCHEMA,
    schedule: false,
    persistWarnings: false,
  });
  boss.on('error', (error) => log.warn({ err: error }, 'The queue reported an error'));
  boss.on('warning', (warning) => log.debug({ warning }, 'The queue reported a warning'));
  await boss.start();
  await boss.getDb().executeSql(GRANTS);
  const options = {
    retryLimit: 0,
    expireInSeconds: Math.min(MAX_EXPIRY_SECONDS, Math.ceil(maxDurationMs / 1000) + 60),
    deleteAfterSeconds: 3600,
  };
  // `short` allows one waiting job per key, so that sending a queued work item again does nothing.
  for (const name of Object.values(QUEUES)) {
    await boss.createQueue(name, { policy: 'short', ...options });
    await boss.updateQueue(name, options);
  }
  return boss;
}

/**
 * Grants the privileges that a tenant's transaction needs to add a job. It runs at each start, under a lock, as
 * Postgres refuses concurrent grants.
 */
const GRANTS = `do $$ begin
  perform pg_advisory_xact_lock(${LOCKS.queueInstallation});
  grant usage on schema ${SCHEMA} to dws_app, dws_system;
  grant select on ${SCHEMA}.queue to dws_app, dws_system;
  grant select, insert on ${SCHEMA}.job_common to dws_app, dws_system;
end $$`;
