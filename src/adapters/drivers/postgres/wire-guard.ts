import type { Duplex } from 'node:stream';
import type { Connection } from 'pg';
import { badInput, upstreamFailed } from '../../../core/errors.ts';

/** Longest message that is gathered in memory, in bytes. Rows of a COPY are not: they pass as they come. */
const MAX_MESSAGE = 64 * 1024 * 1024;
/** A message is a byte of kind, four of length (which count themselves), and the rest. */
const HEADER = 5;
const DATA_ROW = 'D'.charCodeAt(0);

type DataListener = (chunk: Buffer) => void;
type Listening = { on(event: string, listener: (...values: never[]) => void): Listening };

/**
 * Keeps what a server sends from ending the process. pg's parser gathers a message however long it says it is, and throws, out of the socket's event, at
 * what it does not understand; whoever makes a datasource chooses the server. Here either only ends the connection, with a fault for who waits.
 */
export function guardWire(connection: Connection): void {
  const wire = connection as unknown as { attachListeners(stream: Listening): void };
  const attach = wire.attachListeners.bind(connection);
  wire.attachListeners = (stream) => {
    const guarded: Listening = {
      on(event, listener) {
        stream.on(event, event === 'data' ? guard(stream as unknown as Duplex, listener as DataListener) : listener);
        return guarded;
      },
    };
    attach(guarded);
  };
}

function guard(stream: Duplex, listener: DataListener): DataListener {
  const messages = new Messages();
  return (chunk) => {
    try {
      messages.check(chunk);
      listener(chunk);
    } catch (error) {
      stream.destroy(error as Error);
    }
  };
}

/** The length of a message's body. @throws upstreamFailed for a length that cannot be. */
export function bodyLength(header: Buffer): number {
  const length = header.readUInt32BE(1) - 4;
  if (length < 0) throw upstreamFailed('The server does not speak the protocol of Postgres');
  return length;
}

/** Follows the messages through the chunks, wherever the network cut them. */
class Messages {
  readonly #header = Buffer.alloc(HEADER);
  #headerBytes = 0;
  #left = 0;

  /** @throws badInput for a row that is too long, upstreamFailed for any other message that is. */
  check(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#left > 0) {
        const passed = Math.min(this.#left, chunk.length - at);
        this.#left -= passed;
        at += passed;
        continue;
      }
      const copied = chunk.copy(this.#header, this.#headerBytes, at, at + HEADER - this.#headerBytes);
      at += copied;
      this.#headerBytes += copied;
      if (this.#headerBytes < HEADER) return;
      this.#headerBytes = 0;
      this.#left = bodyLength(this.#header);
      if (this.#left > MAX_MESSAGE)
        throw this.#header[0] === DATA_ROW
          ? badInput(`The query answers with a row of more than ${MAX_MESSAGE / 1024 / 1024} MiB`)
          : upstreamFailed('The server does not speak the protocol of Postgres');
    }
  }
}
