import type { Socket } from 'node:net';
import type { Connection } from 'mysql2';
import { badInput, upstreamFailed } from '../../../core/errors.ts';

/** Maximum size of a message, and of all data before the rows of a result, that are collected in memory. */
const MAX_GATHERED = 64 * 1024 * 1024;
/** A packet is three bytes of length, one of sequence, and the payload. */
const HEADER = 4;
/** A packet of this length continues in the next one. */
const CONTINUED = 0xffffff;

/** A packet as mysql2 passes it to a command: `buffer[offset, end)`, valid only during the call. */
export interface WirePacket {
  buffer: Buffer;
  offset: number;
  end: number;
  sequenceId: number;
  isEOF(): boolean;
  isError(): boolean;
}

/** The server's description of a column. */
export interface WireField {
  name: string;
  columnType: number;
  flags: number;
  /** In bytes, or in digits with sign and point. */
  columnLength: number;
  decimals: number;
  /** 63 is binary. */
  characterSet: number;
  /** MariaDB only: `json`. */
  extendedFormat?: string;
  /** MariaDB only: `uuid`, `inet6`, `point`, … */
  extendedTypeName?: string;
}

const protocolBroken = () => upstreamFailed('The server does not use the protocol of MySQL');

/** Receives the rows of one result. */
export type RowTaker = (packet: WirePacket) => void;

/** The parts of mysql2's connection that are missing in its types. */
interface Wire {
  /** Replaced once the connection is encrypted. */
  stream: Socket;
  packetParser: { execute(chunk: Buffer): void };
  handlePacket(packet?: WirePacket): void;
  sequenceId: number;
  _command: unknown;
}

export const wireOf = (connection: Connection): Wire => connection as unknown as Wire;

interface WireCommand {
  execute(packet: WirePacket | undefined, connection: unknown): boolean;
  on(event: 'fields', listener: (fields: WireField[] | undefined) => void): unknown;
}

/**
 * Lets the rows of a command bypass mysql2's parser, which would create an object for each. The function that `begin`
 * returns receives them.
 */
export function takeRows(command: unknown, begin: (fields: WireField[]) => RowTaker): void {
  const wire = command as WireCommand;
  const proceed = wire.execute.bind(wire);
  let take: RowTaker | undefined;
  let inRows = false;
  wire.on('fields', (fields) => {
    if (fields) take = begin(fields);
  });
  wire.execute = (packet, connection) => {
    if (inRows && packet && !packet.isEOF() && !packet.isError()) {
      take!(packet);
      return false;
    }
    // The packet after the last field ends them; the rows follow.
    const ended = take !== undefined;
    const done = proceed(packet, connection);
    inRows = ended;
    return done;
  };
}

/**
 * Prevents a server from ending the process or filling its memory. The creator of a datasource chooses the server, and
 * mysql2 collects messages and column descriptions of any length. Here an excess only ends the connection, with an
 * error for the pending request.
 */
export class WireGuard {
  readonly #header = Buffer.alloc(HEADER);
  #headerBytes = 0;
  #left = 0;
  #message = 0;
  #gathered = 0;
  #rows = false;

  constructor(connection: Connection) {
    const wire = wireOf(connection);
    const parser = wire.packetParser;
    const handle = wire.handlePacket.bind(connection);
    // mysql2 only prints that packets are out of order, one line for each.
    wire.handlePacket = (packet) => {
      if (packet && wire._command && packet.sequenceId !== wire.sequenceId && !packet.isError()) throw protocolBroken();
      if (packet?.isError()) wire.sequenceId = packet.sequenceId;
      handle(packet);
    };
    wire.packetParser = {
      execute: (chunk) => {
        try {
          this.#check(chunk);
          parser.execute(chunk);
        } catch (error) {
          wire.stream.destroy(error as Error);
        }
      },
    };
  }

  /** A new command is sent. */
  begin(): void {
    this.#rows = false;
    this.#gathered = 0;
  }

  /** Rows follow, which are processed as they arrive. */
  passRows(): void {
    this.#rows = true;
  }

  #check(chunk: Buffer): void {
    if (!this.#rows) this.#gathered += chunk.length;
    if (this.#gathered > MAX_GATHERED) throw protocolBroken();
    for (let at = 0; at < chunk.length;) {
      if (this.#left > 0) {
        const passed = Math.min(this.#left, chunk.length - at);
        this.#left -= passed;
        at += passed;
      } else at = this.#readHeader(chunk, at);
    }
  }

  #readHeader(chunk: Buffer, at: number): number {
    const copied = chunk.copy(this.#header, this.#headerBytes, at, at + HEADER - this.#headerBytes);
    this.#headerBytes += copied;
    if (this.#headerBytes === HEADER) {
      this.#headerBytes = 0;
      this.#left = this.#header.readUIntLE(0, 3);
      this.#message += this.#left;
      if (this.#message > MAX_GATHERED)
        throw badInput(`The query returns a row of more than ${MAX_GATHERED / 1024 / 1024} MiB`);
      if (this.#left < CONTINUED) this.#message = 0;
    }
    return at + copied;
  }
}
