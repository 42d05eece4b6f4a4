import pg from 'pg';
import { expect } from 'vitest';
import type { Client } from './client.ts';
import { createDatabase } from './postgres.ts';
import { runSql } from './run-sql.ts';

/** The rows that a dataset shows, in short: `[region, rows]` of each group. */
export type Shown = [string, number][];

const REGIONS = ['Asia', 'Europe', 'Africa', 'America'];

/** A query for a million rows: numbers, each with the columns of its row in the table `region`. */
export const MILLION = `select n, r.name as region, r.rate * n as amount, now() as asked_at
  from generate_series(1, 1000000) n join region r on r.id = n % ${REGIONS.length}`;

/** The groups that a dataset of `MILLION` shows while the regions have these names. */
export const millionOf = (name: (region: string) => string): Shown =>
  REGIONS.map((region): [string, number] => [name(region), 1_000_000 / REGIONS.length]).toSorted();

/** A query for four rows that waits until the gate of its source opens. */
export const GATED = `select r.name as region
  from region r, lateral (select pg_advisory_lock_shared(1) where r.id >= 0) gate`;

/**
 * A dataset of `query` with its own source, whose regions can be renamed, so that a later refresh changes every row.
 */
export async function makeMillion(maker: Client, query = MILLION) {
  const source = await createDatabase('template0');
  await runSql(
    source.url,
    `create table region as
      select id - 1 as id, name, id * 0.5 as rate from unnest($1::text[]) with ordinality as r (name, id)`,
    [REGIONS],
  );
  const { hostname, port, pathname, username, password } = new URL(source.url);
  const config = { host: hostname, port: Number(port), database: pathname.slice(1), user: username };
  const { id: datasourceId } = await maker.creates('/datasources', {
    name: 'Regions',
    type: 'postgres',
    config,
    secrets: { password },
  });
  const { id } = await maker.creates('/datasets', { name: 'Million', datasourceId, query });
  return {
    id: id as string,
    sql: (text: string) => runSql(source.url, text),
    /** Blocks queries with `GATED` until the returned function is called. */
    async closeGate(): Promise<() => Promise<void>> {
      const gate = new pg.Client({ connectionString: source.url });
      await gate.connect();
      await gate.query('select pg_advisory_lock(1)');
      return () => gate.end();
    },
    /** Statements of refreshes that run in the source. */
    running: () =>
      runSql(
        source.url,
        `select pid from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()
            and state = 'active' and backend_type = 'client backend'`,
      ),
    drop: source.drop,
  };
}

/** Returns the groups that a caller sees in the dataset now. */
export async function shown(caller: Client, id: string): Promise<Shown> {
  const { rows } = await caller.creates(`/datasets/${id}/_aggregate`, {
    groupBy: [{ field: 'region' }],
    measures: [{ fn: 'count', as: 'rows' }],
  });
  return (rows as Shown).toSorted();
}

/** Starts a refresh without waiting for it and returns the operation's id. */
export async function beginRefresh(caller: Client, id: string, progress?: string): Promise<string> {
  const { status, headers, body } = await caller.post(
    `/datasets/${id}/_refresh`,
    { ...(progress && { progress }) },
    { prefer: 'respond-async' },
  );
  expect([status, headers.get('location')]).toEqual([202, `/api/progress/${body.id}`]);
  return body.id;
}
