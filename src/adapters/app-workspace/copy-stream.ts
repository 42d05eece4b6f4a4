import { once } from 'node:events';
import type { Connection, Submittable } from 'pg';
import type pg from 'pg';
import { toFailure } from './statement.ts';

/** Size of the parts in which rows are read. A part may be larger by one row. */
const PART_BYTES = 4_000_000;

/** The events of the protocol during a COPY that pg's types lack. */
interface CopyConnection extends Connection {
  sendCopyFromChunk(chunk: Uint8Array): void;
  sendCopyFail(message: string): void;
  endCopyFrom(): void;
}

/** A COPY TO STDOUT, whose rows are read in parts. The socket is paused while a part waits for its reader. */
class CopyOut implements Submittable {
  readonly #sql: string;
  #stream!: Connection['stream'];
  #rows: Buffer[] = [];
  #bytes = 0;
  #isDone = false;
  #failure: Error | undefined;
  #arrived = Promise.withResolvers<void>();

  constructor(sql: string) {
    this.#sql = sql;
  }

  submit(connection: Connection): void {
    this.#stream = connection.stream;
    connection.query(this.#sql);
  }

  /** Each message has one row with its line end. */
  handleCopyData({ chunk }: { chunk: Buffer }): void {
    // The parser of pg reuses its memory.
    this.#rows.push(Buffer.from(chunk));
    this.#bytes += chunk.length;
    if (this.#bytes < PART_BYTES) return;
    this.#stream.pause();
    this.#arrived.resolve();
  }

  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.#failure ??= toFailure(error);
    this.#end();
  }

  handleReadyForQuery(): void {
    this.#end();
  }

  #end(): void {
    this.#isDone = true;
    this.#arrived.resolve();
  }

  /** Returns the next rows; undefined after the last. Throws like `runStatement`. */
  async nextPart(): Promise<Buffer | undefined> {
    await this.#arrived.promise;
    this.#stream.resume();
    if (this.#failure) throw this.#failure;
    const part = Buffer.concat(this.#rows);
    this.#rows = [];
    this.#bytes = 0;
    if (!this.#isDone) this.#arrived = Promise.withResolvers();
    return part.length > 0 ? part : undefined;
  }
}

/** A COPY FROM STDIN, whose rows are read as fast as the server takes them. */
class CopyIn implements Submittable {
  readonly #sql: string;
  readonly #rows: AsyncIterable<Uint8Array>;
  readonly #done = Promise.withResolvers<void>();
  #hasFailed = false;

  constructor(sql: string, rows: AsyncIterable<Uint8Array>) {
    this.#sql = sql;
    this.#rows = rows;
  }

  get done(): Promise<void> {
    return this.#done.promise;
  }

  submit(connection: Connection): void {
    connection.query(this.#sql);
  }

  handleCopyInResponse(connection: CopyConnection): void {
    this.#send(connection).catch((error: Error) => {
      this.#done.reject(error);
      connection.sendCopyFail('The rows cannot be read');
    });
  }

  async #send(connection: CopyConnection): Promise<void> {
    const { stream } = connection;
    for await (const part of this.#rows) {
      if (this.#hasFailed || !stream.writable) return;
      connection.sendCopyFromChunk(part);
      if (stream.writableNeedDrain) await once(stream, 'drain');
    }
    connection.endCopyFrom();
  }

  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.#hasFailed = true;
    this.#done.reject(toFailure(error));
  }

  handleReadyForQuery(): void {
    this.#done.resolve();
  }
}

/** Starts a COPY TO STDOUT. Returns a function that returns its next rows, undefined after the last. */
export function copyOut(client: pg.Client, sql: string): () => Promise<Buffer | undefined> {
  const copy = client.query(new CopyOut(sql));
  return () => copy.nextPart();
}

/** Runs a COPY FROM STDIN with rows. */
export function copyIn(client: pg.Client, sql: string, rows: AsyncIterable<Uint8Array>): Promise<void> {
  return client.query(new CopyIn(sql, rows)).done;
}
