import type { Socket } from 'node:net';
import mysql, { type Connection } from 'mysql2';
import type { ServerTarget } from '../server-config.ts';
import { CONNECT_TIMEOUT } from '../server-session.ts';
import { guardedSocket } from '../source-guard.ts';
import { WireGuard, wireOf } from './wire.ts';

/** Runs SQL of the service (never a user's text) and returns its rows as texts. */
export function queryTexts(connection: Connection, sql: string): Promise<(string | null)[][]> {
  return new Promise((resolve, reject) => {
    connection.query({ sql, rowsAsArray: true, typeCast: (field) => field.string() }, (error, rows) =>
      error ? reject(error) : resolve(rows as unknown as (string | null)[][]),
    );
  });
}

/** Starts a connection. Its user is responsible for its `WireGuard`. */
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
    // No parsers compiled from a server's names, no reading of local files on its request, one statement per text, and
    // the default SQL mode.
    disableEval: true,
    flags: ['-LOCAL_FILES', '-MULTI_STATEMENTS', '-IGNORE_SPACE', '-ODBC', '-FOUND_ROWS', '-SESSION_TRACK'],
  });
  // A lost connection is reported to the pending request; the unhandled event would end the process.
  connection.on('error', () => {});
  return connection;
}

function dial(host: string, port: number): Socket {
  const socket = guardedSocket();
  // Node checks a certificate against this name; for an address it would otherwise use `localhost`.
  Object.assign(socket, { _host: host });
  socket.connect(port, host);
  return socket.setNoDelay(true).setKeepAlive(true);
}

/** Waits until the connection is accepted. */
export const waitUntilConnected = (connection: Connection) =>
  new Promise<void>((resolve, reject) => {
    connection.connect((error) => (error ? reject(error) : resolve()));
  });

export const hangUp = (connection: Connection) => wireOf(connection).stream.destroy();

/**
 * Stops the statement in the source by killing its connection from another one, because a server that computes without
 * sending does not notice a closed connection.
 */
export async function cancel(target: ServerTarget, connection: Connection, id: string | null): Promise<void> {
  if (id !== null) {
    const second = createConnection(target);
    try {
      new WireGuard(second);
      await waitUntilConnected(second);
      const timer = setTimeout(() => hangUp(second), CONNECT_TIMEOUT);
      await queryTexts(second, `KILL ${BigInt(id)}`).finally(() => clearTimeout(timer));
    } catch {
      // The source may be unreachable or out of connections. Then only the connection of the service is closed, and the
      // time limit in the source remains.
    }
    hangUp(second);
  }
  hangUp(connection);
}

/** Sends the end of the connection and waits until it is closed. A lost connection does not respond. */
export function endConnection(connection: Connection): Promise<void> {
  return new Promise((resolve) => {
    const { stream } = wireOf(connection);
    if (stream.destroyed) return resolve();
    stream.once('close', () => resolve());
    connection.end(() => {});
  });
}
