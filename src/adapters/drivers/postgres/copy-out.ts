import type { Connection, Submittable } from 'pg';
import { bodyLength } from '../../database/wire-guard.ts';
import type { SegmentWriter } from '../segment-files.ts';
import type { Session } from './session.ts';

const COPY_DATA = 'd'.charCodeAt(0);
/** A message is a byte of type, four of length (which include themselves), and the payload. */
const HEADER_BYTES = 5;
/** Bytes read ahead of the writer before the socket is paused. */
const MAX_AHEAD_BYTES = 1024 * 1024;

type DataListener = (chunk: Buffer) => void;

/**
 * A COPY TO STDOUT whose rows bypass pg's parser, which would create an object for each. While it runs it reads the
 * socket itself and passes every message that is not a row to pg. The COPY uses the extended protocol, which
 * accepts one statement only.
 */
class CopyOut implements Submittable {
  readonly #sql: string;
  #stream!: Connection['stream'];
  /** pg's own listeners; empty until the statement is sent. */
  #clientListeners: DataListener[] = [];
  #ahead: Buffer[] = [];
  #aheadBytes = 0;
  #arrived = Promise.withResolvers<void>();
  #failure: unknown;
  /** Whether the server has finished the statement, successfully or not. */
  done = false;

  constructor(sql: string) {
    this.#sql = sql;
  }

  submit(connection: Connection): void {
    this.#stream = connection.stream;
    this.#clientListeners = this.#stream.listeners('data') as DataListener[];
    this.#stream.on('data', this.#receive);
    for (const listener of this.#clientListeners) this.#stream.off('data', listener);
    connection.parse({ name: '', text: this.#sql, types: [] }, true);
    connection.bind({}, true);
    connection.execute({}, true);
    connection.sync();
  }

  readonly #receive = (chunk: Buffer): void => {
    this.#ahead.push(chunk);
    this.#aheadBytes += chunk.length;
    if (this.#aheadBytes >= MAX_AHEAD_BYTES) this.#stream.pause();
    this.#arrived.resolve();
  };

  /** Returns the bytes that have arrived since the last call, at least one chunk. */
  async nextChunks(): Promise<Buffer[]> {
    if (this.#ahead.length === 0 && !this.done) await this.#arrived.promise;
    this.throwIfFailed();
    const chunks = this.#ahead;
    this.#ahead = [];
    this.#aheadBytes = 0;
    this.#arrived = Promise.withResolvers();
    this.#stream.resume();
    return chunks;
  }

  throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Passes bytes to pg's own parser. */
  passToClient(bytes: Buffer): void {
    for (const listener of this.#clientListeners) listener.call(this.#stream, bytes);
  }

  /**
   * Returns the socket to pg, unless the statement is still running. Then the session must end: pg's parser would fail
   * on a partial row.
   */
  release(): void {
    if (!this.done || this.#clientListeners.length === 0) return;
    for (const listener of this.#clientListeners) this.#stream.on('data', listener);
    this.#stream.off('data', this.#receive);
    for (const chunk of this.#ahead) this.passToClient(chunk);
    this.#stream.resume();
  }

  handleError(error: unknown): void {
    this.#failure = error;
    this.#end();
  }

  handleReadyForQuery(): void {
    this.#end();
  }

  handleCommandComplete(): void {
    // Contains the number of rows, which the writer has already counted.
  }

  #end(): void {
    this.done = true;
    this.#arrived.resolve();
  }
}

/**
 * Splits the bytes of the protocol into messages, which may span several chunks. Postgres sends each row as
 * one CopyData message.
 */
class MessageScanner {
  readonly #copy: CopyOut;
  readonly #writer: SegmentWriter;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  /** Bytes of the current message's payload, in total and remaining. */
  #length = 0;
  #remaining = 0;

  constructor(copy: CopyOut, writer: SegmentWriter) {
    this.#copy = copy;
    this.#writer = writer;
  }

  /** Scans a chunk to its end or to the end of the statement. Returns the position reached. */
  scan(chunk: Buffer): number {
    let at = 0;
    while (at < chunk.length && !this.#copy.done) {
      if (this.#headerBytes < HEADER_BYTES) {
        at = this.#readHeader(chunk, at);
        continue;
      }
      const end = Math.min(chunk.length, at + this.#remaining);
      this.#takeBody(chunk, at, end);
      at = end;
    }
    return at;
  }

  #readHeader(chunk: Buffer, at: number): number {
    const copied = chunk.copy(this.#header, this.#headerBytes, at, at + HEADER_BYTES - this.#headerBytes);
    this.#headerBytes += copied;
    if (this.#headerBytes === HEADER_BYTES) {
      this.#length = this.#remaining = bodyLength(this.#header);
      // Copied, because pg's parser may retain its input until the message is complete.
      if (this.#header[0] !== COPY_DATA) this.#copy.passToClient(Buffer.from(this.#header));
      if (this.#remaining === 0) this.#headerBytes = 0;
    }
    return at + copied;
  }

  #takeBody(chunk: Buffer, start: number, end: number): void {
    this.#remaining -= end - start;
    if (this.#remaining === 0) this.#headerBytes = 0;
    if (this.#header[0] !== COPY_DATA) return this.#copy.passToClient(chunk.subarray(start, end));
    this.#writer.append(chunk, start, end);
    if (this.#remaining === 0) this.#writer.endRecord(this.#length);
  }
}

/** Runs a COPY … TO STDOUT in text form and writes its rows unchanged into segments. */
export async function copyOut(session: Session, sql: string, writer: SegmentWriter): Promise<void> {
  const copy = session.submit(new CopyOut(sql));
  const scanner = new MessageScanner(copy, writer);
  try {
    while (!copy.done) {
      for (const chunk of await copy.nextChunks()) {
        const stopped = scanner.scan(chunk);
        if (stopped < chunk.length) copy.passToClient(chunk.subarray(stopped));
        await writer.flush();
      }
    }
    copy.throwIfFailed();
    await writer.finish();
  } finally {
    copy.release();
  }
}
