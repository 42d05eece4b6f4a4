import type { EndedRun } from '../../core/app-run.ts';
import { perPlatform } from '../../core/per-platform.ts';
import type { Platform } from '../../core/platform.ts';
import { storageIssue } from '../resource/storage-limit.ts';
import { meter } from '../usage/usage-meter.ts';
import { AppRecordPruner } from './app-record-pruner.ts';
import { insertRecords, toRecord, withoutContent, type RunRecord } from './app-run-rows.ts';
import { ComputeCharger } from './app-run-usage.ts';

/** Maximum number of runs that one transaction records, and the size at which it ends before, in bytes. */
const MAX_RUNS = 500;
const MAX_BYTES = 8_000_000;

interface WaitingRecord {
  record: RunRecord;
  recorded: (isRecorded: boolean) => void;
}

/**
 * The records of a process. Records of one tenant that arrive while a transaction writes share the next transaction.
 */
class RunRecorder {
  readonly #platform: Platform;
  readonly #charger = new ComputeCharger();
  readonly #pruner = new AppRecordPruner();
  /** The waiting records of the tenants that a transaction writes for. */
  readonly #waiting = new Map<string, WaitingRecord[]>();
  readonly #writes = new Set<Promise<void>>();

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  add(run: EndedRun): Promise<boolean> {
    const { tenantId } = run.app;
    return new Promise((recorded) => {
      const entry = { record: toRecord(this.#platform.secrets, run), recorded };
      const waiting = this.#waiting.get(tenantId);
      if (waiting) return void waiting.push(entry);
      this.#waiting.set(tenantId, [entry]);
      const writes = this.#writeAll(tenantId).finally(() => this.#writes.delete(writes));
      this.#writes.add(writes);
    });
  }

  /** Waits until everything is written. */
  async finish(): Promise<void> {
    while (this.#writes.size > 0) await Promise.all(this.#writes);
  }

  async #writeAll(tenantId: string): Promise<void> {
    const waiting = this.#waiting.get(tenantId)!;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batchLength(waiting));
      const records = batch.map(({ record }) => record);
      const isRecorded = await this.#attempt('record runs', () => this.#write(tenantId, records));
      for (const { recorded } of batch) recorded(isRecorded);
      await this.#attempt('prune records', () => this.#pruner.prune(this.#platform.database, tenantId, records));
    }
    this.#waiting.delete(tenantId);
  }

  async #write(tenantId: string, records: readonly RunRecord[]): Promise<void> {
    const stored: RunRecord[] = [];
    for (const record of records)
      stored.push((await storageIssue(this.#platform, tenantId, record.appId)) ? withoutContent(record) : record);
    await this.#platform.database.transaction(tenantId, async (tx) => {
      const usage = await this.#charger.usageOf(tx, tenantId, records);
      insertRecords(tx, tenantId, stored);
      meter({ tenantId }, tx, usage);
    });
  }

  /** Does work that must not fail. Returns whether it succeeded. */
  async #attempt(what: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.#platform.log.error({ err: error }, `Could not ${what} of apps`);
      return false;
    }
  }
}

/** Returns how many of the waiting records one transaction writes. */
function batchLength(waiting: readonly WaitingRecord[]): number {
  let bytes = 0;
  const length = waiting.findIndex(({ record }) => (bytes += record.bytes) > MAX_BYTES);
  return Math.min(MAX_RUNS, length < 0 ? waiting.length : Math.max(1, length));
}

const recorderOf = perPlatform((platform) => new RunRecorder(platform));

/**
 * Records a run of an app: its log, the call of a webhook and the compute time. Resolves to true when the records are
 * committed, and to false when they cannot be, which is logged. If the app was deleted during the run, only the compute
 * time is recorded.
 */
export const recordRun = (platform: Platform, run: EndedRun): Promise<boolean> => recorderOf(platform).add(run);

/** Waits until all runs of the process are recorded. */
export const finishRunRecords = (platform: Platform): Promise<void> => recorderOf(platform).finish();
