import { Client } from '@elastic/elasticsearch';
import { ConcurrencyGate } from '../../../core/concurrency-gate.ts';
import type { GenerationId } from '../../../core/dataset-index.ts';
import { PlainConnection } from './connection.ts';
import { engineError } from './engine-errors.ts';
import { IndexNames } from './index-names.ts';

/** Questions that one process has under way; more only queue inside the engine, where nobody can take them back. */
const RUNNING = 16;
const WAITING = 64;
const FULL = 'Too many queries are waiting for the index';
/** How long the engine may keep silent in one request. */
const SILENCE_MS = 120_000;

/** Where the search engine is. */
export interface EngineSettings {
  /** `http(s)://[user:password@]host[:port][/path]` of Elasticsearch or OpenSearch. */
  url: string;
  /** What the names of this installation's indexes begin with, e.g. `dws-3f9ac21b0d44-`. */
  prefix: string;
}

/** An open door to a search engine. Its client connects when it is first used and again whenever it must. */
export interface Engine {
  client: Client;
  names: IndexNames;
  /**
   * What readers name as the index of a generation. A scan of many requests is a scroll: `drop` takes the name away at once, but leaves the rows
   * to searches that are open.
   */
  indexName(id: GenerationId): string;
  /**
   * The only door for reads: gives the signal along and keeps the number of questions bounded.
   * @throws the signal's reason when it aborts, gone when the generation was dropped, unavailable (503, `Retry-After`) when the engine does not answer or is
   * too busy.
   */
  ask<T>(what: (client: Client, options: { signal: AbortSignal }) => Promise<T>, signal: AbortSignal): Promise<T>;
  /** The same for loading and keeping house, which wait behind no reader. */
  run<T>(what: (client: Client, options: { signal: AbortSignal }) => Promise<T>, signal: AbortSignal): Promise<T>;
  close(): Promise<void>;
}

/** Opens the door. Nothing is asked yet. */
export function openEngine({ url, prefix }: EngineSettings): Engine {
  const node = new URL(url);
  const [username, password] = [decodeURIComponent(node.username), decodeURIComponent(node.password)];
  node.username = node.password = '';
  const client = new Client({
    node: node.href,
    ...(username && { auth: { username, password } }),
    Connection: PlainConnection,
    requestTimeout: SILENCE_MS,
    maxRetries: 1,
    enableMetaHeader: false,
    // Values of datasets may have members of any name, `__proto__` included.
    disablePrototypePoisoningProtection: true,
  });
  const names = new IndexNames(prefix);
  const gate = new ConcurrencyGate(RUNNING, WAITING, FULL);
  const run: Engine['run'] = async (what, signal) => {
    signal.throwIfAborted();
    try {
      return await what(client, { signal });
    } catch (error) {
      throw engineError(error, signal);
    }
  };
  return {
    client,
    names,
    run,
    indexName: (id) => names.alias(id),
    ask: (what, signal) => gate.run(signal, () => run(what, signal)),
    close: () => client.close(),
  };
}
