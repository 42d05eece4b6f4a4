import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { Context } from '../../src/core/context.ts';
import { ALL } from '../../src/core/criteria/tree.ts';
import type { IndexedField } from '../../src/core/dataset-index.ts';
import type { Field } from '../../src/core/fields.ts';
import { newId } from '../../src/core/id.ts';
import type { DatasetRefreshInput } from '../../src/core/operations.ts';
import * as operations from '../../src/services/operation/operation.ts';
import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';
import type { World } from './fixture.ts';

/** Settings of a refresh without parameters. */
export const REFRESH_SETTINGS = {
  parameters: [],
  syncFields: true,
  updateTypeMapping: true,
  disableRefreshInterval: true,
};

/** A dataset as readers see it. */
interface VisibleDataset extends Record<string, unknown> {
  generationId: string | null;
  records: number;
  fields: Field[];
  dataUpdatedAt: Date | null;
  lastRefresh: { success: boolean; error: string | null; duration: number } | null;
}

/** Creates a dataset of the caller on a source database of its own. */
export async function createSourceDataset(world: Pick<World, 'platform'>, ann: Context) {
  const source = await createDatabase('template0');
  const { hostname, port, pathname, username, password } = new URL(source.url);
  const [datasetId, datasourceId] = [newId(), newId()];
  const { tenantId, userId } = ann.viewer;
  const config = { host: hostname, port: Number(port), database: pathname.slice(1), user: username };
  await ann.query({
    text: `insert into dws.datasource (id, tenant_id, name, slug, owner_id, type, config, secrets)
      values ($1, $2, 'Source', 'source', $3, 'postgres', $4, $5)`,
    values: [
      datasourceId,
      tenantId,
      `user:${userId}`,
      JSON.stringify(config),
      world.platform.secrets.seal(JSON.stringify({ password })),
    ],
  });
  await ann.query({
    text: `insert into dws.dataset (id, tenant_id, name, slug, owner_id, datasource_id)
      values ($1, $2, 'Numbers', 'numbers', $3, $4)`,
    values: [datasetId, tenantId, `user:${userId}`, datasourceId],
  });

  return {
    id: datasetId,
    sql: (text: string) => runSql(source.url, text),
    refresh: (query: string, input: Partial<DatasetRefreshInput> = {}, progress?: string): Promise<string> =>
      ann.transaction((tx) =>
        operations.start(ann, tx, {
          operation: 'dataset.refresh',
          resource: { kind: 'dataset', id: datasetId },
          unit: 'rows',
          concurrencyKey: `dataset:${datasetId}`,
          progress,
          input: {
            datasetId,
            datasourceId,
            query,
            ...REFRESH_SETTINGS,
            ...input,
          },
        }),
      ),
    async visible(): Promise<VisibleDataset> {
      const [row] = await ann.query<VisibleDataset>({
        text: `select generation_id as "generationId", records, fields, data_updated_at as "dataUpdatedAt",
            last_refresh as "lastRefresh"
          from dws.dataset
          where id = $1`,
        values: [datasetId],
      });
      return row!;
    },
    /** Returns the rows that readers get. */
    async rows(): Promise<unknown[]> {
      const [row] = await ann.query<{ id: string; fields: IndexedField[]; records: number; size: number }>({
        text: `select g.id, g.fields, g.records, g.size
          from dws.generation g join dws.dataset d on d.generation_id = g.id
          where d.id = $1`,
        values: [datasetId],
      });
      const fields = row!.fields.map(({ name }) => name);
      const page = await world.platform.index.search(
        {
          generation: { ...row!, warnings: [] },
          caller: { tenantId: 'tenant', userId: 'user' },
          where: ALL,
          words: [],
          wordFields: [],
          fields,
          sort: [],
          limit: 100,
          start: 0,
          total: false,
        },
        new AbortController().signal,
      );
      return page.rows;
    },
    /** Blocks queries with `GATED` until the returned function is called. */
    async closeGate(): Promise<() => Promise<void>> {
      const gate = new pg.Client({ connectionString: source.url });
      await gate.connect();
      await gate.query('select pg_advisory_lock(1)');
      return () => gate.end();
    },
    /** Returns the statements of refreshes that run in the source. */
    running: () =>
      runSql(
        source.url,
        `select query
          from pg_stat_activity
          where datname = current_database() and query like '%pg_advisory_lock_shared%'
            and pid <> pg_backend_pid() and state = 'active'`,
      ),
    drop: source.drop,
  };
}

/** A query of the numbers 1 to 5 that waits while the gate is closed. */
export const GATED =
  'select i from generate_series(1, 5) i, lateral (select pg_advisory_lock_shared(1) where i > 0) gate';

/** Returns the child processes of a process. Linux only. */
export async function childrenOf(pid: number): Promise<number[]> {
  const tasks = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(
    tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8').catch(() => '')),
  );
  return lists.join(' ').split(/\s+/).filter(Boolean).map(Number);
}

/** Returns the loader among the children of a worker. */
export async function loaderOf(pid: number): Promise<number | undefined> {
  for (const child of await childrenOf(pid)) {
    if ((await readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')).includes('loader.')) return child;
  }
  return undefined;
}

export const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Returns the files of the embedded index. */
export const filesOf = (dataDir: string): Promise<string[]> => readdir(join(dataDir, 'datasets'));
