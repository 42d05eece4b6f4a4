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

/** Part of the file's name: another way to split words makes other files. */
const VERSION = 1;
const WAITING = 64;
const FOLD = 'dws_words';

/**
 * Words of the rows, normalised, one text a row: what `q` looks at. There is a file for every set of fields that somebody can see (few: sets come from
 * permissions), so that a reader's `q` never looks at a field hidden from them. A file is written beside the rows under a name of its own and renamed when it
 * is whole, so a crash leaves nothing that looks finished, and two processes that build it at once do no harm.
 */
export class WordsSidecar {
  readonly #dir: string;
  readonly #serving: Serving;
  readonly #building = new Map<string, Promise<void>>();
  /** One at a time: each takes a core. */
  readonly #gate = new ConcurrencyGate(1, WAITING, 'Too many searches are waiting for the index');
  #registered = false;

  constructor(dir: string, serving: Serving) {
    this.#dir = dir;
    this.#serving = serving;
  }

  /**
   * The file with the words of these fields, built if it does not exist. A caller that gives up leaves the building to others.
   * @throws gone when the generation was dropped.
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
      await rm(unfinished, { force: true });
      throw existsSync(rows) ? error : gone('These rows are no longer kept', { cause: error });
    } finally {
      this.#gate.leave();
    }
  }

  /** Our own way to split words (core/words.ts), for texts that are not ASCII: DuckDB knows neither all letters nor all accents that it knows. */
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

/** A column `q`: each word of the row after a space. In ASCII the words are runs of letters and digits, which DuckDB finds faster. */
const wordsOfRows = (
  table: string,
  columns: string[],
) => `SELECT ' ' || CASE WHEN strlen(text) = length(text) THEN regexp_replace(lower(text), '[^a-z0-9]+', ' ', 'g') ELSE ${FOLD}(text) END q
  FROM (SELECT ${columns.length === 0 ? `''` : `concat_ws(' ', ${columns.join(', ')})`} AS text FROM ${table})`;
