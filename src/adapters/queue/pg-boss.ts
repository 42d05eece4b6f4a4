import { PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import type { QueuedWork } from '../../core/operations.ts';
import type { OperationQueue } from '../../core/platform.ts';
import { Dispatcher, type WorkerOptions } from './dispatcher.ts';

const SCHEMA = 'dws_jobs';
const QUEUE = 'operation';

/** Tells workers that there is work. Our own, because pg-boss wakes only its own polling loops, and those let a backlog wait for the next poll. */
const CHANNEL = 'dws_queue';

/** Any number will do, as long as every process takes the same. */
const INSTALL_LOCK = 4_711_003;

/** A day is the most that pg-boss takes; what runs longer only loses its place in pg-boss' own count. */
const MAX_EXPIRY_SECONDS = 86_399;

export interface QueueOptions {
  /** The migrator's address: pg-boss installs its schema and works as this login, tenants' transactions only add jobs. */
  url: string;
  log: Logger;
  /** Milliseconds that the longest operation may take. */
  longest: number;
}

/** The queue of long operations on pg-boss. Retries and takeover are the reconciler's; the queue hands each piece of work to one worker and forgets it. */
export interface PgBossQueue extends OperationQueue {
  /** Calls `handler`, which never throws, for each piece of work until `stopWork`. */
  work(handler: (work: QueuedWork) => Promise<void>, options: WorkerOptions): Promise<void>;
  /** Takes no more work; what runs goes on. */
  stopWork(): void;
  close(): Promise<void>;
}

interface FetchedWork extends QueuedWork {
  jobId: string;
}

/** Opens the queue, installing its schema where it is missing. */
export async function openQueue({ url, log, longest }: QueueOptions): Promise<PgBossQueue> {
  const boss = new PgBoss({
    connectionString: url,
    max: 4,
    application_name: 'dws queue',
    schema: SCHEMA,
    schedule: false,
    persistWarnings: false,
  });
  boss.on('error', (error) => log.warn({ err: error }, 'The queue met an error'));
  boss.on('warning', (warning) => log.debug({ warning }, 'The queue warns'));
  await boss.start();
  await boss.getDb().executeSql(grants);
  // `short` keeps one waiting job per key, so that the same work may be sent again without thought.
  const options = {
    retryLimit: 0,
    expireInSeconds: Math.min(MAX_EXPIRY_SECONDS, Math.ceil(longest / 1000) + 60),
    deleteAfterSeconds: 3600,
  };
  await boss.createQueue(QUEUE, { policy: 'short', ...options });
  await boss.updateQueue(QUEUE, options);

  const db = boss.getDb();
  let dispatcher: Dispatcher<FetchedWork> | undefined;
  let listening: { close(): Promise<void> } | undefined;
  const report = (error: unknown) => log.warn({ err: error }, 'The queue does not answer');

  return {
    async send({ workId, tenantId }, tx) {
      const inTransaction = {
        executeSql: async (text: string, values: unknown[] = []) => ({ rows: await tx.query({ text, values }) }),
      };
      await boss.send(
        QUEUE,
        { workId, tenantId },
        { singletonKey: workId, group: { id: tenantId }, db: inTransaction },
      );
      await tx.query({ text: `select pg_notify($1, '')`, values: [CHANNEL] });
    },
    async work(handler, limits) {
      const run = async ({ jobId, ...work }: FetchedWork) => {
        await handler(work);
        await boss.complete(QUEUE, jobId).catch(report);
      };
      const fetch = async (without: string[]): Promise<FetchedWork | null> => {
        const [job] = await boss.fetch<QueuedWork>(QUEUE, { ignoreGroups: without });
        return job ? { ...job.data, jobId: job.id } : null;
      };
      const started = (dispatcher = new Dispatcher({ ...limits, fetch, run, onError: report }));
      listening = await db.listen?.(
        CHANNEL,
        () => started.tell(),
        () => started.tell(),
      );
    },
    stopWork: () => dispatcher?.stop(),
    async close() {
      dispatcher?.stop();
      await listening?.close();
      await boss.stop({ graceful: false, close: true });
    },
  };
}

/** What a tenant's transaction needs to add a job. Granted again and again, so one process at a time: Postgres refuses concurrent grants. */
const grants = `do $$ begin
  perform pg_advisory_xact_lock(${INSTALL_LOCK});
  grant usage on schema ${SCHEMA} to dws_app, dws_system;
  grant select on ${SCHEMA}.queue to dws_app, dws_system;
  grant select, insert on ${SCHEMA}.job_common to dws_app, dws_system;
end $$`;
