import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base } from 'vitest';
import type { Context } from '../../src/core/context.ts';
import { newId } from '../../src/core/id.ts';
import type { OperationStatus } from '../../src/core/operations.ts';
import type { Viewer } from '../../src/core/viewer.ts';
import type { Handlers } from '../../src/operations/handler.ts';
import type { OperationRecord } from '../../src/services/operation/operation-record.ts';
import * as operations from '../../src/services/operation/operation.ts';
import { createDatabase } from '../support/postgres.ts';
import type { CountingInput } from './counting.ts';
import { openTestPlatform, startQuickWorker, type TestPlatform } from './platform.ts';
import { startWorkerProcess, type WorkerProcess } from './processes.ts';
import type { WorkerOrders } from './worker-process.ts';

/** A database of the test's own, the platform of its process, workers beside it or in it, and callers. */
export interface World extends TestPlatform {
  url: string;
  dataDir: string;
  /** A worker in another process. */
  worker(what?: WorkerOrders['what']): Promise<WorkerProcess>;
  /** A worker in this process. */
  here(handlers: Handlers): Promise<void>;
  /** Somebody who calls; of the tenant of the first caller unless told otherwise. */
  caller(tenantId?: string): Promise<Context>;
}

async function openWorld(): Promise<{ world: World; end(): Promise<void> }> {
  const { url, drop } = await createDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'dws-operations-'));
  const opened = await openTestPlatform(url, dataDir);
  const ends: (() => Promise<void>)[] = [];
  const tenants = new Set<string>();
  const world: World = {
    ...opened,
    url,
    dataDir,
    async worker(what = 'counting') {
      const started = await startWorkerProcess({ url, dataDir, what });
      ends.push(() => started.kill('SIGKILL'));
      return started;
    },
    async here(handlers) {
      const started = await startQuickWorker(opened, handlers);
      ends.push(() => started.stop());
    },
    async caller(tenantId = [...tenants][0] ?? newId()) {
      if (!tenants.has(tenantId))
        await opened.platform.system.query({
          text: `insert into dws.tenant (id, slug) values ($1, $2)`,
          values: [tenantId, `t${tenants.size}`],
        });
      tenants.add(tenantId);
      return contextOf(opened, { userId: newId(), tenantId } as Viewer);
    },
  };
  return {
    world,
    async end() {
      for (const end of ends) await end();
      await opened.close();
      await rm(dataDir, { recursive: true, force: true });
      await drop();
    },
  };
}

function contextOf({ platform }: TestPlatform, viewer: Viewer): Context {
  return {
    platform,
    viewer,
    request: { signal: new AbortController().signal },
    query: (statement: Parameters<Context['query']>[0]) => platform.database.query(viewer.tenantId, statement),
    transaction: (work: Parameters<Context['transaction']>[0]) => platform.database.transaction(viewer.tenantId, work),
  } as unknown as Context;
}

/** A test with a world of its own. */
export const test = base.extend<{ world: World }>({
  // vitest reads a fixture's needs from the pattern.
  world: async ({}, use) => {
    const { world, end } = await openWorld();
    await use(world);
    await end();
  },
});

/** Starts a counting operation and commits. */
export const count = (
  ctx: Context,
  input: CountingInput = {},
  more: Partial<operations.OperationRequest<'test.count'>> = {},
): Promise<string> =>
  ctx.transaction((tx) =>
    operations.start(ctx, tx, {
      operation: 'test.count',
      resource: { kind: 'dataset', id: newId() },
      input,
      ...more,
    }),
  );

/** Asks until the answer is one. Only what never comes takes long: the test's own time limit ends it. */
export async function eventually<T>(ask: () => Promise<T | null | undefined | false>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}

/** Rows of the whole database, past all tenants. */
export const rows = (world: World, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> =>
  world.platform.system.query({ text, values });

/** The attempts that counting operations published. */
export const published = async (world: World): Promise<unknown[]> =>
  (await rows(world, `select records from dws.generation order by id`)).map((row) => row.records);

/** Waits until the caller's operation is in a state. */
export const until = (ctx: Context, id: string, status: OperationStatus): Promise<OperationRecord> =>
  eventually(async () => {
    const record = await operations.get(ctx, id);
    return record.status === status && record;
  });
