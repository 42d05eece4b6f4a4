import { DuckDBInstance } from '@duckdb/node-api';
import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compileCriteria } from '../../src/adapters/dataset-index/duckdb/criteria-sql.ts';
import { boundValues, literalValues, quoteText } from '../../src/adapters/dataset-index/duckdb/sql-values.ts';
import { parseCriteria } from '../../src/core/criteria/parse.ts';
import { ALL, NONE } from '../../src/core/criteria/tree.ts';
import type { Field } from '../../src/core/fields.ts';
import { arbitraryCriteria, arbitraryRow, EVERY_KIND } from './criteria/arbitrary.ts';
import { matches } from './criteria/evaluate.ts';

const field = (name: string, type: Field['type'], format?: Field['format']): Field => ({
  name,
  label: name,
  type,
  ...(format && { format }),
});
const FIELDS = [
  field('name', 'string'),
  field('n', 'number'),
  field('big', 'integer', 'int64'),
  field('day', 'date'),
  field('at', 'datetime'),
  field('yes', 'boolean'),
  field('extra', 'json'),
  field('$odd', 'string'),
  field('__proto__', 'string'),
];
const parse = (criteria: unknown) => parseCriteria(criteria, FIELDS);
const [NAME, N, , DAY, AT] = FIELDS as [Field, Field, Field, Field, Field];

describe('criteria are parsed to a typed tree', () => {
  test('empty criteria match all rows, an empty $or and an empty $in none', () => {
    expect(parse({})).toEqual(ALL);
    expect(parse({ $and: [] })).toEqual(ALL);
    expect(parse({ $or: [] })).toEqual(NONE);
    expect(parse({ n: { $in: [] } })).toEqual(NONE);
    expect(parse({ n: { $nin: [] } })).toEqual(ALL);
    expect(parse({ $or: [{ n: 1 }, {}] })).toEqual(ALL);
  });

  test('comparisons of one field with several values are folded into one membership', () => {
    expect(parse({ $or: [{ name: 'a' }, { name: { $in: ['b', 'a'] } }, { $or: [{ name: 'c' }] }] })).toEqual({
      kind: 'in',
      field: NAME,
      values: ['a', 'b', 'c'],
    });
    expect(parse({ $and: [{ n: { $ne: 1 } }, { n: { $ne: 2 } }] })).toEqual({
      kind: 'not',
      node: { kind: 'in', field: N, values: [1, 2] },
    });
  });

  test('`$not` is pushed down to the leaves', () => {
    expect(parse({ $not: { $and: [{ name: null }, { $not: { n: { $gt: 1 } } }] } })).toEqual({
      kind: 'or',
      nodes: [
        { kind: 'not', node: { kind: 'missing', field: NAME } },
        { kind: 'compare', field: N, op: 'gt', value: 1 },
      ],
    });
  });

  test('a date is its UTC midnight, so a time within a day is between two dates', () => {
    expect(parse({ at: { $gte: '2024-03-01' } })).toEqual({
      kind: 'compare',
      field: AT,
      op: 'gte',
      value: '2024-03-01T00:00:00.000Z',
    });
    expect(parse({ at: '2024-03-01T01:00:00.1239+02:00' })).toEqual({
      kind: 'compare',
      field: AT,
      op: 'eq',
      value: '2024-02-29T23:00:00.123Z',
    });
    expect(parse({ day: { $lt: '2024-03-01T10:00:00Z' } })).toEqual({
      kind: 'compare',
      field: DAY,
      op: 'lte',
      value: '2024-03-01',
    });
    expect(parse({ day: { $gte: '2024-03-01T10:00:00Z' } })).toEqual({
      kind: 'compare',
      field: DAY,
      op: 'gt',
      value: '2024-03-01',
    });
    expect(parse({ day: '2024-03-01T10:00:00Z' })).toEqual(NONE);
    expect(parse({ day: '2024-03-01T00:00:00Z' })).toEqual({
      kind: 'compare',
      field: DAY,
      op: 'eq',
      value: '2024-03-01',
    });
  });

  test('fields may have any name, and the prototype is never read', () => {
    expect(parse(JSON.parse('{"__proto__": "x", "$odd": "y"}'))).toMatchObject({
      kind: 'and',
      nodes: [{ field: { name: '__proto__' } }, { field: { name: '$odd' } }],
    });
    expect(() => parse({ constructor: 'x' })).toThrow('Unknown field "constructor"');
    expect(() => parse({ name: { toString: 'x' } })).toThrow('Unknown operator "toString" for the field "name"');
  });
});

