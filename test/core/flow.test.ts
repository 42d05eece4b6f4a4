import { DuckDBInstance } from '@duckdb/node-api';
import type { DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compileFlow } from '../../src/adapters/dataset-index/duckdb/flow-sql.ts';
import type { StagedColumn } from '../../src/adapters/dataset-index/duckdb/flow-sql.ts';
import { checkFlow } from '../../src/core/flow/check.ts';
import { DATE_UNITS } from '../../src/core/flow/functions.ts';
import { parseFlow } from '../../src/core/flow/parse.ts';

const COLUMNS: StagedColumn[] = [
  { name: 'id', type: 'integer', column: 'c0' },
  { name: 'region', type: 'string', column: 'c1' },
  { name: 'amount', type: 'number', column: 'c2' },
  { name: 'day', type: 'date', column: 'c3' },
  { name: 'at', type: 'datetime', column: 'c4' },
  { name: 'paid', type: 'boolean', column: 'c5' },
  { name: 'extra', type: 'json', column: 'c6' },
  { name: 'Net `sum`', type: 'number', column: 'c7' },
];
const invalid = (message: string) => expect.objectContaining({ status: 400, message });
const withOrder = (step: unknown) =>
  (step as { type: string }).type === 'sort' ? { order: 'asc', ...(step as object) } : step;
