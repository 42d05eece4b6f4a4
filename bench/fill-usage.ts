/**
 * Fills the usage ledger of the tenant `bench` (bench/fill.ts) with a year of lines up to now, and the totals of their
 * days: 200 users that each call three of 60 apps, 150 jobs that their owners run, 20 assistants that all use, and 10
 * libraries. 60 of the apps, jobs and assistants have a budget.
 */
import { idOf } from './fill.ts';
import { runSql } from './service.ts';

/** Id of the tenant. */
export const TENANT = idOf('bench');

/** Inserts `count` rows of a table of resources that usage is charged to. Every fourth has a budget. */
const entities = (table: string, count: number, columns = '', values = '') => `
  insert into dws.${table} (id, tenant_id, name, slug, owner_id, monthly_budget${columns})
    select md5('${table}' || n)::uuid, '${TENANT}', '${table} ' || n, '${table}-' || n,
      'user:' || md5('user' || 1 + n % 200)::uuid, case when n % 4 = 0 then n end${values}
    from generate_series(0, ${count - 1}) n
    on conflict do nothing`;

/** Lines in the order of their times. `n` and `h`, a hash of it, decide what a line is of. */
const LINES = (count: number) => `
  insert into dws.usage_event
    (tenant_id, id, occurred_at, actor, entity_type, entity_id, resource_type, quantity, credits, metadata, key)
    select '${TENANT}', gen_random_uuid(), at, 'user:' || md5('user' || 1 + person)::uuid, kind,
      md5(kind || case kind
        when 'app' then (person * 7 + h / 1000 % 3) % 60
        when 'job' then person % 150
        when 'assistant' then h / 1000 % 20
        else h / 1000 % 10 end)::uuid,
      resource, quantity, round(quantity * rate, 6), '{}', resource || ':' || n
    from (
      select n, h, h / 7 % 200 as person,
        now() - (${count} - n) * interval '365 days' / ${count} as at,
        case when h % 100 < 55 then 'app' when h % 100 < 85 then 'job' when h % 100 < 99 then 'assistant' else 'library' end
          as kind,
        case when h % 100 < 55 then 'app_compute' when h % 100 < 85 then 'job_compute' when h % 100 < 99 then 'ai'
          else 'file_storage' end as resource,
        case when h % 100 < 85 then h % 90000 / 1000.0 when h % 100 < 99 then h % 500 / 10000.0 else h % 1000000 end
          as quantity,
        case when h % 100 < 85 then 0.01 when h % 100 < 99 then 100 else 0.00000000001 end as rate
      from (select n, n * 48271::bigint % 2147483647 as h from generate_series(1, ${count}) n) numbered
    ) line`;

const TOTALS = `
  insert into dws.usage_day
    (tenant_id, day, actor, entity_type, entity_id, resource_type, quantity, credits, events)
    select tenant_id, (occurred_at at time zone 'UTC')::date as day, actor, entity_type, entity_id, resource_type,
      sum(quantity), sum(credits), count(*)
    from dws.usage_event
    group by 1, 2, 3, 4, 5, 6
    order by 2`;

/** Inserts lines and totals. Returns the number of all totals and of the totals of the current month. */
export async function fillUsage(url: string, count: number): Promise<{ totals: number; month: number }> {
  const [found] = await runSql(
    url,
    'set role dws_system',
    entities('app', 60, ', status', `, 'draft'`),
    entities('job', 150, ', type, timezone', `, 'actions', 'UTC'`),
    entities('assistant', 20),
    LINES(count),
    TOTALS,
    'reset role',
    'vacuum (analyze) dws.usage_event, dws.usage_day, dws.app, dws.job, dws.assistant',
    'set role dws_system',
    `select count(*)::int as totals,
      count(*) filter (where day >= date_trunc('month', now() at time zone 'UTC'))::int as month
    from dws.usage_day`,
  );
  return found as { totals: number; month: number };
}
