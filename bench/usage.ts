/**
 * Measures the usage ledger with a year of lines:
 * `npm run build && node bench/usage.ts [lines=1000000] [rounds=9] [reports=10] [appends=1000] [dist=dist]`. Prints Markdown.
 *
 * - `GET /api/usage` of the current month against the selects that a program would send for the same figures: the totals by
 *   entity and by day; and all of them, with the credits of the month and of each budget. They are prepared, on one
 *   connection.
 * - `meter` of one line in a transaction against a transaction that only inserts this line, both by the service's own
 *   client.
 *
 * Also prints what merging the parts of totals costs, which a worker does later. Both sides of a comparison take turns.
 * CPU is the sum of Postgres and the process that sends the statements: the service, or this one.
 */
import { join } from 'node:path';
import pg from 'pg';
import type { SystemPool as SystemSource } from '../src/adapters/database/system-pool.ts';
import type { openTenantDatabase as openSource } from '../src/adapters/database/tenant-database.ts';
import { newId } from '../src/core/id.ts';
import type { TenantDatabase } from '../src/core/platform.ts';
import { creditsOf, type Usage } from '../src/core/usage.ts';
import type { mergeUsage as mergeSource } from '../src/operations/usage-merge.ts';
import type { meter as meterSource } from '../src/services/usage/usage-meter.ts';
import { fillUsage, TENANT } from './fill-usage.ts';
import { idOf, TOKENS } from './fill.ts';
import { readOptions } from './options.ts';
import { cpuOf } from './processes.ts';
import { report } from './report.ts';
import { withService } from './service.ts';
import { compare, costOf, ownCpu } from './side-by-side.ts';

const options = readOptions({ lines: '1000000', rounds: '9', reports: '10', appends: '1000', dist: 'dist' });
const ROUNDS = Number(options.rounds);
const [REPORTS, APPENDS] = [Number(options.reports), Number(options.appends)];

const MONTH = 'tenant_id = $1 and day between $2 and $3';

/** The selects that a program without the service would send. */
const SELECTS = [
  `select entity_id, entity_type, resource_type, sum(credits)::float8 as credits, sum(events)::float8 as events
  from dws.usage_day where ${MONTH} group by 1, 2, 3 order by 4 desc`,
  `select day::text, resource_type, sum(credits)::float8 as credits from dws.usage_day where ${MONTH} group by 1, 2
  order by 1, 2`,
  `select sum(credits)::float8 as credits from dws.usage_day where ${MONTH}`,
  ...['app', 'job', 'assistant'].map(
    (table) => `select r.id, r.name, r.slug, r.owner_id, r.monthly_budget::float8, sum(d.credits)::float8 as credits
    from dws.${table} r
    left join (select * from dws.usage_day where ${MONTH} and entity_type = '${table}') d on d.entity_id = r.id
    where r.tenant_id = $1 and r.monthly_budget is not null
    group by r.id`,
  ),
];

async function runSelects(client: pg.Client, selects: readonly string[]): Promise<string> {
  const today = new Date().toISOString().slice(0, 10);
  const first = `${today.slice(0, 8)}01`;
  const results: unknown[] = [];
  for (const [n, text] of selects.entries())
    results.push((await client.query({ name: `select${n}`, text, values: [TENANT, first, today] })).rows);
  return JSON.stringify(results);
}

