import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type {
  AggregateResult,
  Aggregation,
  DatasetIndex,
  FieldProfile,
  Generation,
  GenerationId,
  LoadPlan,
  Page,
  Row,
  RowSearch,
  Search,
} from '../../../core/dataset-index.ts';
import type { Caller } from '../../../core/fair-gate.ts';
import type { Column } from '../../../core/fields.ts';
import type { Segment } from '../../../core/row-source.ts';
import { aggregateRows } from './aggregate.ts';
import { cloneFolder, dropFolder, folder, listFolders } from './generation-files.ts';
import { loadGeneration } from './load.ts';
import { profileRows } from './profile.ts';
import { scanRows } from './scan.ts';
import { openScope } from './scope.ts';
import type { Scope } from './scope.ts';
import { searchRows } from './search.ts';
import { Serving } from './serving.ts';
import { WordsSidecar } from './words-sidecar.ts';

/** Location and limits of the embedded index. */
export interface DuckdbSettings {
  /** Folder of the generations. It is created if missing. */
  dir: string;
  /** DuckDB's memory limit for queries, e.g. `256MB`, the default. */
  memoryLimit?: string;
  /** Threads for queries; by default one per core, at most four. */
  threads?: number;
  /** Folder for sorts that exceed the memory; by default a temporary folder of the system. */
  temp?: string;
}

/** Builds the words of a new generation in the loader, a process that no caller shares. */
const LOADER: Caller = { tenantId: '', userId: '' };

/** The embedded index: DuckDB, one immutable folder of files per generation. */
export class DuckdbIndex implements DatasetIndex {
  readonly #dir: string;
  readonly #settings: DuckdbSettings;
  #opened?: Promise<{ serving: Serving; sidecar: WordsSidecar }>;

  constructor(settings: DuckdbSettings) {
    this.#dir = resolve(settings.dir);
    this.#settings = settings;
  }

  async load(
    id: GenerationId,
    columns: Column[],
    segments: AsyncIterable<Segment>,
    plan: LoadPlan,
  ): Promise<Generation> {
    await mkdir(this.#dir, { recursive: true });
    return loadGeneration(this.#dir, id, columns, segments, plan);
  }

  async clone(generation: Generation, id: GenerationId): Promise<Generation> {
    await cloneFolder(this.#dir, generation.id, id);
    return { ...generation, id };
  }

  async drop(id: GenerationId): Promise<void> {
    if (this.#opened) await (await this.#opened).serving.forget(folder(this.#dir, id));
    await dropFolder(this.#dir, id);
  }

  async search(search: RowSearch, signal: AbortSignal): Promise<Page> {
    const { serving, scope } = await this.#scope(search, signal);
    return searchRows(serving, scope, search, signal);
  }

  async aggregate(aggregation: Aggregation, signal: AbortSignal): Promise<AggregateResult> {
    const { serving, scope } = await this.#scope(aggregation, signal);
    return aggregateRows(serving, scope, aggregation, signal);
  }

  async profile(
    search: Search,
    fields: string[],
    signal: AbortSignal,
  ): Promise<{ total: number; fields: FieldProfile[] }> {
    const { serving, scope } = await this.#scope(search, signal);
    return profileRows(serving, scope, fields, signal);
  }

  async *scan(
    search: Omit<RowSearch, 'limit' | 'start' | 'after' | 'total'>,
    signal: AbortSignal,
  ): AsyncIterable<Row[]> {
    const { serving, scope } = await this.#scope(search, signal);
    yield* scanRows(serving, scope, search, signal);
  }

  /**
   * Builds the words for a `q` over all string and text fields, so that the first search need not wait. Call it after
   * publishing.
   */
  async prepareWords(generation: Generation, signal: AbortSignal): Promise<void> {
    const texts = generation.fields.filter(({ type }) => type === 'string' || type === 'text');
    if (texts.length > 0) await (await this.#open()).sidecar.file(generation, texts, LOADER, signal);
  }

  async generations(): Promise<{ id: GenerationId; complete: boolean }[]> {
    await mkdir(this.#dir, { recursive: true });
    return listFolders(this.#dir);
  }

  async ping(): Promise<void> {
    await (await this.#open()).serving.ping();
  }

  async close(): Promise<void> {
    if (this.#opened) await (await this.#opened).serving.close();
    this.#opened = undefined;
  }

  async #scope(search: Search, signal: AbortSignal): Promise<{ serving: Serving; scope: Scope }> {
    signal.throwIfAborted();
    const { serving, sidecar } = await this.#open();
    return { serving, scope: await openScope(this.#dir, sidecar, search, signal) };
  }

  /** Opened on first use: a process that only loads never needs it. */
  #open(): Promise<{ serving: Serving; sidecar: WordsSidecar }> {
    const {
      memoryLimit = '256MB',
      threads = Math.min(availableParallelism(), 4),
      // No other user can create a folder of that name first.
      temp = join(tmpdir(), `dws-duckdb-${randomUUID()}`),
    } = this.#settings;
    if (this.#opened) return this.#opened;
    const opened = Serving.open(this.#dir, { memoryLimit, threads, temp }).then((serving) => ({
      serving,
      sidecar: new WordsSidecar(this.#dir, serving),
    }));
    // A folder that could not be read may be readable at the next attempt.
    opened.catch(() => {
      this.#opened = undefined;
    });
    this.#opened = opened;
    return opened;
  }
}

/** Opens the embedded index. It reads nothing until it is used. */
export const openDuckdbIndex = (settings: DuckdbSettings): DuckdbIndex => new DuckdbIndex(settings);
