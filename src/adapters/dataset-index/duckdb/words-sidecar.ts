import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { abortable } from '../../../core/abortable.ts';
import type { Generation, IndexedField } from '../../../core/dataset-index.ts';
import { gone } from '../../../core/errors.ts';
import { FairGate, type Caller } from '../../../core/fair-gate.ts';
import { wordsOf } from '../../../core/search-words.ts';
import { folder, quotePath, rowsFile } from './generation-files.ts';
import type { Serving } from './serving.ts';
import { textFunction } from './text-function.ts';

/** Part of the file's name: another way to split words needs other files. */
const VERSION = 1;
const MAX_WAITING = 64;
/** Name of the SQL function that splits texts into words. */
const SPLIT_FUNCTION = 'dws_words';

/** A file that is being built, and the number of searches that wait for it. */
interface Build {
  done: Promise<void>;
  searches: number;
  stop: AbortController;
}

/**
 * Normalised words of the rows, one text a row, for `q`. There is one file for every set of fields that is visible to
 * someone (few: sets come from permissions), so that a reader's `q` never reads a hidden field. A file is written under
 * a temporary name and renamed when it is complete. So a crash leaves nothing that looks complete, and two processes
 * can build it concurrently.
 */
export class WordsSidecar {
  readonly #dir: string;
  readonly #serving: Serving;
  readonly #builds = new Map<string, Build>();
  /** Each build needs a core, so one caller has one at a time, and does not delay the builds of another. */
  readonly #gate = FairGate.shared({ places: 2, maxWaiting: MAX_WAITING, taskNoun: 'word indexes' });
  #registered = false;

  constructor(dir: string, serving: Serving) {
    this.#dir = dir;
    this.#serving = serving;
  }

  /**
   * Returns the file with the words of these fields, and builds it if it does not exist. Searches for the same words
   * share a build, which ends early when the last of them aborts. Throws GONE when the generation was dropped.
   */
  async file(generation: Generation, fields: IndexedField[], caller: Caller, signal: AbortSignal): Promise<string> {
    const columns = fields.map(({ column }) => column).sort();
    const name = `words${VERSION}-${createHash('sha256').update(columns.join()).digest('hex').slice(0, 16)}.duckdb`;
    const path = join(folder(this.#dir, generation.id), name);
    if (existsSync(path)) return path;
    signal.throwIfAborted();
    const build = this.#builds.get(path) ?? this.#start(rowsFile(this.#dir, generation.id), columns, path, caller);
    build.searches++;
    try {
      await abortable(build.done, signal);
    } finally {
      if (--build.searches === 0) {
        build.stop.abort();
        this.#builds.delete(path);
      }
    }
    return path;
  }

  #start(rows: string, columns: string[], path: string, caller: Caller): Build {
    const stop = new AbortController();
    const done = this.#gate.run(caller, stop.signal, () => this.#build(rows, columns, path, stop.signal));
    const build = { done, searches: 0, stop };
    this.#builds.set(path, build);
    return build;
  }

  async #build(rows: string, columns: string[], path: string, signal: AbortSignal): Promise<void> {
    const unfinished = `${path}.${randomUUID()}.building`;
    const alias = `b${randomUUID().replaceAll('-', '')}`;
    try {
      await this.#serving.write([rows], signal, async (connection, [source]) => {
        this.#register(connection);
        await connection.run(`ATTACH ${quotePath(unfinished)} AS ${alias}`);
        try {
          await connection.run(`CREATE TABLE ${alias}.words AS ${wordsOfRows(`${source}.data`, columns)}`);
          await connection.run(`CHECKPOINT ${alias}`);
        } finally {
          await connection.run(`DETACH ${alias}`);
        }
      });
      await rename(unfinished, path);
    } catch (error) {
      for (const file of [unfinished, `${unfinished}.wal`]) await rm(file, { force: true });
      throw existsSync(rows) ? error : gone('These rows are no longer stored', { cause: error });
    }
  }

  /**
   * Registers the function that splits words (core/search-words.ts), for texts that are not ASCII: DuckDB lacks some
   * of its letters and accents.
   */
  #register(connection: DuckDBConnection): void {
    if (this.#registered) return;
    this.#registered = true;
    connection.registerScalarFunction(textFunction(SPLIT_FUNCTION, (text) => wordsOf(text).join(' ')));
  }
}

/**
 * SQL of a column `q`: each word of the row after a space. In ASCII, words are runs of letters and digits, which
 * DuckDB finds faster.
 */
const wordsOfRows = (table: string, columns: string[]) => `SELECT ' ' || CASE WHEN strlen(text) = length(text)
    THEN regexp_replace(lower(text), '[^a-z0-9]+', ' ', 'g') ELSE ${SPLIT_FUNCTION}(text) END q
  FROM (SELECT ${columns.length === 0 ? `''` : `concat_ws(' ', ${columns.join(', ')})`} AS text FROM ${table})`;
