import { SqlFailure } from '../core/app-workspace.ts';
import type { Query } from '../core/database.ts';
import { LOCKS } from '../core/locks.ts';
import type { Platform } from '../core/platform.ts';
import { STORES } from '../services/resource/stores.ts';
import { repeatPass } from './repeated-pass.ts';

/** About how many bytes a row takes besides its long columns: header, ids, times, entries of indexes. */
const ROW_BYTES = 200;
/** A pass may last at most this part of the time. */
const MAX_SHARE_OF_TIME = 0.02;

/**
 * Returns SQL for the bytes of a table by tenant and app: rows, and lengths as they are stored of all columns of variable
 * length, which reads no long values.
 */
function measureSql(table: string, columns: readonly string[], ofApps: boolean): string {
  const lengths = columns.map((column) => `coalesce(pg_column_size(r.${column}), 0)`).join(' + ');
  return `
    select r.tenant_id, ${ofApps ? 'r.app_id' : 'null::uuid'} as app_id, '${table}' as store,
      sum(${ROW_BYTES} + ${lengths || '0'})::bigint as bytes
    from dws.${table} r
    group by 1, 2`;
}

/** Returns the columns of variable length of all tables. */
async function longColumns({ system }: Platform): Promise<Map<string, string[]>> {
  const rows = await system.query<{ name: string; columns: string[] }>({
    text: `
      select c.relname as name, array_agg(quote_ident(a.attname) order by a.attnum) as columns
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attlen = -1
      where c.relnamespace = 'dws'::regnamespace and c.relkind = 'r'
      group by 1`,
  });
  return new Map(rows.map(({ name, columns }) => [name, columns]));
}

/**
 * Measures the stored bytes of each tenant and app in the database (`dws.store_size`), unless another process does so. A
 * store that fails keeps its former sizes, which is logged.
 */
export async function measureStores(platform: Platform, signal: AbortSignal): Promise<void> {
  const columns = await longColumns(platform);
  for (const { name, measure, owner } of STORES) {
    if (measure !== 'rows') continue;
    signal.throwIfAborted();
    const sizes = measureSql(name, columns.get(name) ?? [], owner === 'app');
    await platform.system.transaction(async (query) => {
      if (!(await isFirst(query))) return;
      await query({ text: 'delete from dws.store_size where store = $1', values: [name] });
      await query({
        text: `
          insert into dws.store_size (tenant_id, app_id, store, bytes)
          select s.tenant_id, s.app_id, s.store, s.bytes
          from (${sizes}) s
          where s.app_id is null or exists (select from dws.app a where a.id = s.app_id for key share)`,
      });
    });
  }
  await measureWorkspaces(platform, signal);
}

async function isFirst(query: Query): Promise<boolean> {
  const [lock] = await query<{ isFirst: boolean }>({
    text: 'select pg_try_advisory_xact_lock($1) as "isFirst"',
    values: [LOCKS.storeSizes],
  });
  return lock!.isFirst;
}

/** Measures the tables of each app. One whose tables are locked keeps its former size. */
async function measureWorkspaces({ system, workspaces, log }: Platform, signal: AbortSignal): Promise<void> {
  const apps = await system.query<{ tenantId: string; appId: string }>({
    text: `select tenant_id as "tenantId", id as "appId" from dws.app where schema_name is not null`,
  });
  for (const key of apps) {
    signal.throwIfAborted();
    try {
      const bytes = await workspaces.sizeOf(key, signal);
      await system.query({
        text: `
          insert into dws.store_size (tenant_id, app_id, store, bytes)
          select tenant_id, id, 'workspace', $2 from dws.app where id = $1
          on conflict (tenant_id, store, app_id) do update set bytes = excluded.bytes, measured_at = now()`,
        values: [key.appId, bytes],
      });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SqlFailure)) throw error;
      log.debug({ err: error, app: key.appId }, 'Could not measure the tables of an app');
    }
  }
}

/** Measures every `interval` milliseconds, or less often, so that it takes at most a fiftieth of the time. */
export function startStoreSizes(platform: Platform, { interval }: { interval: number }): { stop(): Promise<void> } {
  let next = 0;
  return repeatPass(platform, { interval, failureMessage: 'Could not measure what is stored' }, async (signal) => {
    const start = performance.now();
    if (start < next) return;
    await measureStores(platform, signal);
    const end = performance.now();
    next = end + (end - start) / MAX_SHARE_OF_TIME;
  });
}
