import type { Statement } from '../../core/database.ts';
import type { TenantDatabase } from '../../core/platform.ts';
import type { RunRecord } from './app-run-rows.ts';

/**
 * Maximum number of calls, lines and bytes of each app. The bytes bound its lines, its calls without requests, and its
 * calls with requests; past the last bound only requests are deleted.
 */
const MAX_CALLS = 10_000;
const MAX_LINES = 50_000;
const MAX_BYTES = 100_000_000;

/** An app is pruned after this number of new records in one process, and with its first ones. */
const CALLS_PER_PRUNE = 500;
const LINES_PER_PRUNE = 5000;
/** Maximum number of apps that are counted. A forgotten app is pruned with its next record. */
const MAX_COUNTED = 10_000;

const PRUNE_CALLS = `
  with sized as (
    select id, at, octet_length(path) + coalesce(octet_length(error), 0) as text_bytes,
      coalesce(octet_length(request), 0) as request_bytes
    from dws.webhook_call
    where tenant_id = $1 and app_id = $2
  ), counted as (
    select id, sum(text_bytes + request_bytes) over newest as bytes,
      row_number() over newest > ${MAX_CALLS} or sum(text_bytes) over newest > ${MAX_BYTES} as is_old
    from sized
    window newest as (order by at desc, id desc)
  ), deleted as (
    delete from dws.webhook_call where tenant_id = $1 and id in (select id from counted where is_old)
  )
  update dws.webhook_call set request = null
  where tenant_id = $1 and request is not null
    and id in (select id from counted where not is_old and bytes > ${MAX_BYTES})`;

const PRUNE_LINES = `
  delete from dws.app_log where tenant_id = $1 and id in (
    select id
    from (
      select id, row_number() over newest as number, sum(octet_length(message)) over newest as bytes
      from dws.app_log
      where tenant_id = $1 and app_id = $2
      window newest as (order by at desc, id desc)
    ) counted
    where number > ${MAX_LINES} or bytes > ${MAX_BYTES}
  )`;

/** Deletes the oldest records of apps beyond the limits. The janitor deletes records that are too old. */
export class AppRecordPruner {
  readonly #calls = new PruneCounter(CALLS_PER_PRUNE);
  readonly #lines = new PruneCounter(LINES_PER_PRUNE);

  /** Prunes the apps of new records, if there were enough of them. */
  async prune(database: TenantDatabase, tenantId: string, records: readonly RunRecord[]): Promise<void> {
    for (const record of records) {
      if (record.call) this.#calls.add(record.appId, 1);
      if (record.lines.length > 0) this.#lines.add(record.appId, record.lines.length);
    }
    for (const appId of new Set(records.map((record) => record.appId))) {
      const prune = (text: string): Statement => ({ text, values: [tenantId, appId] });
      if (this.#calls.isDue(appId)) await database.query(tenantId, prune(PRUNE_CALLS));
      if (this.#lines.isDue(appId)) await database.query(tenantId, prune(PRUNE_LINES));
    }
  }
}

/** Counts the new records of apps. */
class PruneCounter {
  readonly #limit: number;
  /** Records since an app was pruned. */
  readonly #counts = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(appId: string, records: number): void {
    this.#counts.set(appId, (this.#counts.get(appId) ?? this.#limit) + records);
  }

  /** Returns whether an app has enough new records to be pruned, and if so counts from zero again. */
  isDue(appId: string): boolean {
    if ((this.#counts.get(appId) ?? 0) < this.#limit) return false;
    if (this.#counts.size > MAX_COUNTED) this.#counts.clear();
    this.#counts.set(appId, 0);
    return true;
  }
}
