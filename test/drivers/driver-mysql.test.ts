import { describe, expect, test } from 'vitest';
import { HAS_MARIADB } from '../support/engines.ts';
import { useMysqlSource } from '../support/mysql-source.ts';
import { boundQuery, neverAborted } from '../support/postgres-source.ts';

describe.skipIf(!HAS_MARIADB)('MySQL and MariaDB', () => {
  const source = useMysqlSource();

  describe('results', () => {
    test('duplicate and odd column names become distinct fields, in order', async () => {
      const result = await source.query(
        'select 1 as id, 2 as id, 3 as id_2, 4 as id, 5 as `Größe "x"`, 6 as __proto__',
      );
      expect(result.fields.map((field) => field.name)).toEqual([
        'id',
        'id_3',
        'id_2',
        'id_4',
        'Größe "x"',
        '__proto__',
      ]);
      expect(Object.entries(result.rows[0]!).map(([, value]) => value)).toEqual([1, 2, 3, 4, 5, 6]);
      expect((await source.load(boundQuery('select 1 as id, 2 as id'))).rows).toEqual([['1', '2']]);
    });

    test('an empty result has columns and no segment', async () => {
      expect(await source.load(boundQuery('select 1 as a from dual where false'))).toEqual({ rows: [], segments: [] });
      expect(await source.query('select 1 as a from dual where false')).toMatchObject({
        fields: [{ name: 'a' }],
        rows: [],
        truncated: false,
      });
    });

    test('many columns keep their order, also with nulls among them', async () => {
      const { rows } = await source.load(
        boundQuery(`select ${Array.from({ length: 40 }, (_, i) => (i % 3 === 0 ? 'null' : String(i))).join(', ')}`),
      );
      expect(rows).toEqual([Array.from({ length: 40 }, (_, i) => (i % 3 === 0 ? null : String(i)))]);
    });

    test('the order of the query is the order of the rows, and the limit cuts there', async () => {
      const text = 'select seq as i from seq_1_to_50 order by (seq * 37) % 101 desc';
      const order = (await source.sql(text)).map((row) => row.i);
      expect((await source.load(boundQuery(text))).rows.map(([i]) => Number(i))).toEqual(order);
      expect(await source.query(text, [], 3)).toMatchObject({
        rows: order.slice(0, 3).map((i) => ({ i })),
        truncated: true,
      });
      expect(await source.query(text, [], 50)).toMatchObject({ truncated: false });
      expect((await source.query(`${text} limit 40`, [], 3)).rows).toHaveLength(3);
      expect(await source.query(`(${text}) union all (select 0)`, [], 3)).toMatchObject({ truncated: true });
    });

    test('a huge result is cut although it has few rows', async () => {
      const result = await source.query(`select repeat('x', 5000000) as x from seq_1_to_10`);
      expect(result).toMatchObject({ truncated: true });
      expect(result.rows).toHaveLength(3);
    });

    test('comments, a trailing semicolon and every kind of query expression are accepted', async () => {
      expect((await source.load(boundQuery('select 1 -- one)\n, 2 /* ) */;\n# the end'))).rows).toEqual([['1', '2']]);
      const recursive = await source.query(
        `with recursive n as (select 1 as i union all select i + 1 from n where i < 3)
        select i from n`,
      );
      expect(recursive.rows).toEqual([{ i: 1 }, { i: 2 }, { i: 3 }]);
      expect((await source.load(boundQuery('values (1, 2), (3, 4)'))).rows).toEqual([
        ['1', '2'],
        ['3', '4'],
      ]);
      expect((await source.load(boundQuery('(select 1) union (select 2) order by 1 desc limit 1'))).rows).toEqual([
        ['2'],
      ]);
    });
  });

  describe('schema and connection test', () => {
    test('the schema lists tables and views with columns and primary keys, of its database alone', async () => {
      const { database } = source;
      await source.sql(
        [
          'create table `Z t` (b int unsigned, a int not null, primary key (a))',
          'create view `Z v` as select 1 as one, a from `Z t`',
          'create sequence `Z s`',
          "create table `Z j` (j json, e enum('x'))",
        ].join(';'),
      );
      const tables = await source.connection.schema(neverAborted);
      expect(tables.filter((table) => table.name.startsWith('Z'))).toEqual([
        {
          schema: database,
          name: 'Z j',
          type: 'table',
          columns: [
            { name: 'j', type: 'longtext', nullable: true, primaryKey: false },
            { name: 'e', type: `enum('x')`, nullable: true, primaryKey: false },
          ],
        },
        {
          schema: database,
          name: 'Z t',
          type: 'table',
          columns: [
            { name: 'b', type: 'int(10) unsigned', nullable: true, primaryKey: false },
            { name: 'a', type: 'int(11)', nullable: false, primaryKey: true },
          ],
        },
        {
          schema: database,
          name: 'Z v',
          type: 'view',
          columns: [
            { name: 'one', type: 'int(1)', nullable: false, primaryKey: false },
            { name: 'a', type: 'int(11)', nullable: false, primaryKey: false },
          ],
        },
      ]);
      expect(tables.every((table) => table.schema === database)).toBe(true);
    });

    test('the connection test reports the version and warns of needless permissions', async () => {
      const { database } = source;
      const user = `r_${database.slice(-8)}`;
      const findWarnings = async () =>
        (await source.open({ user }, { password: 'only-for-this-test' }).test(neverAborted)).warnings;
      const unencrypted = 'The connection is not encrypted';
      const warningThat = (permission: string) =>
        expect.stringMatching(
          new RegExp(`^The role "${user}@.*" ${permission}; use one that may only read$`),
        ) as string;
      expect(await source.connection.test(neverAborted)).toMatchObject({
        ok: true,
        version: expect.stringMatching(/^MariaDB \d+\.\d+\.\d+$/) as string,
        message: null,
        warnings: [expect.stringContaining('may do everything') as string, unencrypted],
      });
      await source.sql(
        `create user
          ${user}@'%' identified by 'only-for-this-test',
          ${user}@localhost identified by 'only-for-this-test'`,
      );
      const grant = (permission: string) =>
        source.sql(`grant ${permission} to ${user}@'%'; grant ${permission} to ${user}@localhost`);
      await grant(`select on ${database}.*`);
      expect(await findWarnings()).toEqual([unencrypted]);
      await grant(`create view on ${database}.*`);
      expect(await findWarnings()).toEqual([warningThat('can change the schema'), unencrypted]);
      await source.sql(`create table ${database}.written (i int)`);
      await grant(`update (i) on ${database}.written`);
      expect(await findWarnings()).toEqual([warningThat('can write to tables'), unencrypted]);
      await grant('file on *.*');
      expect(await findWarnings()).toEqual([
        warningThat('can read and write files of the server'),
        warningThat('can write to tables'),
        unencrypted,
      ]);
      await source.sql(`drop user ${user}@'%', ${user}@localhost`);
    });
  });
});
