/**
 * Measures the scheduler of two worker processes: `npm run build && node bench/jobs.ts [jobs=10000] [tenants=10]
 * [idle=100000] [seconds=30] [spread=0,60] [limit=180] [dist=dist]`. Prints Markdown.
 *
 * - Idle: CPU of a worker over `seconds`, without jobs and with `idle` jobs whose next run is a year away.
 * - Due: `jobs` jobs without actions, all due immediately or over `spread` seconds. How long after the first due time
 *   the last one starts, the lag behind the own due time, and whether each ran exactly once. Ends after `limit`
 *   seconds.
 */
import { setTimeout } from 'node:timers/promises';
import { printTable } from './markdown.ts';
import { readOptions } from './options.ts';
import { cpuOf } from './processes.ts';
import { report, type Measurement } from './report.ts';
import { runSql, withService, type Service } from './service.ts';

const options = readOptions({
  jobs: '10000',
  tenants: '10',
  idle: '100000',
  seconds: '30',
  spread: '0,60',
  limit: '180',
  dist: 'dist',
});

/** Time after which the jobs are due, so that they are all stored by then. */
const LEAD_SECONDS = 5;

/** Number of jobs that run before the measurement. */
const WARM_JOBS = '500';

/** Tenants `due-<n>`, each with one user. */
const TENANTS = `
  insert into dws.tenant (id, slug)
    select md5('due' || n)::uuid, 'due-' || n from generate_series(1, ${options.tenants}) n;
  insert into dws.app_user (id, tenant_id, username, display_name, enabled)
    select md5('due-user' || n)::uuid, md5('due' || n)::uuid, 'user', 'User', true
    from generate_series(1, ${options.tenants}) n;`;

/** Inserts enabled jobs of all tenants. `next` is SQL for the next run of the job number `n`. */
const insertJobs = (url: string, name: string, count: string, next: string) =>
  runSql(
    url,
    `set role dws_system;
    insert into dws.job
      (id, tenant_id, name, slug, owner_id, type, timezone, interval, interval_type, enabled, next_run_at)
    select md5('${name}' || n)::uuid, md5('due' || t)::uuid, '${name} ' || n, '${name}-' || n,
      'user:' || md5('due-user' || t)::uuid, 'actions', 'UTC', '0 3 1 1 *', 'cron', true, ${next}
    from (select n, 1 + n % ${options.tenants} as t from generate_series(1, ${count}) n) j;
    reset role`,
    'vacuum (analyze) dws.job',
  );

interface Cpu {
  workers: number;
  postgres: number;
}

/** Returns the CPU seconds that `work` takes in all workers and in Postgres. */
async function cpuDuring({ pids, postmaster }: Service, work: () => Promise<unknown>): Promise<Cpu> {
  const used = () => [pids.reduce((sum, pid) => sum + cpuOf(pid), 0), cpuOf(postmaster)] as const;
  const before = used();
  await work();
  const [workers, postgres] = used().map((now, i) => now - before[i]!);
  return { workers: workers!, postgres: postgres! };
}

/** Returns the CPU of one idle worker in percent of a core. */
async function measureIdle(service: Service): Promise<Cpu> {
  // Start-up, and what the last statements left to do, is over.
  await setTimeout(5000);
  const { workers, postgres } = await cpuDuring(service, () => setTimeout(Number(options.seconds) * 1000));
  const percent = 100 / Number(options.seconds);
  return { workers: (workers * percent) / service.pids.length, postgres: postgres * percent };
}

interface Started {
  started: number;
  finished: number;
  /** Jobs that have not exactly one run, or one that did not succeed. */
  wrong: number;
  /** Seconds from the first due time to the last start. */
  last: number;
  p50: number;
  p99: number;
}

const STARTED = (name: string) => `
  select count(r.started_at)::int as started, count(r.finished_at)::int as finished,
    count(*) filter (where r.runs is distinct from 1 or r.success is not true)::int as wrong,
    extract(epoch from max(r.started_at) - min(r.due_at))::float8 as last,
    percentile_cont(0.5) within group (order by extract(epoch from r.started_at - r.due_at)) as p50,
    percentile_cont(0.99) within group (order by extract(epoch from r.started_at - r.due_at)) as p99
  from dws.job j
  left join (
    select *, count(*) over (partition by job_id) as runs from dws.job_run
  ) r on r.job_id = j.id
  where j.name like '${name} %'`;

/** Lets jobs become due over some seconds, and waits until all have run or the time is up. */
async function measureDue(service: Service, count: string, spread: string): Promise<Started & Cpu> {
  const { databaseUrl: url } = service;
  const name = `due${count}in${spread}`;
  await insertJobs(url, name, count, 'null');
  await runSql(
    url,
    `set role dws_system;
    update dws.job j
    set next_run_at = now() + ${LEAD_SECONDS} * interval '1 second'
      + substr(j.slug, ${name.length + 2})::int * ${spread} / ${count}.0 * interval '1 second'
    where j.name like '${name} %'`,
  );
  const state = async () => (await runSql(url, STARTED(name)))[0] as Started;
  const until = Date.now() + Number(options.limit) * 1000;
  const cpu = await cpuDuring(service, async () => {
    while ((await state()).finished < Number(count) && Date.now() < until) await setTimeout(1000);
  });
  return { ...(await state()), ...cpu };
}

await withService({ roles: ['worker', 'worker'], dist: options.dist }, async (service) => {
  await runSql(service.databaseUrl, `set role dws_system; ${TENANTS}`);
  const nothing = await measureIdle(service);
  await insertJobs(service.databaseUrl, 'far', options.idle, `now() + interval '1 year'`);
  const idle = await measureIdle(service);
  console.log(`\n## An idle worker, CPU in % of a core over ${options.seconds} s\n`);
  printTable(
    ['jobs', 'worker', 'Postgres, for both workers'],
    [
      ['0', nothing.workers.toFixed(2), nothing.postgres.toFixed(2)],
      [options.idle, idle.workers.toFixed(2), idle.postgres.toFixed(2)],
    ],
  );

  const lines: string[][] = [];
  const measurements: Measurement[] = [
    { what: `idle worker with ${options.idle} jobs, CPU`, goal: 'jobsIdle', value: idle.workers },
  ];
  // Postgres plans for the tables as they were when they were analyzed last: here, empty ones.
  await measureDue(service, WARM_JOBS, '0');
  await runSql(service.databaseUrl, 'vacuum (analyze)');
  for (const spread of options.spread.split(',')) {
    const { started, finished, wrong, last, p50, p99, workers, postgres } = await measureDue(
      service,
      options.jobs,
      spread,
    );
    const perRun = [workers, postgres].map((seconds) => ((seconds * 1e6) / finished).toFixed(0));
    const seconds = [last, p50, p99].map((value) => value.toFixed(2));
    lines.push([spread, started.toFixed(0), finished.toFixed(0), wrong.toFixed(0), ...seconds, ...perRun]);
    const what = `${options.jobs} jobs due ${spread === '0' ? 'immediately' : `within ${spread} s`}`;
    const isComplete = started >= Number(options.jobs);
    measurements.push(
      { what: `${what}, last start`, goal: 'jobsStarted', value: isComplete ? last : Infinity },
      { what: `${what}, not run exactly once`, goal: 'jobsOnce', value: wrong },
    );
  }
  console.log(`\n## ${options.jobs} jobs of ${options.tenants} tenants due, two workers\n`);
  const header =
    'due over s, started, ended, wrong, last start s, lag p50 s, lag p99 s, worker CPU µs, Postgres CPU µs';
  printTable(header.split(', '), lines);
  report(measurements);
});
