import type { Duplex } from 'node:stream';
import type { Connection } from 'pg';
import { badInput, upstreamFailed } from '../../core/errors.ts';

/** Default maximum size of a message that is collected in memory, in bytes. Rows of a COPY are processed as they arrive. */
const MAX_MESSAGE = 64 * 1024 * 1024;
/** A message is a byte of type, four of length (which include themselves), and the payload. */
const HEADER = 5;
const DATA_ROW = 'D'.charCodeAt(0);

type DataListener = (chunk: Buffer) => void;
type Listening = { on(event: string, listener: (...values: never[]) => void): Listening };

/**
 * Prevents a server from ending the process. The creator of a datasource chooses the server. pg's parser collects a
 * message of any length, and throws from the socket's event when it cannot parse one. Here either case only ends the
 * connection, with an error for the pending request.
 */
export function guardWire(connection: Connection, maxBytes = MAX_MESSAGE): void {
  const wire = connection as unknown as { attachListeners(stream: Listening): void };
  const attach = wire.attachListeners.bind(connection);
  wire.attachListeners = (stream) => {
    const guarded: Listening = {
      on(event, listener) {
        stream.on(
          event,
          event === 'data' ? guard(stream as unknown as Duplex, listener as DataListener, maxBytes) : listener,
        );
        return guarded;
      },
    };
    attach(guarded);
  };
}

function guard(stream: Duplex, listener: DataListener, maxBytes: number): DataListener {
  const messages = new Messages(maxBytes);
  return (chunk) => {
    try {
      messages.check(chunk);
      listener(chunk);
    } catch (error) {
      stream.destroy(error as Error);
    }
  };
}

/** Returns the length of a message's payload. Throws UPSTREAM_FAILED for an impossible length. */
export function bodyLength(header: Buffer): number {
  const length = header.readUInt32BE(1) - 4;
  if (length < 0) throw upstreamFailed('The server does not use the protocol of Postgres');
  return length;
}

/** Follows the messages through the chunks of the network. */
class Messages {
  readonly #header = Buffer.alloc(HEADER);
  #headerBytes = 0;
  #left = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Throws BAD_USER_INPUT for a row that is too long, and UPSTREAM_FAILED for any other message that is too long. */
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
      if (this.#left > this.#maxBytes)
        throw this.#header[0] === DATA_ROW
          ? badInput(`The query returns a row of more than ${this.#maxBytes / 1024 / 1024} MiB`)
          : upstreamFailed('The server does not use the protocol of Postgres');
    }
  }
}
