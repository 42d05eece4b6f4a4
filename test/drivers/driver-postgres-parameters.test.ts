import { describe, expect, test } from 'vitest';
import { boundParameter, useSource } from '../support/postgres-source.ts';
import { testParameters } from './server-parameters.ts';

const source = useSource();

describe('parameters', () => {
  test('take the type that their position requires, else the type of their definition', async () => {
    await source.sql(
      `create table sale (
        id int primary key,
        region text,
        at date,
        paid bool,
        price numeric(8,2),
        moment timestamptz
      );
      insert into sale values
        (1, 'EU', '2024-01-01', true, 1.50, '2024-01-01 12:00Z'),
        (2, 'US', '2024-06-01', false, 2.50, null)`,
    );
    const findIds = async (where: string, ...parameters: Parameters<typeof boundParameter>[]) =>
      (
        await source.query(
          `select id from sale where ${where} order by id`,
          parameters.map((parameter) => boundParameter(...parameter)),
        )
      ).rows.map((row) => row.id);
    expect(await findIds('region = {{r}}', ['r', 'EU'])).toEqual([1]);
    expect(await findIds('at >= {{d}} and id <= {{n}}', ['d', '2024-02-01T00:00:00.000Z', 'date'], ['n', 7])).toEqual([
      2,
    ]);
    expect(await findIds('moment < {{d}}', ['d', '2024-01-01T12:00:00.001Z', 'date'])).toEqual([1]);
    expect(await findIds('paid = {{b}}', ['b', false])).toEqual([2]);
    expect(await findIds('price > {{p}}', ['p', 1.5])).toEqual([2]);
    expect(await findIds('id > {{p}}', ['p', 1.5])).toEqual([2]);
    expect(await findIds('id < {{p}}', ['p', 3e12])).toEqual([1, 2]);
    expect(await findIds('region = {{n}}', ['n', 5])).toEqual([]);
    expect(await findIds('({{r}} is null or region = {{r}})', ['r', null])).toEqual([1, 2]);
    expect(await findIds('({{r}} is null or region = {{r}})', ['r', 'US'])).toEqual([2]);
    expect(await findIds('id = {{a}} + {{b}}', ['a', 1], ['b', 1])).toEqual([2]);
    expect(await findIds(`to_char({{d}}, 'YYYY') = '2024'`, ['d', '2024-02-01', 'date'])).toEqual([1, 2]);
    expect(
      await source.query('select {{s}} as s, {{n}} as n, {{d}} as d, {{b}} as b, {{z}} as z limit {{n}}', [
        boundParameter('s', 'x'),
        boundParameter('n', 1),
        boundParameter('d', '2024-02-01', 'date'),
        boundParameter('b', true),
        boundParameter('z', null, 'number'),
      ]),
    ).toMatchObject({
      fields: [{ type: 'string' }, { type: 'number' }, { type: 'datetime' }, { type: 'boolean' }, { type: 'number' }],
      rows: [{ s: 'x', n: 1, d: '2024-02-01T00:00:00.000Z', b: true, z: null }],
    });
  });

  testParameters(source, {
    joined: '{{w}} || {{v}}',
    hostileValues: [
      `'); drop table sale; --`,
      `'; copy (select 1) to program 'id'`,
      `{{n}}`,
      `$1`,
      `\\'`,
      `dws.p1`,
      `"`,
      ``,
      `ü\n🦆`,
      `' || pg_sleep(9) || '`,
    ],
  });

  test('a value that its position does not accept is an error of the source', async () => {
    await expect(
      source.query('select 1 from sale where at = {{d}}', [boundParameter('d', 'tomorrowish')]),
    ).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('invalid input syntax for type date') as string,
    });
  });
});
