import type { Library } from '../../../entities/library.ts';
import type { Query } from '../../core/database.ts';
import type { Drive, DriveAccess } from '../../core/drive.ts';
import { cancelled, notFound } from '../../core/errors.ts';
import type { LibrarySyncInput } from '../../core/operations.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import { lockLease, Superseded, type Attempt, type Progress } from '../operation/operation-repository.ts';
import { saveState, type SyncState } from './sync-state.ts';

/** The parts of a library that a sync reads. */
export type SyncedLibrary = Pick<Library, 'id' | 'tenantId' | 'settings'>;

/** The drive of a library, opened for one sync. */
export interface OpenedDrive {
  drive: Drive;
  access: DriveAccess;
  /** The integration, account and settings that the state of syncs is valid for, as text. */
  validFor: string;
}

/** A file that a dry run would change. */
export interface PlannedChange {
  action: 'add' | 'update' | 'delete';
  fileId: string;
  path: string;
  size: number | null;
}

/** Maximum number of changes and of errors that a result lists. */
export const MAX_LISTED = 1000;

/** One attempt at a sync. */
export interface SyncAttempt {
  platform: Platform;
  claim: Attempt;
  input: LibrarySyncInput;
  library: SyncedLibrary;
  opened: OpenedDrive;
  signal: AbortSignal;
  /** Aborts the signal. */
  abort(reason: unknown): void;
  progress(update: Progress): void;
}

/**
 * A running sync: its known state, and the only way to change it. Changes are written one after the other, each in a
 * transaction that fails once another worker has taken over or the caller has cancelled.
 */
export class SyncRun {
  readonly attempt: SyncAttempt;
  /** The first changes that a dry run finds. */
  readonly planned: PlannedChange[] = [];
  #state: SyncState;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(attempt: SyncAttempt, state: SyncState) {
    this.attempt = attempt;
    this.#state = state;
  }

  get state(): SyncState {
    return this.#state;
  }

  /** Whether the library stays unchanged. */
  get isDry(): boolean {
    return this.attempt.input.dryRun;
  }

  get tenantId(): string {
    return this.attempt.library.tenantId;
  }

  /** The library and scope of statements: `$1` is the tenant, `$2` the scope, `$3` the library. */
  get keys(): [tenantId: string, scopeId: string, libraryId: string] {
    return [this.tenantId, this.#state.scopeId, this.attempt.library.id];
  }

  readonly query: Query = (statement) => this.attempt.platform.database.query(this.tenantId, statement);

  /** Adds changes to the list of a dry run. */
  plan(action: PlannedChange['action'], files: readonly Omit<PlannedChange, 'action'>[]): void {
    const some = files.slice(0, MAX_LISTED - this.planned.length);
    this.planned.push(...some.map(({ fileId, path, size }) => ({ action, fileId, path, size })));
  }

  /**
   * Runs `work` in a transaction, and stores in it the changes of the state that `work` returns. `isProgress` is false
   * for work that another attempt repeats.
   */
  write(work: (tx: Transaction) => Promise<Partial<SyncState>>, isProgress = true): Promise<void> {
    const writing = this.#writing.then(async () => {
      this.attempt.signal.throwIfAborted();
      this.#state = await writeFenced(this.attempt, async (tx) => {
        const changed = { ...this.#state, ...(await work(tx)) };
        const state = isProgress ? { ...changed, counts: { ...changed.counts, idle: 0 } } : changed;
        saveState(tx, this.tenantId, state);
        return state;
      });
    });
    this.#writing = writing.catch(() => undefined);
    return writing;
  }
}

/** Runs a transaction of the current attempt. Throws if it is no longer the current one, and NOT_FOUND without library. */
export async function writeFenced<T>(
  { platform, claim, library }: Pick<SyncAttempt, 'platform' | 'claim' | 'library'>,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return platform.database.transaction(library.tenantId, async (tx) => {
    const lease = await lockLease(tx, claim);
    if (lease === 'lost') throw new Superseded();
    if (lease === 'cancelled') throw cancelled();
    const [found] = await tx.query({
      text: `select id from dws.library where tenant_id = $1 and id = $2 for no key update`,
      values: [library.tenantId, library.id],
    });
    if (!found) throw notFound({ what: 'library', id: library.id });
    return work(tx);
  });
}
