import { SqlFailure } from '../../core/app-workspace.ts';
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
 * SQL for the bytes of a schema `$1` with indexes and what Postgres stores beside long values. Waits for a table that is
 * locked for at most the time of the setting, on which the sum therefore depends.
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

/** Returns the same in a transaction of an app, which goes on whatever happens. */
async function sizeInTransaction(connection: WorkspaceConnection, signal: AbortSignal): Promise<number> {
  await connection.run('savepoint _size', [], signal);
  try {
    return await sizeOf(connection, signal);
  } finally {
    await connection.run('rollback to savepoint _size', [], signal);
    await connection.run('release savepoint _size', [], signal);
  }
}

/** The size of an app. Times are those of `performance.now()`. */
interface Size {
  bytes: number;
  /** When it is measured again. */
  until: number;
  /** When the last measurements began to fail; null if the last one did not. */
  failingSince: number | null;
}

/** Lets apps whose tables have too many bytes only read. */
export class WorkspaceQuota {
  /** 0: no limit. */
  readonly maxBytes: number;
  readonly #measured = new Map<string, Size>();

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Returns whether the app of a connection has more data than it may have, by a size that is recent enough. */
  async isExceeded(connection: WorkspaceConnection, signal: AbortSignal): Promise<boolean> {
    if (this.maxBytes === 0) return false;
    const schema = schemaOfRole(connection.role);
    const now = performance.now();
    const former = this.#measured.get(schema) ?? { bytes: 0, until: 0, failingSince: null };
    if (former.until > now) return this.#isTooMuch(former, now);
    const bytes = await this.#measure(connection, signal).catch((error: unknown) => {
      if (!(error instanceof SqlFailure) || !connection.isUsable) throw error;
      // A table is locked, or the transaction has failed.
      return undefined;
    });
    const age = bytes === undefined || bytes > this.maxBytes ? RETRY_MS : (this.maxBytes - bytes) / GROWTH_BYTES_PER_MS;
    const size: Size = {
      bytes: bytes ?? former.bytes,
      until: now + Math.min(age, MAX_AGE_MS),
      failingSince: bytes === undefined ? (former.failingSince ?? now) : null,
    };
    this.#measured.set(schema, size);
    return this.#isTooMuch(size, now);
  }

  /** An app whose size cannot be measured for a while, because it locks its tables, only reads too. */
  #isTooMuch({ bytes, failingSince }: Size, now: number): boolean {
    return bytes > this.maxBytes || (failingSince !== null && now - failingSince > MAX_AGE_MS);
  }

  #measure(connection: WorkspaceConnection, signal: AbortSignal): Promise<number> {
    return connection.isInTransaction ? sizeInTransaction(connection, signal) : sizeOf(connection, signal);
  }

  /** Forgets the size of an app, which may have changed. */
  forget(schema: string): void {
    this.#measured.delete(schema);
  }

  /** Returns the error of a statement. One that writes past the quota names it. */
  explain(error: unknown): unknown {
    if (!(error instanceof SqlFailure) || error.code !== READ_ONLY_TRANSACTION) return error;
    return new SqlFailure(
      DISK_FULL,
      `The app has more than ${this.maxBytes} bytes of data: it only reads until a migration has deleted some`,
      error.position,
    );
  }

  /**
   * Throws `SqlFailure` if a migration, which has not been committed, lets an app grow past its quota. `former` is the
   * size before it; one that deletes or changes nothing is possible at any size.
   */
  checkMigration(bytes: number, former: number): void {
    if (this.maxBytes === 0 || bytes <= this.maxBytes || bytes <= former + SMALL_BYTES) return;
    throw new SqlFailure(DISK_FULL, `The app would have ${bytes} bytes of data; its quota is ${this.maxBytes}`);
  }
}

/** Growth by what Postgres itself writes, such as the row that records a migration. */
const SMALL_BYTES = 1_000_000;
