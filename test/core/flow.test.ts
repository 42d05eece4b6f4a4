import { DuckDBInstance } from '@duckdb/node-api';
import type { DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compileFlow } from '../../src/adapters/dataset-index/duckdb/flow-sql.ts';
import { checkFlow } from '../../src/core/flow/check.ts';
import { parseFlow } from '../../src/core/flow/parse.ts';
import { calculateX, COLUMNS, invalid } from './flow-fixture.ts';

let connection: DuckDBConnection;
beforeAll(async () => {
  connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
  await connection.run(
    `create table staged (
      c0 bigint,
      c1 varchar,
      c2 double,
      c3 date,
      c4 timestamp,
      c5 boolean,
      c6 varchar,
      c7 decimal(12,2),
      _row bigint
    )`,
  );
  await connection.run(
    `insert into staged values
      (1, 'EU', 10.5, '2024-01-31', '2024-01-31 10:00:00', true, '{}', 0.10, 0),
      (2, 'US', 0, '2024-02-29', '2024-03-01 09:59:59.5', false, null, 3, 1),
      (3, null, null, null, null, null, null, null, 2),
      (4, ' Ünï ', -7, '1969-07-20', '1969-07-20 20:17:40', true, '[]', -1.50, 3),
      (5, 'EU', 1e308, '2024-01-31', '2024-01-31 00:00:00', false, '1', 99.99, 4)`,
  );
});
afterAll(() => connection.closeSync());

/** Runs a flow over the rows of `staged`. Returns its rows by field name. */
async function runFlow(steps: unknown): Promise<Record<string, unknown>[]> {
  const { sql, columns } = compileFlow(parseFlow(steps), COLUMNS, 'staged');
  const reader = await connection.runAndReadAll(sql);
  expect(reader.columnNames()).toEqual(columns.map((column) => column.column));
  return reader.getRowsJson().map((row) => Object.fromEntries(columns.map((column, i) => [column.name, row[i]])));
}
/** Runs a flow. Returns the values of one field. */
const readColumn = async (steps: unknown, name: string) => (await runFlow(steps)).map((row) => row[name]);

/** Returns the values of an expression, one per row. Whole numbers are text, as DuckDB prints 64-bit integers. */
const evaluate = (expression: string) => readColumn(calculateX(expression), 'x');

describe('steps are executed in order', () => {
  test('a flow without steps changes no row', async () =>
    expect(await readColumn([], 'id')).toEqual(['1', '2', '3', '4', '5']));

  test('sorting is stable, missing values are last in both directions, strings compare by code point', async () => {
    expect(await readColumn([{ type: 'sort', field: 'region', order: 'asc' }], 'id')).toEqual([
      '4',
      '1',
      '5',
      '2',
      '3',
    ]);
    expect(await readColumn([{ type: 'sort', field: 'region', order: 'desc' }], 'id')).toEqual([
      '2',
      '1',
      '5',
      '4',
      '3',
    ]);
    expect(
      await readColumn(
        [
          { type: 'sort', field: 'id', order: 'desc' },
          { type: 'sort', field: 'region' },
        ],
        'id',
      ),
    ).toEqual(['4', '5', '1', '2', '3']);
  });

  test('a limit keeps the first rows in the current order, even if the sort field was removed', async () => {
    expect(
      await readColumn(
        [
          { type: 'sort', field: 'amount', order: 'desc' },
          { type: 'remove', fields: ['amount'] },
          { type: 'limit', n: 2 },
        ],
        'id',
      ),
    ).toEqual(['5', '1']);
    expect(
      await readColumn(
        [
          { type: 'limit', n: 2 },
          { type: 'sort', field: 'amount', order: 'asc' },
        ],
        'id',
      ),
    ).toEqual(['2', '1']);
    expect(await runFlow([{ type: 'limit', n: 0 }])).toEqual([]);
  });

  test('a filter sees the fields of the steps before it', async () => {
    const steps = [
      { type: 'rename', field: 'amount', to: 'eur' },
      { type: 'calculate', field: 'double', expression: 'eur * 2' },
      { type: 'filter', criteria: { double: { $gt: 0 }, eur: { $lt: 100 } } },
    ];
    expect(await runFlow(steps)).toMatchObject([{ id: '1', eur: 10.5, double: 21 }]);
    expect(
      await readColumn([{ type: 'filter', criteria: { $or: [{ region: null }, { day: '2024-01-31' }] } }], 'id'),
    ).toEqual(['1', '3', '5']);
  });

  test('a calculated field replaces the field of its name, and may read it', async () => {
    const { columns } = compileFlow(
      parseFlow([{ type: 'calculate', field: 'region', expression: "concat(region, '!')" }]),
      COLUMNS,
      'staged',
    );
    expect(columns.map((each) => each.name)).toEqual(COLUMNS.map((each) => each.name));
    expect(
      await readColumn([{ type: 'calculate', field: 'region', expression: "concat(region, '!')" }], 'region'),
    ).toEqual(['EU!', 'US!', null, ' Ünï !', 'EU!']);
  });

  test('checkFlow returns the remaining fields and their types', () => {
    const steps = parseFlow([
      { type: 'remove', fields: ['extra', 'paid', 'Net `sum`', 'at', 'day'] },
      { type: 'rename', field: 'id', to: 'nr' },
      { type: 'calculate', field: 'len', expression: 'length(region)' },
      { type: 'calculate', field: 'big', expression: 'nr > 2' },
      { type: 'calculate', field: 'nr', expression: 'nr / 2' },
    ]);
    expect(
      checkFlow(
        steps,
        COLUMNS.map(({ name, type }) => ({ name, type })),
      ),
    ).toEqual([
      { name: 'nr', type: 'number' },
      { name: 'region', type: 'string' },
      { name: 'amount', type: 'number' },
      { name: 'len', type: 'integer' },
      { name: 'big', type: 'boolean' },
    ]);
  });
});

