import { runSql } from './service.ts';

const TENANT = `md5('bench')::uuid`;

/**
 * Inserts jobs `Job <number> of <n>` with three actions each into the tenant of fill.ts, unless they exist. They are
 * disabled; user 2 owns every second one.
 */
export async function fillJobs(url: string, count: number): Promise<void> {
  await runSql(
    url,
    'set role dws_system',
    `insert into dws.job
      (id, tenant_id, name, slug, description, owner_id, type, timezone, interval, interval_type, created_at, updated_at)
    select md5('nightly' || n)::uuid, ${TENANT},
      'Job ' || lpad(((n::bigint * 7919) % 1000003)::text, 7, '0') || ' of ' || n, 'nightly-' || n,
      'Synchronises source ' || n || ' every so often and tells its owner when that fails.',
      'user:' || md5('user' || case when n % 2 = 0 then 2 else 1 + n % 200 end)::uuid,
      'actions', 'UTC', '0 3 * * *', 'cron',
      '2024-01-01'::timestamptz + n * interval '1 minute', '2024-06-01'::timestamptz + n * interval '1 minute'
    from generate_series(1, ${count}) n
    on conflict (id) do nothing`,
    `insert into dws.job_action (id, tenant_id, job_id, type, name, position, data)
    select md5('action' || n || '-' || step)::uuid, ${TENANT}, md5('nightly' || n)::uuid, 'notify', 'Step ' || step, step,
      jsonb_build_object('message', 'Step ' || step || ' is done', 'recipients', jsonb_build_array('user:' || n))
    from generate_series(1, ${count}) n, generate_series(0, 2) step
    on conflict (id) do nothing`,
    'reset role',
    'vacuum (analyze) dws.job, dws.job_action',
  );
}
