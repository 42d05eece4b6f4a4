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

/** A database of the test's own with an open platform, workers and callers. */
export interface World extends TestPlatform {
  url: string;
  dataDir: string;
  /** Starts a worker in another process. */
  startWorkerProcess(handlers?: WorkerOrders['handlers']): Promise<WorkerProcess>;
  /** Starts a worker in this process. */
  startWorker(handlers: Handlers): Promise<void>;
  /** Creates a user who calls, by default in the tenant of the first caller. */
  caller(tenantId?: string): Promise<Context>;
}

async function openWorld(): Promise<{ world: World; close(): Promise<void> }> {
  const { url, drop } = await createDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'dws-operations-'));
  const testPlatform = await openTestPlatform(url, dataDir);
  const closers: (() => Promise<void>)[] = [];
  const tenants = new Set<string>();
  let callers = 0;
  const world: World = {
    ...testPlatform,
    url,
    dataDir,
    async startWorkerProcess(handlersName = 'counting') {
      const worker = await startWorkerProcess({ url, dataDir, handlers: handlersName });
      closers.push(() => worker.kill('SIGKILL'));
      return worker;
    },
    async startWorker(handlers) {
      const worker = await startQuickWorker(testPlatform, handlers);
      closers.push(() => worker.stop());
    },
    async caller(tenantId = [...tenants][0] ?? newId()) {
      if (!tenants.has(tenantId))
        await testPlatform.platform.system.query({
          text: `insert into dws.tenant (id, slug) values ($1, $2)`,
          values: [tenantId, `t${tenants.size}`],
        });
      tenants.add(tenantId);
      const userId = newId();
      await testPlatform.platform.system.query({
        text: `insert into dws.app_user (id, tenant_id, username, enabled) values ($1, $2, $3, true)`,
        values: [userId, tenantId, `caller${callers++}`],
      });
      return contextOf(testPlatform, { userId, tenantId } as Viewer);
    },
  };
  return {
    world,
    async close() {
      for (const closer of closers) await closer();
      await testPlatform.close();
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

/** A test with a database, platform and workers of its own. */
export const test = base.extend<{ world: World }>({
  world: async ({}, use) => {
    const { world, close } = await openWorld();
    await use(world);
    await close();
  },
});

/** Starts a counting operation in a transaction of its own. Returns its id. */
export const count = (
  ctx: Context,
  input: CountingInput = {},
  request: Partial<operations.OperationRequest<'test.count'>> = {},
): Promise<string> =>
  ctx.transaction((tx) =>
    operations.start(ctx, tx, {
      operation: 'test.count',
      resource: { kind: 'dataset', id: newId() },
      input,
      ...request,
    }),
  );

/** Calls `read` until it returns a truthy value, and returns that. The test's own timeout limits it. */
export async function eventually<T>(read: () => Promise<T | null | undefined | false>): Promise<T> {
  for (;;) {
    const value = await read();
    if (value) return value;
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}

/** Reads or changes rows of all tenants. */
export const rows = (world: World, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> =>
  world.platform.system.query({ text, values });

/** Returns the attempts that counting operations have published. */
export const published = async (world: World): Promise<unknown[]> =>
  (await rows(world, `select records from dws.generation order by id`)).map((row) => row.records);

/** Collects all values of an iterable. */
export async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const value of values) collected.push(value);
  return collected;
}

/** Waits until the caller's operation is in a state. Returns its record. */
export const until = (ctx: Context, id: string, status: OperationStatus): Promise<OperationRecord> =>
  eventually(async () => {
    const record = await operations.get(ctx, id);
    return record.status === status && record;
  });