describe('expressions', () => {
  test.each<[string, unknown[]]>([
    ['1 + 2 * 3 - 4 / 8', [6.5, 6.5, 6.5, 6.5, 6.5]],
    ['(1 + 2) * -3', [-9, -9, -9, -9, -9]],
    ['id / amount', [1 / 10.5, null, null, 4 / -7, 5 / 1e308]],
    ['amount % 4', [2.5, 0, null, -3, 0]],
    ['id % 0', [null, null, null, null, null]],
    ['1 / (1 / amount)', [10.5, null, null, -7, 1e308]],
    ['amount * 10 - amount * 10', [0, 0, null, 0, null]],
    ['1 / (amount * 10)', [1 / 105, null, null, -1 / 70, null]],
    ['if(amount * 10 > 100, 1, 2)', ['1', '2', '2', '2', '2']],
    ['-amount', [-10.5, 0, null, 7, -1e308]],
    ['`Net ``sum``` + 0.2', [0.30000000000000004, 3.2, null, -1.3, 100.19]],
    ['amount > 0 and region = "EU"', [true, false, null, false, true]],
    ['not paid or id <> 1', [false, true, true, true, true]],
    ['paid == true', [true, false, null, true, false]],
    ["day >= '2024-01-31' AND at < '2024-03-01'", [true, false, null, false, true]],
    ['day = at', [false, false, null, false, true]],
    ['region = null', [null, null, null, null, null]],
    ['abs(amount)', [10.5, 0, null, 7, 1e308]],
    ['round(`Net ``sum``` * 1.5, 1)', [0.2, 4.5, null, -2.3, 150]],
    ['floor(amount)', [10, 0, null, -7, 1e308]],
    ['ceil(`Net ``sum```)', [1, 3, null, -1, 100]],
    ['upper(trim(region))', ['EU', 'US', null, 'ÜNÏ', 'EU']],
    ['length(region)', ['2', '2', null, '5', '2']],
    [
      "concat(id, ':', amount, ' ', paid, ' ', day, ' ', at)",
      [
        '1:10.5 true 2024-01-31 2024-01-31T10:00:00.000Z',
        '2:0 false 2024-02-29 2024-03-01T09:59:59.500Z',
        null,
        '4:-7 true 1969-07-20 1969-07-20T20:17:40.000Z',
        '5:1e+308 false 2024-01-31 2024-01-31T00:00:00.000Z',
      ],
    ],
    ["coalesce(region, 'it''s none')", ['EU', 'US', "it's none", ' Ünï ', 'EU']],
    ['coalesce(null, amount, id)', [10.5, 0, 3, -7, 1e308]],
    ['if(paid, region)', ['EU', null, null, ' Ünï ', null]],
    ['year(day) * 10000 + month(day) * 100 + day(day)', [20240131, 20240229, null, 19690720, 20240131]],
    ["dateDiff('day', day, at)", ['0', '1', null, '0', '0']],
    ["dateDiff(month, day, '2024-03-01')", ['1', '0', null, '655', '1']],
    ["dateDiff('hour', at, day)", ['-10', '-33', null, '-20', '0']],
    ['null', [null, null, null, null, null]],
  ])('%s', async (expression, expected) => expect(await evaluate(expression)).toEqual(expected));

  test.each([
    ['amount +', 'The expression ends too early'],
    ['amount id', 'The expression has an unexpected "id" at character 8'],
    ['(1', 'The expression ends too early'],
    ['1; drop table x', 'The expression has an unexpected ";" at character 2'],
    ["'open", `The expression has an unexpected "'" at character 1`],
    ['and', 'The expression has an unexpected "and" at character 1'],
    ['sqrt(2)', expect.stringMatching(/^Flow step 1 \(calculate\): Unknown function sqrt; known are abs, /)],
    ['toString(2)', expect.stringMatching(/Unknown function toString/)],
    ['abs()', 'abs takes 1 arguments, not 0'],
    ['round(1, 2, 3)', 'round takes 1 to 2 arguments, not 3'],
    ['1e999', 'The expression has a number that is too large'],
    ['('.repeat(64) + '1' + ')'.repeat(64), 'An expression is nested at most 64 levels'],
    ['-'.repeat(3000) + '1', 'An expression is nested at most 64 levels'],
    ['1' + '+1'.repeat(101), 'An expression has at most 100 operators'],
    ['1'.padEnd(4001), 'An expression has at most 4000 characters'],
  ])('%s is refused when it is saved', (expression, message) => {
    expect(() => parseFlow(calculateX(expression))).toThrow(
      invalid(typeof message === 'string' ? `Flow step 1 (calculate): ${message}` : message),
    );
  });

  test.each([
    ['nope + 1', 'Unknown field "nope"'],
    ['region + 1', '+ takes a number, not a string'],
    ['not amount', 'not takes a boolean, not a number'],
    ['region > 5', '> cannot combine string and integer'],
    ['paid > false', '> does not apply to a boolean'],
    ["day = 'soon'", '= cannot combine date and string'],
    ['length(extra)', 'The field "extra" is of type json and cannot be used in an expression'],
    ['round(amount, id)', 'round takes its digits as a whole number from 0 to 15'],
    [
      "dateDiff('fortnight', day, at)",
      'dateDiff takes a unit first, one of millisecond, second, minute, hour, day, week, month, quarter, year',
    ],
    ['if(amount, 1, 2)', 'if takes a boolean, not a number'],
    ['year(region)', 'year takes a date, not a string'],
  ])('%s does not fit the fields', (expression, message) => {
    expect(() => checkFlow(parseFlow(calculateX(expression)), COLUMNS)).toThrow(
      invalid(`Flow step 1 (calculate): ${message}`),
    );
  });

  test('DuckDB executes flows of the maximum size', async () => {
    expect(await evaluate('1' + '+1'.repeat(100))).toContain(101);
    expect(await evaluate('amount' + ' / 2'.repeat(100))).toContain(0);
    expect(await evaluate('1/('.repeat(31) + 'amount' + ')'.repeat(31))).toContain(-1 / 7);
    expect(await evaluate('abs('.repeat(63) + 'amount' + ')'.repeat(63))).toContain(7);
    expect(await evaluate('if(paid,1,'.repeat(63) + 'id' + ')'.repeat(63))).toContain('2');
    expect(
      await runFlow(
        Array.from({ length: 100 }, (_, i) => ({
          type: 'calculate',
          field: `x${i}`,
          expression: i ? `x${i - 1} + 1` : '1',
        })),
      ),
    ).toMatchObject(COLUMNS.slice(0, 5).map(() => ({ x99: 100 })));
  });
});
