import { describe, expect, test } from 'vitest';
import { compilePlaceholders } from '../../src/adapters/drivers/mysql/placeholders.ts';
import { parseTemplate } from '../../src/core/parameters.ts';
import { HAS_MARIADB } from '../support/engines.ts';
import { useMysqlSource } from '../support/mysql-source.ts';
import { boundParameter } from '../support/postgres-source.ts';
import { testParameters } from './server-parameters.ts';

describe.skipIf(!HAS_MARIADB)('MySQL and MariaDB: parameters', () => {
  const source = useMysqlSource();

  test('compare as literals of their type', async () => {
    await source.sql(
      `drop table if exists sale;
        create table sale (
          id int primary key,
          region varchar(10) collate utf8mb4_unicode_ci,
          place varchar(10) character set latin1,
          at date,
          paid bool,
          price decimal(30,20),
          moment timestamp null,
          big bigint
        );
        insert into sale values
          (1, 'EU', 'Köln', '2024-01-01', true, 1.50000000000000000001, '2024-01-01 12:00', 9007199254740993),
          (2, 'US', 'Rom', '2024-06-01', false, 2.50, null, 9007199254740992)`,
    );
    const findIds = async (where: string, ...parameters: Parameters<typeof boundParameter>[]) =>
      (
        await source.query(
          `select id from sale where ${where} order by id`,
          parameters.map((parameter) => boundParameter(...parameter)),
        )
      ).rows.map((row) => row.id);
    expect(await findIds('region = {{r}}', ['r', 'EU'])).toEqual([1]);
    expect(await findIds('region = {{r}}', ['r', 'eu'])).toEqual([1]);
    expect(await findIds('place = {{r}}', ['r', 'Köln'])).toEqual([1]);
    expect(await findIds('at >= {{d}} and id <= {{n}}', ['d', '2024-02-01T00:00:00.000Z', 'date'], ['n', 7])).toEqual([
      2,
    ]);
    expect(await findIds('at = {{d}}', ['d', '2024-06-01', 'date'])).toEqual([2]);
    expect(await findIds('moment < {{d}}', ['d', '2024-01-01T12:00:00.001Z', 'date'])).toEqual([1]);
    expect(await findIds('moment < {{d}}', ['d', '2024-01-01T12:00:00.000Z', 'date'])).toEqual([]);
    expect(await findIds('paid = {{b}}', ['b', false])).toEqual([2]);
    expect(await findIds('{{b}}', ['b', true])).toEqual([1, 2]);
    expect(await findIds('price > {{p}}', ['p', 1.5])).toEqual([1, 2]);
    expect(await findIds('price = {{p}}', ['p', 2.5])).toEqual([2]);
    expect(await findIds('id > {{p}}', ['p', 1.5])).toEqual([2]);
    expect(await findIds('id < {{p}}', ['p', 1e300])).toEqual([1, 2]);
    expect(await findIds('id > {{p}}', ['p', 1e-300])).toEqual([1, 2]);
    expect(await findIds('big = {{p}}', ['p', 2 ** 53])).toEqual([2]);
    expect(await findIds('({{r}} is null or region = {{r}})', ['r', null])).toEqual([1, 2]);
    expect(await findIds('({{r}} is null or region = {{r}})', ['r', 'US'])).toEqual([2]);
    expect(await findIds('({{n}} is null or id = {{n}})', ['n', null, 'number'])).toEqual([1, 2]);
    expect(await findIds('id = {{a}} + {{b}}', ['a', 1], ['b', 1])).toEqual([2]);
    expect(await findIds('id = 5--{{a}}-5', ['a', 1])).toEqual([1]);
    expect(await findIds(`date_format({{d}}, '%Y') = '2024'`, ['d', '2024-02-01', 'date'])).toEqual([1, 2]);
    expect(await findIds('at < {{d}} + interval {{n}} day', ['d', '2024-01-01', 'date'], ['n', 1])).toEqual([1]);
  });

  test('take the type of their definition', async () => {
    expect(
      await source.query('select {{s}} as s, {{n}} as n, {{f}} as f, {{d}} as d, {{b}} as b, {{z}} as z, {{y}} as y', [
        boundParameter('s', 'x'),
        boundParameter('n', 5_000_000_000),
        boundParameter('f', 1e300),
        boundParameter('d', '2024-02-01', 'date'),
        boundParameter('b', true),
        boundParameter('z', null, 'number'),
        boundParameter('y', null, 'date'),
      ]),
    ).toMatchObject({
      fields: [
        { type: 'string' },
        { type: 'number' },
        { type: 'number' },
        { type: 'datetime' },
        { type: 'integer' },
        { type: 'number' },
        { type: 'datetime' },
      ],
      rows: [{ s: 'x', n: 5e9, f: 1e300, d: '2024-02-01T00:00:00.000Z', b: 1, z: null, y: null }],
    });
  });

  test('set the limit and the offset', async () => {
    const findIds = async (end: string, ...parameters: Parameters<typeof boundParameter>[]) =>
      (
        await source.query(
          `select seq from seq_1_to_9 order by seq ${end}`,
          parameters.map((parameter) => boundParameter(...parameter)),
        )
      ).rows.map((row) => row.seq);
    expect(await findIds('limit {{n}}', ['n', 2])).toEqual([1, 2]);
    expect(await findIds('LIMIT {{from}}, {{n}}', ['from', 3], ['n', 2])).toEqual([4, 5]);
    expect(await findIds('limit {{n}} offset {{from}}', ['from', 3], ['n', 2])).toEqual([4, 5]);
    expect(await findIds('limit 3, {{n}}', ['n', 2])).toEqual([4, 5]);
    await expect(findIds('limit {{n}}', ['n', 1.5])).rejects.toMatchObject({
      status: 400,
      message: 'The parameter "n" counts rows and takes a whole number that is not negative',
    });
  });

  test.each([
    ['region = {{v}}', 'EU4999', 'string'],
    ['place = {{v}}', 'EU4999', 'string'],
    ['id = {{v}}', 4999, 'number'],
    ['price = {{v}}', 4999.25, 'number'],
    ['id > {{v}}', 4999.5, 'number'],
    ['at = {{v}}', '2033-09-08', 'date'],
    ['moment = {{v}}', '2033-09-08T00:00:00.000Z', 'date'],
  ] as const)('%s uses the index', async (where, value, dataType) => {
    await source.sql(
      `create table if not exists indexed (
          id int primary key,
          region varchar(10) collate utf8mb4_unicode_ci,
          place varchar(10) character set latin1,
          at date,
          price decimal(9,2),
          moment timestamp null,
          key(region), key(place), key(at), key(price), key(moment)
        )
        as select
          seq as id,
          concat('EU', seq) as region,
          concat('EU', seq) as place,
          date_add('2020-01-01', interval seq day) as at,
          seq + 0.25 as price,
          timestamp(date_add('2020-01-01', interval seq day)) as moment
        from seq_1_to_5000;
        analyze table indexed`,
    );
    const explain = async (condition: string) => {
      const { text, values } = compilePlaceholders(
        parseTemplate(`explain select count(*) from indexed where ${condition}`, 'mysql'),
        [boundParameter('v', value, dataType)],
      );
      return (await source.sql(text, values))[0]!;
    };
    expect(await explain(where)).toMatchObject({ rows: '1' });
    expect(await explain(`concat(id) = '4999' and {{v}} is not null`)).toMatchObject({ type: 'index' });
  });

  testParameters(source, {
    joined: 'concat({{w}}, {{v}})',
    hostileValues: [
      `'; drop table sale; --`,
      `' into outfile '/tmp/x`,
      `{{n}}`,
      `?`,
      `\\'`,
      `\\`,
      `"`,
      `@x`,
      ``,
      `ü\n🦆`,
      `' or sleep(9) or '`,
      `0x41`,
      `*/`,
      `\``,
    ],
  });
});
