import type { Socket } from 'node:net';
import pg from 'pg';
import utils from 'pg/lib/utils.js';
import { expect } from 'vitest';
import { test as base } from '../support/fixture.ts';

/** The members of pg's client and connection that its types lack and the service uses. */
interface Internals {
  processID: number;
  readyForQuery: boolean;
  connection: ConnectionInternals;
}

interface ConnectionInternals extends pg.Connection {
  parsedStatements: Record<string, string>;
  stream: Socket;
  attachListeners(stream: object): void;
  sendCopyFail(reason: string): void;
}

const test = base.extend<{ client: pg.Client & Internals }>({
  client: async ({ service }, use) => {
    const client = new pg.Client({ connectionString: service.databaseUrl }) as never as pg.Client & Internals;
    await client.connect();
    await use(client);
    await client.end();
  },
});

/** Sends two statements in one batch, as `statement-batch.ts` does. Returns the calls of pg's client, in order. */
async function recordBatch(client: pg.Client & Internals): Promise<unknown[]> {
  const calls: unknown[] = [];
  const record =
    (event: string) =>
    (...values: unknown[]) =>
      calls.push([event, ...values]);
  const { connection } = client;
  await new Promise<void>((resolve) => {
    const batch = {
      name: 'named',
      text: 'select $1::int as n, $2::text as t',
      callback: resolve,
      submit() {
        connection.stream.cork();
        connection.parse({ name: 'named', text: this.text } as never, true);
        connection.bind({ statement: 'named', values: ['1', null] } as never, true);
        connection.describe({ type: 'P' }, true);
        connection.execute({} as never, true);
        connection.bind({ statement: 'named', values: ['2', 'x'] } as never, true);
        connection.execute({} as never, true);
        connection.sync();
        connection.stream.uncork();
        record('submitted')(client.readyForQuery);
        return null;
      },
      handleRowDescription: ({ fields }: { fields: pg.FieldDef[] }) =>
        record('handleRowDescription')(fields.map(({ name, dataTypeID }) => [name, dataTypeID])),
      handleDataRow: ({ fields }: { fields: unknown[] }) => record('handleDataRow')(fields),
      handleCommandComplete: ({ text }: { text: string }) => record('handleCommandComplete')(text),
      handleError: (error: Error) => (record('handleError')(error), resolve()),
      handleReadyForQuery: () => (record('handleReadyForQuery')(client.readyForQuery), resolve()),
    };
    client.query(batch as never);
  });
  return calls;
}

test('pg has the internals that the service relies on', async ({ client }) => {
  // `statement-batch.ts`: a custom query, its calls, and the statements that the connection has parsed.
  expect(await recordBatch(client)).toEqual([
    ['submitted', false],
    [
      'handleRowDescription',
      [
        ['n', pg.types.builtins.INT4],
        ['t', pg.types.builtins.TEXT],
      ],
    ],
    ['handleDataRow', ['1', null]],
    ['handleCommandComplete', 'SELECT 1'],
    ['handleDataRow', ['2', 'x']],
    ['handleCommandComplete', 'SELECT 1'],
    ['handleReadyForQuery', true],
  ]);
  expect(client.connection.parsedStatements).toEqual({ named: 'select $1::int as n, $2::text as t' });
  expect(client.connection.sendCopyFail).toBeTypeOf('function');
  const values = [null, undefined, true, 1.5, 'a', ['a', null], { b: 1 }, new Date(0)];
  expect(values.map((value) => utils.prepareValue(value))).toEqual([
    null,
    null,
    'true',
    '1.5',
    'a',
    '{"a",NULL}',
    '{"b":1}',
    expect.stringMatching(/^(1970-01-01|1969-12-31)T/),
  ]);

  // `silent-connection.ts`: the socket, and whether a statement runs.
  expect(client.connection.stream.setTimeout).toBeTypeOf('function');
  const running = client.query('select 1');
  expect(client.readyForQuery).toBe(false);
  await running;
  expect(client.readyForQuery).toBe(true);

  // `wire-guard.ts` and `copy-out.ts`: the connection alone listens to the bytes of its socket.
  expect(client.connection.stream.listeners('data')).toHaveLength(1);
  const events: string[] = [];
  (new pg.Connection() as ConnectionInternals).attachListeners({ on: (event: string) => events.push(event) });
  expect(events).toContain('data');

  // `workspace-client.ts` and `session.ts`: the id of the server's process, and the state of the transaction.
  const { rows } = await client.query<{ id: number }>('select pg_backend_pid() as id');
  expect(client.processID).toBe(rows[0]!.id);
  expect(client.getTransactionStatus()).toBe('I');
});