describe('invalid criteria are refused with 400 and the reason', () => {
  test.each<[unknown, string]>([
    [null, 'Criteria must be an object of field conditions, not null'],
    [[], 'Criteria must be an object of field conditions, not a list'],
    [{ $not: 'x' }, '$not must be an object of field conditions, not a string'],
    [{ $not: [] }, '$not must be an object of field conditions, not a list'],
    [{ $and: [{ n: 1 }, 5] }, 'Every item of $and must be an object of field conditions, not a number'],
    [{ $or: [null] }, 'Every item of $or must be an object of field conditions, not null'],
    [{ $not: { $or: 5 } }, '$or must be a list'],
    [{ nope: 1 }, 'Unknown field "nope"'],
    [{ $where: 'x' }, 'Unknown operator "$where"'],
    [{ $or: {} }, '$or must be a list'],
    [{ n: { $near: 1 } }, 'Unknown operator "$near" for the field "n"'],
    [{ n: {} }, 'The condition on the field "n" names no operator'],
    [{ n: [1] }, 'The field "n" cannot be compared with a list; use $in'],
    [{ n: { $in: 1 } }, '$in must be a list'],
    [{ n: { $in: [[1]] } }, 'The field "n" is of type number: a list cannot be compared with it'],
    [{ n: { $not: 1 } }, '$not below the field "n" must be an object of operators'],
    [{ n: '1' }, 'The field "n" is of type number: "1" cannot be compared with it'],
    [{ n: { $gt: null } }, 'The field "n" is of type number: null cannot be compared with it'],
    [{ name: 1 }, 'The field "name" is of type string: 1 cannot be compared with it'],
    [{ name: '\ud800' }, 'The field "name" is of type string: "\\ud800" cannot be compared with it'],
    [{ big: '12x' }, 'The field "big" is of type integer: "12x" cannot be compared with it'],
    [{ yes: 1 }, 'The field "yes" is of type boolean: 1 cannot be compared with it'],
    [{ yes: { $gt: false } }, '$gt does not apply to the field "yes" of type boolean'],
    [{ day: '2024-02-30' }, 'The field "day" is of type date: "2024-02-30" cannot be compared with it'],
    [{ at: 5 }, 'The field "at" is of type datetime: 5 cannot be compared with it'],
    [{ extra: 'x' }, 'The field "extra" is of type json: only $exists and null apply to it'],
    [{ n: { $exists: 1 } }, '$exists of the field "n" must be true or false'],
    [{ n: { $regex: 'a' } }, '$regex does not apply to the field "n" of type number'],
    [{ name: { $regex: 1 } }, '$regex of the field "name" must be a string'],
    [{ name: { $options: 'i' } }, '$options requires $regex'],
    [{ name: { $regex: 'a', $options: 'im' } }, '$options of the field "name" supports only "i"'],
  ])('%j', (criteria, message) => {
    expect(() => parse(criteria)).toThrow(expect.objectContaining({ status: 400, message }));
  });

  test.each([
    '\\b',
    '(?=a)',
    '(?i)a',
    'a*?',
    'a++',
    'a**',
    '^*',
    '\\1',
    '[',
    '[]',
    '[^]',
    '(',
    ')',
    'a{',
    '{1}',
    'a{2,1}',
    'a{,2}',
    'a{1001}',
    '[b-a]',
    '[\\d-z]',
    '[a-b-c]',
    '[[:alpha:]]',
    ']',
    '\\D',
    '\\p{L}',
    '\\',
    '*',
    '(a{100}){100}',
    '('.repeat(60) + ')'.repeat(60),
    'a'.repeat(1001),
    '\ud800',
  ])('the regular expression %j is not of the portable subset', (source) => {
    expect(() => parse({ name: { $regex: source } })).toThrow(
      expect.objectContaining({ status: 400, message: expect.stringMatching(/^\$regex /) }),
    );
  });

  test('criteria past the limits are refused', () => {
    const nested = (depth: number): unknown => (depth === 1 ? {} : { $and: [nested(depth - 1)] });
    expect(parse(nested(32))).toEqual(ALL);
    expect(() => parse(nested(33))).toThrow('nested deeper than 32 levels');
    expect(() => parse(nested(5000))).toThrow('nested deeper than 32 levels');
    expect(() => parse({ $or: Array.from({ length: 1001 }, () => ({ n: { $gt: 1 } })) })).toThrow(
      'more than 1000 conditions',
    );
    const deep: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
    for (const criteria of [
      deep,
      { $and: deep },
      { n: deep },
      { n: { $gt: deep } },
      { n: { $in: deep } },
      { name: { $regex: deep } },
      { name: { $regex: 'a', $options: deep } },
      { n: { $not: deep } },
    ]) {
      expect(() => parse(criteria)).toThrow(expect.objectContaining({ status: 400 }));
    }
    expect(parse({ n: { $in: Array.from({ length: 10_000 }, (_, i) => i) } })).toMatchObject({ kind: 'in' });
    expect(() => parse({ n: { $in: Array.from({ length: 10_001 }, (_, i) => i) } })).toThrow('more than 10000 values');
  });
});