const calculateX = (expression: string) => [{ type: 'calculate', field: 'x', expression }];

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

  test('a limit keeps the first rows in the current order, also when the sort field was removed', async () => {
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

describe('invalid steps are refused', () => {
  test.each<[unknown, string]>([
    [{}, 'A flow is a list of steps'],
    [[null], 'Flow step 1: a step is an object with a type'],
    [
      [{ type: 'limit', n: 1 }, { type: 'pivot' }],
      'Flow step 2 (pivot): unknown step; known are filter, sort, limit, rename, remove, calculate',
    ],
    [
      [{ type: 'constructor' }],
      'Flow step 1 (constructor): unknown step; known are filter, sort, limit, rename, remove, calculate',
    ],
    [[{ type: 'limit', n: 1, m: 2 }], 'Flow step 1 (limit): unknown key "m"'],
    [[{ type: 'limit' }], 'Flow step 1 (limit): n is missing'],
    [[{ type: 'limit', n: -1 }], 'Flow step 1 (limit): n must be a whole number, at least 0'],
    [[{ type: 'sort', field: 'id', order: 'up' }], 'Flow step 1 (sort): order must be "asc" or "desc"'],
    [[{ type: 'rename', field: 'id', to: '' }], 'Flow step 1 (rename): to must be the name of a field'],
    [[{ type: 'remove', fields: [] }], 'Flow step 1 (remove): fields must be a list of names'],
    [[{ type: 'filter', criteria: 'x' }], 'Flow step 1 (filter): criteria must be an object'],
    [Array.from({ length: 101 }, () => ({ type: 'limit', n: 1 })), 'A flow has at most 100 steps'],
  ])('%j', (flow, message) => expect(() => parseFlow(flow)).toThrow(invalid(message)));

  test.each<[string, string]>([
    ['dateDiff("century", a, a)', `dateDiff takes a unit first, one of ${DATE_UNITS.join(', ')}`],
    ['dateDiff(a, b, c)', `dateDiff takes a unit first, one of ${DATE_UNITS.join(', ')}`],
    ['dateDiff("day", a, 1)', 'dateDiff takes a date, not a integer'],
    ['dateDiff("day", "today", a)', 'dateDiff takes a date, not a string'],
    ['round(a, 99999)', 'round takes its digits as a whole number from 0 to 15'],
    ['round(a, b)', 'round takes its digits as a whole number from 0 to 15'],
    ['round(a, 1.5)', 'round takes its digits as a whole number from 0 to 15'],
    ['round("a", 1)', 'round takes a number, not a string'],
    ['not 1', 'not takes a boolean, not a integer'],
    ['not "a"', 'not takes a boolean, not a string'],
    ['a and 1', 'and takes a boolean, not a integer'],
    ['1 or a', 'or takes a boolean, not a integer'],
    ['a + "b"', '+ takes a number, not a string'],
    ['-"b"', '- takes a number, not a string'],
    ['1 * true', '* takes a number, not a boolean'],
    ['a < true', '< does not apply to a boolean'],
    ['1 = "1"', '= cannot combine integer and string'],
    ['lower(1)', 'lower takes a string, not a integer'],
    ['length(a + b)', 'length takes a string, not a number'],
    ['year("soon")', 'year takes a date, not a string'],
    ['abs(a = b)', 'abs takes a number, not a boolean'],
    ['if(1, a, b)', 'if takes a boolean, not a integer'],
    ['if(a, 1, "b")', 'if cannot combine integer and string'],
    ['coalesce(a, 1, "b")', 'coalesce cannot combine integer and string'],
    ['upper(coalesce(a, 1))', 'upper takes a string, not a integer'],
  ])('%s is refused for any fields', (expression, message) =>
    expect(() => parseFlow(calculateX(expression))).toThrow(invalid(`Flow step 1 (calculate): ${message}`)),
  );

  test.each<[unknown, string]>([
    [{ a: { $near: 1 } }, 'Unknown operator "$near" for the field "a"'],
    [{ $where: 'x' }, 'Unknown operator "$where"'],
    [{ $and: [{ b: 1 }, { a: { $not: { $like: 'x' } } }] }, 'Unknown operator "$like" for the field "a"'],
    [{ $not: 'x' }, '$not must be an object of field conditions, not a string'],
    [{ $or: {} }, '$or must be a list'],
    [{ a: {} }, 'The condition on the field "a" names no operator'],
    [{ a: [1] }, 'The field "a" cannot be compared with a list; use $in'],
    [{ a: { $in: 'x' } }, '$in must be a list'],
    [{ a: { $exists: 'x' } }, '$exists of the field "a" must be true or false'],
    [{ a: { $regex: 5 } }, '$regex of the field "a" must be a string'],
    [{ a: { $options: 'i' } }, '$options requires $regex'],
    [{ a: { $gt: true } }, 'The condition {"$gt":true} on the field "a" fits no type'],
    [{ a: { $lt: null } }, 'The condition {"$lt":null} on the field "a" fits no type'],
    [{ a: { $in: [1, 'x'] } }, 'The condition {"$in":[1,"x"]} on the field "a" fits no type'],
    [{ a: { $gt: 5, $lt: true } }, 'The condition {"$gt":5,"$lt":true} on the field "a" fits no type'],
    [{ a: { $eq: { b: 1 } } }, 'The condition {"$eq":{"b":1}} on the field "a" fits no type'],
  ])('the filter %j is refused for any fields', (criteria, message) =>
    expect(() => parseFlow([{ type: 'filter', criteria }])).toThrow(invalid(`Flow step 1 (filter): ${message}`)),
  );

  test.each<[unknown[], string]>([
    [
      [
        { type: 'remove', fields: ['a'] },
        { type: 'sort', field: 'a' },
      ],
      'Flow step 2 (sort): Unknown field "a"',
    ],
    [
      [
        { type: 'rename', field: 'a', to: 'b' },
        { type: 'filter', criteria: { a: 1 } },
      ],
      'Flow step 2 (filter): Unknown field "a"',
    ],
    [
      [
        { type: 'sort', field: 'b' },
        { type: 'rename', field: 'a', to: 'b' },
      ],
      'Flow step 2 (rename): The field "b" already exists',
    ],
    [
      [...calculateX('length(a)'), ...calculateX('lower(x)')],
      'Flow step 2 (calculate): lower takes a string, not a integer',
    ],
    [
      [...calculateX('a = 1'), { type: 'rename', field: 'x', to: 'y' }, { type: 'filter', criteria: { y: 'yes' } }],
      'Flow step 3 (filter): The field "y" is of type boolean: "yes" cannot be compared with it',
    ],
  ])('%j is refused for any fields', (flow, message) => expect(() => parseFlow(flow)).toThrow(invalid(message)));

  test.each<[unknown[]]>([
    [[{ type: 'remove', fields: ['a', 'b'] }, ...calculateX('1'), { type: 'remove', fields: ['x'] }]],
    [
      [
        { type: 'remove', fields: ['a'] },
        { type: 'calculate', field: 'a', expression: '1' },
        { type: 'sort', field: 'a' },
      ],
    ],
    [
      [
        { type: 'rename', field: 'a', to: 'b' },
        { type: 'rename', field: 'b', to: 'a' },
        { type: 'sort', field: 'a' },
      ],
    ],
    [
      [
        { type: 'rename', field: '$a', to: 'a' },
        { type: 'filter', criteria: { a: { $gt: 1 } } },
      ],
    ],
    [[...calculateX('a'), ...calculateX('lower(x)'), ...calculateX('dateDiff(day, b, "2024-01-01")')]],
    [calculateX('if(a, b, c) + coalesce(d, e, 1) / length(f) - year(g)')],
    [calculateX('coalesce(a, null)')],
    [[{ type: 'filter', criteria: { a: 'x', b: 1, c: true, d: null, e: '2024-01-01', f: { $gt: '5', $lt: '7' } } }]],
    [
      [
        {
          type: 'filter',
          criteria: { $or: [{ a: { $exists: false } }, { $not: { a: { $regex: '^x', $options: 'i' } } }] },
        },
      ],
    ],
    [[{ type: 'filter', criteria: { a: { $in: [1, null, 2] }, b: { $nin: ['x'] }, c: { $not: { $gte: 1.5 } } } }]],
  ])('%j is accepted, because some fields fit it', (flow) => expect(parseFlow(flow)).toEqual(flow.map(withOrder)));

  test.each<[unknown[], string]>([
    [[{ type: 'sort', field: 'nope' }], 'Flow step 1 (sort): Unknown field "nope"'],
    [[{ type: 'sort', field: 'extra' }], 'Flow step 1 (sort): The field "extra" is of type json and has no order'],
    [[{ type: 'rename', field: 'id', to: 'day' }], 'Flow step 1 (rename): The field "day" already exists'],
    [
      [
        { type: 'remove', fields: ['id'] },
        { type: 'filter', criteria: { id: 1 } },
      ],
      'Flow step 2 (filter): Unknown field "id"',
    ],
    [
      [{ type: 'filter', criteria: { region: 5 } }],
      'Flow step 1 (filter): The field "region" is of type string: 5 cannot be compared with it',
    ],
    [
      [{ type: 'remove', fields: COLUMNS.map(({ name }) => name) }],
      'Flow step 1 (remove): At least one field must remain',
    ],
  ])('%j', (flow, message) => expect(() => checkFlow(parseFlow(flow), COLUMNS)).toThrow(invalid(message)));
});
