import type { Socket } from 'node:net';
import mysql, { type Connection } from 'mysql2';
import type { ServerTarget } from '../server-config.ts';
import { CONNECT_TIMEOUT } from '../server-session.ts';
import { guardedSocket } from '../source-guard.ts';
import { WireGuard, wireOf } from './wire.ts';

/** Runs SQL of ours (never a user's text) and gives its rows as text. */
export function queryTexts(connection: Connection, sql: string): Promise<(string | null)[][]> {
  return new Promise((resolve, reject) => {
    connection.query({ sql, rowsAsArray: true, typeCast: (field) => field.string() }, (error, rows) =>
      error ? reject(error) : resolve(rows as unknown as (string | null)[][]),
    );
  });
}

/** A connection that has begun to connect. Its `WireGuard` belongs to whoever uses it. */
export function createConnection(target: ServerTarget): Connection {
  const { host, port, database, user, password, ssl, ca } = target;
  const connection = mysql.createConnection({
    host,
    port,
    database,
    user,
    password,
    charset: 'utf8mb4',
    connectTimeout: CONNECT_TIMEOUT,
    connectAttributes: { program_name: 'data-workspace-service' },
    ...(ssl !== 'disable' && {
      ssl: { rejectUnauthorized: ssl === 'verify-full', verifyIdentity: ssl === 'verify-full', ca },
    }),
    stream: () => dial(host, port),
    // No parsers compiled from a server's words, no reading of our files for it, one statement a text, and the SQL that servers speak by default.
    disableEval: true,
    flags: ['-LOCAL_FILES', '-MULTI_STATEMENTS', '-IGNORE_SPACE', '-ODBC', '-FOUND_ROWS', '-SESSION_TRACK'],
  });
  // A lost connection reaches whoever waits for an answer; the event by itself would end the process.
  connection.on('error', () => {});
  return connection;
}

function dial(host: string, port: number): Socket {
  const socket = guardedSocket();
  // Node checks a certificate against this name; for an address it would otherwise take `localhost`.
  Object.assign(socket, { _host: host });
  socket.connect(port, host);
  return socket.setNoDelay(true).setKeepAlive(true);
}

/** Waits until the server has let us in. */
export const connected = (connection: Connection) =>
  new Promise<void>((resolve, reject) => {
    connection.connect((error) => (error ? reject(error) : resolve()));
  });

export const hangUp = (connection: Connection) => wireOf(connection).stream.destroy();

/** Stops the statement in the source by ending its connection from another one, for a server that computes in silence does not notice that nobody listens. */
export async function cancel(target: ServerTarget, connection: Connection, id: string | null): Promise<void> {
  if (id !== null) {
    const second = createConnection(target);
    try {
      new WireGuard(second);
      await connected(second);
      const timer = setTimeout(() => hangUp(second), CONNECT_TIMEOUT);
      await queryTexts(second, `KILL ${BigInt(id)}`).finally(() => clearTimeout(timer));
    } catch {
      // The source may be gone or out of connections. Dropping our own connection is all that is left, and the time limit in the source.
    }
    hangUp(second);
  }
  hangUp(connection);
}

/** Tells the server that we leave, and waits until the connection is closed. One that is lost already does not answer. */
export function goodbye(connection: Connection): Promise<void> {
  return new Promise((resolve) => {
    const { stream } = wireOf(connection);
    if (stream.destroyed) return resolve();
    stream.once('close', () => resolve());
    connection.end(() => {});
  });
}