describe('DuckDB finds the rows of an independent evaluator', () => {
  const TYPES: Record<string, string> = {
    string: 'VARCHAR',
    text: 'VARCHAR',
    json: 'VARCHAR',
    integer: 'BIGINT',
    number: 'DOUBLE',
    boolean: 'BOOLEAN',
    date: 'DATE',
    datetime: 'TIMESTAMP',
    int64: 'HUGEINT',
    decimal: 'DECIMAL(38,10)',
  };
  const typeOf = (of: Field) => TYPES[of.format ?? of.type]!;
  const columnOf = (of: Field) => `"c${EVERY_KIND.findIndex((candidate) => candidate.name === of.name)}"`;
  const rows = fc.sample(arbitraryRow(EVERY_KIND), { numRuns: 150, seed: 7 });
  let connection: DuckDBConnection;

  beforeAll(async () => {
    connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
    const columns = EVERY_KIND.map((each) => `${columnOf(each)} ${typeOf(each)}`);
    await connection.run(`CREATE TABLE data (${columns.join(', ')}, _row BIGINT)`);
    const literal = (value: unknown) =>
      value === null ? 'NULL' : quoteText(typeof value === 'object' ? JSON.stringify(value) : String(value));
    const tuples = rows.map((row, i) => `(${EVERY_KIND.map((each) => literal(row[each.name])).join(', ')}, ${i})`);
    await connection.run(`INSERT INTO data VALUES ${tuples.join(', ')}`);
  });
  afterAll(() => connection.closeSync());

  const find = async (condition: string, params: DuckDBValue[] = []) =>
    (await connection.runAndReadAll(`SELECT _row FROM data WHERE ${condition} ORDER BY _row`, params))
      .getRows()
      .map(([row]) => Number(row));

  test('for any criteria, with bound or literal values', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryCriteria(EVERY_KIND), async (criteria) => {
        const node = parseCriteria(criteria, EVERY_KIND);
        const expected = rows.flatMap((row, i) => (matches(row, criteria, EVERY_KIND) ? [i] : []));
        const params: DuckDBValue[] = [];
        expect(await find(compileCriteria(node, columnOf, boundValues(params)), params)).toEqual(expected);
        const literals = compileCriteria(node, columnOf, literalValues);
        expect(await find(literals)).toEqual(expected);
        expect(await find(`(${literals}) IS NOT NULL`)).toHaveLength(rows.length);
      }),
      { numRuns: 300, seed: 20240229 },
    );
  });

  test('for ten thousand values, which are bound as one parameter', async () => {
    const criteria = { name: { $in: [...Array.from({ length: 9998 }, (_, i) => `v${i}`), 'ab', null] } };
    const params: DuckDBValue[] = [];
    const condition = compileCriteria(parseCriteria(criteria, EVERY_KIND), columnOf, boundValues(params));
    expect(params).toHaveLength(1);
    expect(await find(condition, params)).toEqual(
      rows.flatMap((row, i) => (matches(row, criteria, EVERY_KIND) ? [i] : [])),
    );
  });
});
