import { beforeAll, describe, expect, test } from 'vitest';
import { bindParameters } from '../../src/core/parameters.ts';
import type { BoundQuery, QueryResult } from '../../src/core/row-source.ts';
import { HAS_MARIADB } from '../support/engines.ts';
import { useMysqlSource } from '../support/mysql-source.ts';
import { useSource } from '../support/postgres-source.ts';
import { useUploads } from './driver-file-fixture.ts';
import { useSqliteFiles } from './driver-sqlite-fixture.ts';

interface Queried {
  query(text: string, parameters: BoundQuery['parameters']): Promise<QueryResult>;
}

/** Neighbours whose numbers are one double. */
const ROWS = [
  [1, '9007199254740992', '1234567890123456.71'],
  [2, '9007199254740993', '1234567890123456.72'],
] as const;
const INSERT = `insert into sale values ${ROWS.map((row) => `(${row.join(', ')})`).join(', ')}`;

const TOO_LONG = {
  status: 400,
  message: expect.stringMatching(/^The parameter "n" has more digits than its source can compare: /) as string,
};

const postgres = useSource();
const mysql = HAS_MARIADB ? useMysqlSource() : null;
const { createFile } = useSqliteFiles();
const { upload } = useUploads();

const SOURCES: [string, boolean, () => Promise<Queried>][] = [
  [
    'Postgres',
    true,
    async () => {
      await postgres.sql(`create table sale (id int, big bigint, price numeric); ${INSERT}`);
      return postgres;
    },
  ],
  [
    'MariaDB',
    mysql !== null,
    async () => {
      await mysql!.sql(`create table sale (id int, big bigint, price decimal(20,2)); ${INSERT}`);
      return mysql!;
    },
  ],
  ['uploads', true, async () => (await upload(`id,big,price\n${ROWS.map((row) => row.join()).join('\n')}\n`)).file],
  ['SQLite', true, async () => createFile(`create table sale (id int, big int, price real); ${INSERT}`).file],
];

describe.each(SOURCES)('%s: number parameters', (name, available, open) => {
  if (!available) return;
  let source: Queried;
  beforeAll(async () => {
    source = await open();
  });
  const table = name === 'uploads' ? 'data' : 'sale';
  const find = async (where: string, n: unknown) =>
    (
      await source.query(
        `select id from ${table} where ${where} order by id`,
        bindParameters([{ name: 'n', dataType: 'number' }], { n }),
      )
    ).rows.map(({ id }) => id);

  test('keep the digits of whole numbers that are given as texts', async () => {
    expect(await find('big = {{n}}', '9007199254740993')).toEqual([2]);
    expect(await find('big = {{n}}', '009007199254740992')).toEqual([1]);
    expect(await find('big >= {{n}}', '-9223372036854775807')).toEqual([1, 2]);
    expect(await find('id = {{n}}', '2')).toEqual([2]);
    expect(await find('id < {{n}}', '1.5')).toEqual([1]);
  });

  test('keep the digits of decimals, or refuse them', async () => {
    if (name === 'SQLite') await expect(find('price = {{n}}', '1234567890123456.72')).rejects.toMatchObject(TOO_LONG);
    else expect(await find('price = {{n}}', '1234567890123456.72')).toEqual([2]);
  });

  test('past the widest number of the source compare, or are refused', async () => {
    const long = find('big < {{n}}', '9'.repeat(100));
    if (name === 'Postgres') expect(await long).toEqual([1, 2]);
    else await expect(long).rejects.toMatchObject(TOO_LONG);
  });
});
