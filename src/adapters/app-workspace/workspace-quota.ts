import { SqlFailure, type TableLimit, type WorkspaceKey } from '../../core/app-workspace.ts';
import type { WorkspaceConnection } from './workspace-connection.ts';
import { schemaOfRole } from './workspace-roles.ts';

/** The fastest growth of an app that is expected, by which its size is measured again. */
const GROWTH_BYTES_PER_MS = 100_000;
const MAX_AGE_MS = 60_000;
/** Age of the size of an app past its quota, and after a measurement that failed. */
const RETRY_MS = 2000;
/** Longest waits for a table that is locked: of a statement of an app, and of a migration. */
const LOCK_TIMEOUT_MS = 200;
/** See `LOCK_TIMEOUT_MS`. */
export const MIGRATION_LOCK_TIMEOUT_MS = 5000;

const READ_ONLY_TRANSACTION = '25006';
const DISK_FULL = '53100';

/**
 * SQL for the bytes of a schema `$1` with indexes and the separate storage of long values. It waits for a locked table
 * at most for the time of the setting, so the sum depends on that time.
 */
const SIZE = `
  select coalesce(sum(pg_catalog.pg_total_relation_size(case when s.timeout is null then null else c.oid end)), 0)::text as bytes
  from (select pg_catalog.set_config('lock_timeout', $2, true) as timeout offset 0) s
  cross join pg_catalog.pg_class c
  where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'm', 'S')`;

/** Returns the bytes of the tables of a workspace, on a connection of one of its roles. */
export async function sizeOf(
  connection: WorkspaceConnection,
  signal: AbortSignal,
  lockTimeoutMs = LOCK_TIMEOUT_MS,
): Promise<number> {
  const [row] = await connection.run(SIZE, [schemaOfRole(connection.role), String(lockTimeoutMs)], signal);
  return Number(row!['bytes']);
}

/** Returns the same in a transaction of an app, which continues whatever happens. */
async function sizeInTransaction(connection: WorkspaceConnection, signal: AbortSignal): Promise<number> {
  await connection.run('savepoint _size', [], signal);
  try {
    return await sizeOf(connection, signal);
  } finally {
    await connection.run('rollback to savepoint _size', [], signal);
    await connection.run('release savepoint _size', [], signal);
  }
}

/** The measured size of an app. Times are values of `performance.now()`. */
interface Size {
  bytes: number;
  /** When it is measured again. */
  until: number;
  /** When the last measurements began to fail; null if the last one did not. */
  failingSince: number | null;
}

/** Limits apps that have too many bytes to reading: their tables, and their data in other stores. */
export class WorkspaceQuota {
  /** Returns what the tables of an app may have now. */
  readonly limitOf: (key: WorkspaceKey) => Promise<TableLimit>;
  readonly #measured = new Map<string, Size>();

  constructor(limitOf: (key: WorkspaceKey) => Promise<TableLimit>) {
    this.limitOf = limitOf;
  }

  /** Returns why an app only reads, by a size of its tables that is recent enough; null if it may write. */
  async refusalOf(connection: WorkspaceConnection, key: WorkspaceKey, signal: AbortSignal): Promise<string | null> {
    const { quota, others, refusal } = await this.limitOf(key);
    if (refusal !== null) return `${refusal}. The app only reads`;
    if (quota === Infinity) return null;
    return (await this.#isExceeded(connection, quota - others, signal))
      ? `The app has more than ${quota} bytes of data: it only reads until a migration has deleted some`
      : null;
  }

  async #isExceeded(connection: WorkspaceConnection, maxBytes: number, signal: AbortSignal): Promise<boolean> {
    const schema = schemaOfRole(connection.role);
    const now = performance.now();
    const former = this.#measured.get(schema) ?? { bytes: 0, until: 0, failingSince: null };
    if (former.until > now) return isTooMuch(former, maxBytes, now);
    const bytes = await this.#measure(connection, signal).catch((error: unknown) => {
      if (!(error instanceof SqlFailure) || !connection.isUsable) throw error;
      // A table is locked, or the transaction has failed.
      return undefined;
    });
    const age = bytes === undefined || bytes > maxBytes ? RETRY_MS : (maxBytes - bytes) / GROWTH_BYTES_PER_MS;
    const size: Size = {
      bytes: bytes ?? former.bytes,
      until: now + Math.min(age, MAX_AGE_MS),
      failingSince: bytes === undefined ? (former.failingSince ?? now) : null,
    };
    this.#measured.set(schema, size);
    return isTooMuch(size, maxBytes, now);
  }

  #measure(connection: WorkspaceConnection, signal: AbortSignal): Promise<number> {
    return connection.isInTransaction ? sizeInTransaction(connection, signal) : sizeOf(connection, signal);
  }

  /** Forgets the size of an app, which may have changed. */
  forget(schema: string): void {
    this.#measured.delete(schema);
  }
}

/** An app whose size cannot be measured for a while, because it locks its tables, only reads too. */
const isTooMuch = ({ bytes, failingSince }: Size, maxBytes: number, now: number): boolean =>
  bytes > maxBytes || (failingSince !== null && now - failingSince > MAX_AGE_MS);

/** Returns the error of a statement. One that writes although the app only reads names the reason. */
export const explainRefusal = (error: unknown, refusal: string): unknown =>
  error instanceof SqlFailure && error.code === READ_ONLY_TRANSACTION
    ? new SqlFailure(DISK_FULL, refusal, error.position)
    : error;

/**
 * Throws `SqlFailure` if a migration, which has not been committed, lets an app grow although it must not. `former` is the
 * size of its tables before; one that deletes or changes nothing is possible at any size.
 */
export function checkMigration({ quota, others, refusal }: TableLimit, bytes: number, former: number): void {
  if (bytes <= former + SMALL_BYTES) return;
  if (refusal !== null) throw new SqlFailure(DISK_FULL, refusal);
  if (bytes + others > quota)
    throw new SqlFailure(DISK_FULL, `The app would have ${bytes + others} bytes of data; its quota is ${quota}`);
}

/** Growth by Postgres' own writes, such as the row that records a migration. */
const SMALL_BYTES = 1_000_000;
