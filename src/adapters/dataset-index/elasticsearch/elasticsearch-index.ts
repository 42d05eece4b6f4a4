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
import { unavailable } from '../../../core/errors.ts';
import type { Column } from '../../../core/fields.ts';
import type { Segment } from '../../../core/row-source.ts';
import { dropFolder, listFolders } from '../duckdb/generation-files.ts';
import { aggregateRows } from './aggregate.ts';
import { openSearchEngine } from './client.ts';
import type { SearchEngine, SearchEngineSettings } from './client.ts';
import { cloneIndex, dropIndexes, listGenerations } from './lifecycle.ts';
import { loadRows } from './load.ts';
import { profileRows } from './profile.ts';
import { scanRows } from './scan.ts';
import { searchRows } from './search.ts';

const PING_MS = 10_000;

/** Address of the engine, and the folder where rows are staged. */
export interface ElasticsearchSettings extends SearchEngineSettings {
  /**
   * A folder of this machine for staged rows. It is created if missing and needs about the space of the rows that are
   * loaded.
   */
  scratch: string;
}

/** Stores rows in Elasticsearch or OpenSearch: one index per load, and one alias per generation. */
export class ElasticsearchIndex implements DatasetIndex {
  readonly #engine: SearchEngine;
  readonly #scratch: string;

  constructor({ scratch, ...engine }: ElasticsearchSettings) {
    this.#engine = openSearchEngine(engine);
    this.#scratch = scratch;
  }

  load(id: GenerationId, columns: Column[], segments: AsyncIterable<Segment>, plan: LoadPlan): Promise<Generation> {
    return loadRows(this.#engine, this.#scratch, id, columns, segments, plan);
  }

  async clone(generation: Generation, id: GenerationId): Promise<Generation> {
    await cloneIndex(this.#engine, generation, id, new AbortController().signal);
    return { ...generation, id };
  }

  async drop(id: GenerationId): Promise<void> {
    await dropIndexes(this.#engine, id, new AbortController().signal);
    await dropFolder(this.#scratch, id);
  }

  search(search: RowSearch, signal: AbortSignal): Promise<Page> {
    return searchRows(this.#engine.readAs(search.caller), search, signal);
  }

  aggregate(aggregation: Aggregation, signal: AbortSignal): Promise<AggregateResult> {
    return aggregateRows(this.#engine.readAs(aggregation.caller), aggregation, signal);
  }

  profile(search: Search, fields: string[], signal: AbortSignal): Promise<{ total: number; fields: FieldProfile[] }> {
    return profileRows(this.#engine.readAs(search.caller), search, fields, signal);
  }

  scan(search: Omit<RowSearch, 'limit' | 'start' | 'after' | 'total'>, signal: AbortSignal): AsyncIterable<Row[]> {
    return scanRows(this.#engine.readAs(search.caller), search, signal);
  }

  /** Words are in the index from the beginning. */
  async prepareWords(): Promise<void> {}

  /** Lists the generations of the engine and those staged on this machine. */
  async generations(): Promise<{ id: GenerationId; complete: boolean }[]> {
    const found = await listGenerations(this.#engine, new AbortController().signal);
    const staged = await listFolders(this.#scratch).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return [];
    });
    const seen = new Map(staged.map(({ id }) => [id, false]));
    for (const { id, complete } of found) seen.set(id, complete || seen.get(id) === true);
    return [...seen].sort().map(([id, complete]) => ({ id, complete }));
  }

  async ping(): Promise<void> {
    const signal = AbortSignal.timeout(PING_MS);
    const { names, run } = this.#engine;
    await run(
      (client, options) => client.indices.exists({ index: names.all() }, { ...options, maxRetries: 0 }),
      signal,
    ).catch((error: unknown) => {
      throw signal.aborted ? unavailable('The dataset index does not respond') : error;
    });
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}

/** Opens the index of a search engine. It sends nothing until it is used. */
export const openElasticsearchIndex = (settings: ElasticsearchSettings): ElasticsearchIndex =>
  new ElasticsearchIndex(settings);
