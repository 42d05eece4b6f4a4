import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBScalarFunction, VARCHAR } from '@duckdb/node-api';
import type { DuckDBConnection } from '@duckdb/node-api';
import { ConcurrencyGate } from '../../../core/concurrency-gate.ts';
import type { Generation, IndexedField } from '../../../core/dataset-index.ts';
import { gone } from '../../../core/errors.ts';
import { wordsOf } from '../../../core/search-words.ts';
import { folder, quotePath, rowsFile } from './generation-files.ts';
import type { Serving } from './serving.ts';

/** Part of the file's name: another way to split words needs other files. */
const VERSION = 1;
const WAITING = 64;
const FOLD = 'dws_words';

/**
 * Normalised words of the rows, one text a row, for `q`. There is one file for every set of fields that is visible to
 * someone (few: sets come from permissions), so that a reader's `q` never reads a hidden field. A file is written
 * under a temporary name and renamed when it is complete, so a crash leaves nothing that looks complete, and two
 * processes can build it at once.
 */
export class WordsSidecar {
  readonly #dir: string;
  readonly #serving: Serving;
  readonly #building = new Map<string, Promise<void>>();
  /** One build at a time, because each needs a core. */
  readonly #gate = new ConcurrencyGate(1, WAITING, 'Too many searches are waiting for the index');
  #registered = false;

  constructor(dir: string, serving: Serving) {
    this.#dir = dir;
    this.#serving = serving;
  }

  /**
   * Returns the file with the words of these fields, and builds it if it does not exist. A caller that aborts leaves
   * the build to others. Throws GONE when the generation was dropped.
   */
  async file(generation: Generation, fields: IndexedField[], signal: AbortSignal): Promise<string> {
    const columns = fields.map(({ column }) => column).sort();
    const name = `words${VERSION}-${createHash('sha256').update(columns.join()).digest('hex').slice(0, 16)}.duckdb`;
    const path = join(folder(this.#dir, generation.id), name);
    if (!existsSync(path)) await this.#built(generation, columns, path, signal);
    return path;
  }

  async #built(generation: Generation, columns: string[], path: string, signal: AbortSignal): Promise<void> {
    let building = this.#building.get(path);
    if (!building) {
      building = this.#build(rowsFile(this.#dir, generation.id), columns, path).finally(() =>
        this.#building.delete(path),
      );
      this.#building.set(path, building);
    }
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener('abort', abort, { once: true });
    try {
      await Promise.race([building, aborted.promise]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  async #build(rows: string, columns: string[], path: string): Promise<void> {
    const unfinished = `${path}.${randomUUID()}.building`;
    const alias = `b${randomUUID().replaceAll('-', '')}`;
    await this.#gate.enter(new AbortController().signal);
    try {
      await this.#serving.write([rows], async (connection, [source]) => {
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
    } finally {
      this.#gate.leave();
    }
  }

  /**
   * Registers the function that splits words (core/search-words.ts), for texts that are not ASCII: DuckDB lacks some
   * of its letters and accents.
   */
  #register(connection: DuckDBConnection): void {
    if (this.#registered) return;
    this.#registered = true;
    connection.registerScalarFunction(
      DuckDBScalarFunction.create({
        name: FOLD,
        returnType: VARCHAR,
        parameterTypes: [VARCHAR],
        mainFunction: (_info, input, output) => {
          const texts = input.getColumnVector(0);
          for (let row = 0; row < input.rowCount; row++)
            output.setItem(row, wordsOf(String(texts.getItem(row))).join(' '));
          output.flush();
        },
      }),
    );
  }
}

/**
 * SQL of a column `q`: each word of the row after a space. In ASCII, words are runs of letters and digits, which
 * DuckDB finds faster.
 */
const wordsOfRows = (table: string, columns: string[]) => `SELECT ' ' || CASE WHEN strlen(text) = length(text)
    THEN regexp_replace(lower(text), '[^a-z0-9]+', ' ', 'g') ELSE ${FOLD}(text) END q
  FROM (SELECT ${columns.length === 0 ? `''` : `concat_ws(' ', ${columns.join(', ')})`} AS text FROM ${table})`;
