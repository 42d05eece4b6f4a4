import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll } from 'vitest';
import { createDrivers } from '../../src/adapters/drivers/driver-registry.ts';
import type { BoundValue } from '../../src/adapters/drivers/mysql/session.ts';
import type { BoundQuery, QueryResult, SourceConnection } from '../../src/core/row-source.ts';
import type { MariadbAddress } from '../../tools/mariadb.ts';
import { mariadb } from './engines.ts';
import { boundQuery, loadFrom, neverAborted } from './postgres-source.ts';

/**
 * Sets up a database of the test file in the MariaDB of the test run as a source. It is opened as administrator, so
 * what is refused is refused for all users.
 */
export function useMysqlSource() {
  const database = `t_${randomUUID().replaceAll('-', '')}`;
  const source = {} as {
    address: MariadbAddress;
    database: string;
    connection: SourceConnection;
    dir: string;
    /** Opens a connection with a changed config or other secrets. */
    open(change?: Record<string, unknown>, secrets?: Record<string, string>): SourceConnection;
    /** Runs SQL directly in the source. With values, only a single statement. */
    sql(text: string, values?: BoundValue[]): Promise<Record<string, unknown>[]>;
    load(query: BoundQuery): ReturnType<typeof loadFrom>;
    query(text: string, parameters?: BoundQuery['parameters'], limit?: number): Promise<QueryResult>;
    /** Returns the statements of the driver that are running in the source, '' for an idle session. */
    busy(): Promise<string[]>;
  };
  let admin: mysql.Connection;
  beforeAll(async () => {
    const { host, port, user, password } = (source.address = await mariadb());
    admin = await mysql.createConnection({ host, port, user, password, multipleStatements: true });
    // Another test file may change the server's SQL mode.
    await admin.query(`set sql_mode = ''; create database ${database} character set utf8mb4; use ${database}`);
    source.database = database;
    source.open = (change = {}, secrets = { password }) =>
      createDrivers({ ownDatabase: null })
        .driverOf('mysql')
        .connect({ host, port, database, user, ...change }, secrets, null);
    source.connection = source.open();
    source.dir = await mkdtemp(join(tmpdir(), 'dws-segments-'));
    source.sql = async (text, values) =>
      (await (values ? admin.execute(text, values) : admin.query(text)))[0] as Record<string, unknown>[];
    source.load = (query) => loadFrom(source.connection, source.dir, query);
    source.query = (text, parameters = [], limit = 100) =>
      source.connection.query(boundQuery(text, parameters), limit, neverAborted);
    source.busy = async () =>
      (
        await source.sql(
          `select coalesce(info, '') as info
          from information_schema.processlist
          where db = '${database}' and id <> connection_id()`,
        )
      ).map((row) => String(row.info));
  });
  afterAll(async () => {
    await source.connection.close();
    await admin.query(`drop database ${database}`);
    await admin.end();
    await rm(source.dir, { recursive: true });
  });
  return source;
}
