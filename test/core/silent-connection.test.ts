import pg from 'pg';
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from 'vitest';
import { endSilentConnection } from '../../src/adapters/database/silent-connection.ts';
import { isConnectionLoss } from '../../src/core/connection-loss.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

const LIMIT_MS = 300;

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  client = new pg.Client({ connectionString: database.url });
  client.on('error', () => {});
  await client.connect();
  endSilentConnection(client, LIMIT_MS);
});
afterEach(() => client.end().catch(() => {}));

const sleep = (ms: number) => new Promise((wake) => setTimeout(wake, ms));

describe('a connection with a limit of silence', () => {
  test('fails a statement to which the server sends nothing, and then every other', async () => {
    const error: unknown = await client.query('select pg_sleep(30)').catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'ETIMEDOUT', message: 'Postgres does not respond' });
    expect(isConnectionLoss(error)).toBe(true);
    await expect(client.query('select 1')).rejects.toThrow('not queryable');
  });

  test('lasts while no statement runs', async () => {
    await sleep(3 * LIMIT_MS);
    expect((await client.query<{ one: number }>('select 1 as one')).rows).toEqual([{ one: 1 }]);
    const error: unknown = await client.query('select pg_sleep(30)').catch((reason: unknown) => reason);
    expect(error, 'the limit still holds').toMatchObject({ code: 'ETIMEDOUT' });
  });

  test('lasts while a statement sends rows', async () => {
    // Each row is longer than the buffer of the server, which is sent when it is full.
    const text = `select i, repeat('x', 20000) as text, pg_sleep(0.1)
      from generate_series(1, 10) i`;
    const { rows } = await client.query<{ i: number }>(text);
    expect(rows.map(({ i }) => i)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });
});