async function request(url: string): Promise<void> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${TOKENS.superuser}` } });
  const body = (await response.json()) as { usageSummary?: unknown[]; budgets?: unknown[] };
  if (!body.usageSummary?.length || !body.budgets?.length) throw new Error(`${url} returned ${response.status}`);
}

/** The line that `meter` inserts. */
const INSERT = `
  insert into dws.usage_event
    (tenant_id, id, occurred_at, actor, entity_type, entity_id, resource_type, quantity, credits, metadata, key)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`;

/** Returns a line of a user and an app that have others on this day. */
function nextLine(): Usage {
  const n = Math.floor(Math.random() * 200);
  return {
    key: `app:${newId()}`,
    resource: 'app_compute',
    quantity: '12.345',
    actor: `user:${idOf(`user${1 + n}`)}`,
    entityType: 'app',
    entityId: idOf(`app${(n * 7) % 60}`),
    occurredAt: new Date(),
  };
}

function insertBare(database: TenantDatabase): Promise<void> {
  const line = nextLine();
  return database.transaction(TENANT, async (tx) =>
    tx.execute({
      text: INSERT,
      values: [
        TENANT,
        newId(),
        line.occurredAt!.toISOString(),
        line.actor,
        line.entityType,
        line.entityId,
        line.resource,
        line.quantity,
        creditsOf(line.resource, line.quantity),
        '{}',
        line.key,
      ],
    }),
  );
}

/** Merges the parts of totals that the lines of this run have added. Prints what a line costs. */
async function printMerge(url: string, postmaster: number): Promise<void> {
  const system = new SystemPool(url);
  const [{ parts }] = (await system.query({
    text: `
      select sum(parts - 1)::int as parts
      from (
        select count(*) as parts from dws.usage_day
        group by tenant_id, day, actor, entity_type, entity_id, resource_type
      ) total`,
  })) as [{ parts: number }];
  const cost = await costOf(
    { cpu: ownCpu, work: () => mergeUsage({ system }, new Date(Date.now() - 86_400_000)) },
    postmaster,
    1,
  );
  await system.close();
  const each = (ms: number) => `${((ms * 1000) / parts).toFixed(1)} µs`;
  console.log(
    `A worker merges the parts of ${parts} lines in ${cost.elapsed.toFixed(0)} ms: ${each(cost.elapsed)} a line, ` +
      `${each(cost.node + cost.postgres)} of CPU.\n`,
  );
}

const { dist } = options;
/** Imports a module of the build: Node runs no decorators, which the sources of entities have. */
const built = (path: string) => import(join(import.meta.dirname, '..', dist, 'src', path));
const { openTenantDatabase } = (await built('adapters/database/tenant-database.js')) as {
  openTenantDatabase: typeof openSource;
};
const { SystemPool } = (await built('adapters/database/system-pool.js')) as { SystemPool: typeof SystemSource };
const { mergeUsage } = (await built('operations/usage-merge.js')) as { mergeUsage: typeof mergeSource };
const { meter } = (await built('services/usage/usage-meter.js')) as { meter: typeof meterSource };

await withService({ roles: ['web'], dist }, async ({ base, databaseUrl, pids, postmaster }) => {
  const { totals, month } = await fillUsage(databaseUrl, Number(options.lines));
  console.log(`${options.lines} lines, ${totals} totals of days, ${month} of them of the current month.\n`);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('set role dws_system');
  const bytes = (await runSelects(client, SELECTS)).length;
  const reports = await compare(
    { postmaster, rounds: ROUNDS, count: REPORTS },
    {
      'the selects of totals': { cpu: ownCpu, work: () => runSelects(client, SELECTS.slice(0, 2)) },
      [`all selects (${bytes} bytes of JSON)`]: { cpu: ownCpu, work: () => runSelects(client, SELECTS) },
      'GET /api/usage': { cpu: () => cpuOf(pids[0]!), work: () => request(`${base}/api/usage`) },
    },
  );
  await client.end();

  const database = openTenantDatabase(databaseUrl, 1);
  const appends = await compare(
    { postmaster, rounds: ROUNDS, count: APPENDS },
    {
      'a bare insert': { cpu: ownCpu, work: () => insertBare(database) },
      meter: {
        cpu: ownCpu,
        work: () => database.transaction(TENANT, async (tx) => meter({ tenantId: TENANT }, tx, [nextLine()])),
      },
    },
  );
  await database.close();
  await printMerge(databaseUrl, postmaster);
  report([
    { what: `GET /api/usage over ${options.lines} lines, elapsed`, goal: 'usageReport', value: reports.elapsed },
    { what: `GET /api/usage over ${options.lines} lines, CPU`, goal: 'usageReport', value: reports.cpu },
    { what: 'appending a line, elapsed', goal: 'usageAppend', value: appends.elapsed },
    { what: 'appending a line, CPU', goal: 'usageAppend', value: appends.cpu },
  ]);
});
