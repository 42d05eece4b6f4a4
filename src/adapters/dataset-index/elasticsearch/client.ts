import { Client } from '@elastic/elasticsearch';
import { abortable } from '../../../core/abortable.ts';
import type { GenerationId } from '../../../core/dataset-index.ts';
import { FairGate, type Caller } from '../../../core/fair-gate.ts';
import { PlainConnection } from './connection.ts';
import { engineError } from './engine-errors.ts';
import { IndexNames } from './index-names.ts';

/** Concurrent queries of one process. More would only queue inside the engine, where they cannot be cancelled. */
const PLACES = 16;
const MAX_WAITING = 1000;
/**
 * Concurrent queries with regular expressions. The engine has few threads for queries, and builds the automaton of an expression
 * even if the client has left: the place stays occupied until the engine responds.
 */
const EXPRESSION_PLACES = 2;
/** Maximum time without a response to one request. */
const SILENCE_MS = 120_000;

const NEVER_ABORTED = new AbortController().signal;

/** Address of the search engine. */
export interface SearchEngineSettings {
  /** `http(s)://[user:password@]host[:port][/path]` of Elasticsearch or OpenSearch. */
  url: string;
  /** Prefix of this installation's index names, e.g. `dws-3f9ac21b0d44-`. */
  prefix: string;
}

/** Access to a search engine. Its client connects on first use and reconnects when necessary. */
export interface SearchEngine {
  client: Client;
  names: IndexNames;
  /**
   * Returns the name under which readers query a generation. `drop` removes the name immediately, but open scrolls can
   * still read the rows.
   */
  indexName(id: GenerationId): string;
  /** Runs a request of a load or of maintenance, which does not queue behind readers. */
  run<T>(what: (client: Client, options: { signal: AbortSignal }) => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Returns access for the reads of a caller. */
  readAs(caller: Caller): SearchEngineReader;
  close(): Promise<void>;
}

/** Access to a search engine for the reads of one caller. */
export interface SearchEngineReader extends SearchEngine {
  /**
   * Runs a read in a place of the caller. All reads use it, so that each gets the signal and their number is bounded.
   *
   * Throws the signal's reason when it aborts, GONE when the generation was dropped, UNAVAILABLE (503, `Retry-After`)
   * when the engine does not respond or is too busy.
   */
  ask<T>(what: (client: Client, options: { signal: AbortSignal }) => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Like `ask`, for a read with regular expressions: see `EXPRESSION_PLACES`. */
  askExpressions: SearchEngineReader['ask'];
}

/** Creates the client. It sends nothing yet. */
export function openSearchEngine({ url, prefix }: SearchEngineSettings): SearchEngine {
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
    // By default each error has a copy of its request, in which a body of bytes becomes an object with a key for each
    // byte: 5 MB take 600 MB. Errors without headers and credentials need no copy.
    redaction: { type: 'remove' },
    // Values of datasets may have keys of any name, including `__proto__`.
    disablePrototypePoisoningProtection: true,
  });
  const names = new IndexNames(prefix);
  const gate = FairGate.shared({ places: PLACES, maxWaiting: MAX_WAITING, taskNoun: 'queries of the index' });
  const run: SearchEngine['run'] = async (what, signal) => {
    signal.throwIfAborted();
    try {
      return await what(client, { signal });
    } catch (error) {
      throw engineError(error, signal);
    }
  };
  const expressions = FairGate.shared({
    places: EXPRESSION_PLACES,
    maxWaiting: MAX_WAITING,
    taskNoun: 'queries of the index with $regex',
  });
  const readAs: SearchEngine['readAs'] = (caller) => {
    const ask: SearchEngineReader['ask'] = (what, signal) => gate.run(caller, signal, () => run(what, signal));
    const askExpressions: SearchEngineReader['ask'] = async (what, signal) => {
      const leave = await expressions.enter(caller, signal);
      const answer = ask((asked) => what(asked, { signal: NEVER_ABORTED }), signal);
      return abortable(answer.finally(leave), signal);
    };
    return { ...engine, ask, askExpressions };
  };
  const engine: SearchEngine = {
    client,
    names,
    run,
    indexName: (id) => names.alias(id),
    readAs,
    close: () => client.close(),
  };
  return engine;
}
