import { expect, test } from 'vitest';
import type { DatasetIndex } from '../../src/core/dataset-index.ts';
import type { Column, Field } from '../../src/core/fields.ts';
import { newId } from '../../src/core/id.ts';
import type { Segment } from '../../src/core/row-source.ts';
import { createColumn, createLoadPlan, loadTexts, search } from './generation-fixture.ts';

const field = (name: string, type: Field['type']): Field => ({ name, label: name, type });
const PEOPLE: Column[] = [createColumn('name', 'string'), createColumn('age', 'integer'), createColumn('born', 'date')];
const ROWS = [
  ['Ann', '30', '1994-05-06'],
  ['Bob', null, '1980-01-01'],
  ['Cid', '7', null],
];

/** Tests the fields and rows of a load, and that a failed load leaves nothing. */
export function loadingContract(index: () => DatasetIndex): void {
  const loadAndRead = async (...args: Parameters<typeof loadTexts>) =>
    (await search(index(), await loadTexts(...args))).rows;
  const load = (more: Parameters<typeof loadTexts>[3]) => loadTexts(index(), PEOPLE, ROWS, more);

  test('syncFields=false: exactly the known fields, in their order; a vanished field has no values', async () => {
    const generation = await load({ keepFields: [field('absent', 'datetime'), field('age', 'integer')] });
    expect(generation.fields.map(({ name, type, vanished }) => [name, type, vanished])).toEqual([
      ['absent', 'datetime', true],
      ['age', 'integer', undefined],
    ]);
    expect((await search(index(), generation)).rows).toEqual([
      { absent: null, age: 30 },
      { absent: null, age: null },
      { absent: null, age: 7 },
    ]);
  });

  test.each<[Column, (string | null)[], Field['type'], unknown[]]>([
    [createColumn('x', 'string'), ['7', '-12', null], 'integer', [7, -12, null]],
    [createColumn('x', 'string'), ['0.10', '9', null], 'number', [0.1, 9, null]],
    [createColumn('x', 'string'), ['true', 'false'], 'boolean', [true, false]],
    [createColumn('x', 'string'), ['2024-02-29'], 'date', ['2024-02-29']],
    [
      createColumn('x', 'string'),
      ['2024-02-29T10:00:00+02:00', '2024-02-29 10:00'],
      'datetime',
      ['2024-02-29T08:00:00.000Z', '2024-02-29T10:00:00.000Z'],
    ],
    [createColumn('x', 'string'), ['{"a":[1]}'], 'json', [{ a: [1] }]],
    [createColumn('x', 'integer'), ['7', null], 'string', ['7', null]],
    [createColumn('x', 'integer'), ['7'], 'number', [7]],
    [createColumn('x', 'number'), ['7', '1e3'], 'integer', [7, 1000]],
    [createColumn('x', 'number'), ['0.5', '2'], 'string', ['0.5', '2']],
    [createColumn('x', 'datetime'), ['2024-02-29 00:00:00'], 'date', ['2024-02-29']],
    [createColumn('x', 'datetime'), ['2024-02-29 00:00:00'], 'string', ['2024-02-29T00:00:00.000Z']],
    [createColumn('x', 'date'), ['2024-02-29'], 'datetime', ['2024-02-29T00:00:00.000Z']],
    [createColumn('x', 'string'), ['a'], 'text', ['a']],
  ])('updateTypeMapping=false: %j with %j fits a field that is a %s', async (from, texts, type, values) => {
    const generation = await loadTexts(
      index(),
      [from],
      texts.map((text) => [text]),
      { keepTypes: [field('x', type)] },
    );
    expect(generation.fields[0]).toMatchObject({ name: 'x', type });
    expect((await search(index(), generation)).rows.map(({ x }) => x)).toEqual(values);
  });

  test.each<[Column, (string | null)[], Field['type'], string]>([
    [createColumn('x', 'string'), ['7', 'seven'], 'integer', 'seven'],
    [createColumn('x', 'string'), ['007'], 'integer', '007'],
    [createColumn('x', 'string'), ['1.5'], 'integer', '1.5'],
    [createColumn('x', 'string'), ['12a'], 'number', '12a'],
    [createColumn('x', 'string'), ['yes'], 'boolean', 'yes'],
    [createColumn('x', 'string'), ['2024-02-30'], 'date', '2024-02-30'],
    [createColumn('x', 'string'), ['noon'], 'datetime', 'noon'],
    [createColumn('x', 'string'), ['{'], 'json', '{'],
    [createColumn('x', 'number'), ['1', '1.5'], 'integer', '1.5'],
    [createColumn('x', 'datetime'), ['2024-02-29 00:00:01'], 'date', '2024-02-29 00:00:01'],
    [createColumn('x', 'boolean'), ['true'], 'integer', 'true'],
  ])('updateTypeMapping=false: %j with %j does not fit a field that is a %s', async (from, texts, type, value) => {
    await expect(
      loadTexts(
        index(),
        [from],
        texts.map((text) => [text]),
        { keepTypes: [field('x', type)] },
      ),
    ).rejects.toMatchObject({
      status: 500,
      code: 'UPSTREAM_FAILED',
      message: `search-index mapping conflict: field "x" cannot hold "${value}"`,
    });
  });

  test('a flow filters, calculates, renames, removes, sorts and limits before rows are stored', async () => {
    const generation = await load({
      flow: [
        { type: 'filter', criteria: { age: { $ne: null } } },
        { type: 'calculate', field: 'next', expression: 'age + 1' },
        { type: 'rename', field: 'name', to: 'who' },
        { type: 'remove', fields: ['born'] },
        { type: 'sort', field: 'next', order: 'asc' },
        { type: 'limit', n: 5 },
      ],
    });
    expect(generation).toMatchObject({ records: 2, warnings: [] });
    expect((await search(index(), generation)).rows).toEqual([
      { who: 'Cid', age: 7, next: 8 },
      { who: 'Ann', age: 30, next: 31 },
    ]);
    const keptTypes = await load({
      flow: [{ type: 'calculate', field: 'next', expression: 'age + 1' }],
      keepFields: [field('next', 'number'), field('absent', 'string')],
      keepTypes: [field('next', 'integer')],
    });
    expect(keptTypes.fields.map(({ name, type }) => [name, type])).toEqual([
      ['next', 'integer'],
      ['absent', 'string'],
    ]);
    expect((await search(index(), keptTypes)).rows).toEqual([
      { next: 31, absent: null },
      { next: null, absent: null },
      { next: 8, absent: null },
    ]);
    expect(
      await loadAndRead(
        index(),
        [createColumn('x', 'number', { kind: 'decimal' })],
        [['12345678901234567890.5'], ['1']],
        {
          flow: [{ type: 'filter', criteria: { x: { $gt: 5 } } }],
        },
      ),
    ).toEqual([{ x: '12345678901234567890.5' }]);
  });

  test('a load without rows succeeds', async () => {
    const generation = await loadTexts(index(), PEOPLE, []);
    expect(generation).toMatchObject({
      records: 0,
      fields: [
        { name: 'name', type: 'string' },
        { name: 'age', type: 'integer' },
        { name: 'born', type: 'date' },
      ],
    });
    expect(await search(index(), generation, { total: true, words: ['x'] })).toEqual({
      rows: [],
      total: 0,
      next: null,
    });
  });

  test('a value of another type than its column is named with its column and line', async () => {
    const expectRefused = (columns: Column[], rows: (string | null)[][], error: object) =>
      expect(loadTexts(index(), columns, rows)).rejects.toMatchObject(error);
    await expectRefused([createColumn('n', 'integer')], [['1'], ['abc']], {
      status: 500,
      code: 'UPSTREAM_FAILED',
      message: 'Column "n", line 2: "abc" is not of type BIGINT',
    });
    await expectRefused([createColumn('n', 'integer'), createColumn('d', 'date')], [['1', '2024-02-30']], {
      message: 'Column "d", line 1: "2024-02-30" is not of type DATE',
    });
    await expectRefused([createColumn('t', 'datetime')], [['soon']], {
      message: 'Column "t", line 1: "soon" is not of type TIMESTAMP',
    });
    await expectRefused(
      [createColumn('p', 'number', { kind: 'decimal', precision: 4, scale: 1 })],
      [['NaN'], ['12345.1']],
      {
        message: 'Column "p", line 2: "12345.1" is not of type DECIMAL(4,1)',
      },
    );
    await expectRefused([createColumn('j', 'json')], [['{}'], ['{a}']], {
      message: 'Column "j", line 2: "{a}" is not of type JSON',
    });
    await expectRefused([createColumn('n', 'integer')], [['1', '2']], { status: 500, code: 'UPSTREAM_FAILED' });
  });

  test('more rows than allowed fail the load', async () => {
    await expect(load({ maxRows: 2 })).rejects.toMatchObject({
      status: 413,
      code: 'PAYLOAD_TOO_LARGE',
      message: 'The query returns more than the 2 rows that are allowed',
    });
    expect(await load({ maxRows: 3 })).toMatchObject({ records: 3 });
  });

  test('progress ends with the number of rows', async () => {
    const seen: number[] = [];
    await load({ progress: (rows) => seen.push(rows) });
    expect(seen.at(-1)).toBe(3);
  });

  test('a load that aborts or fails leaves nothing and rejects with the reason', async () => {
    const before = await index().generations();
    const stop = new AbortController();
    // A source that never responds again.
    async function* hanging(): AsyncGenerator<Segment> {
      stop.abort(new Error('cancelled by Ann'));
      await new Promise(() => {});
      yield* [];
    }
    await expect(index().load(newId(), PEOPLE, hanging(), createLoadPlan({ signal: stop.signal }))).rejects.toThrow(
      'cancelled by Ann',
    );
    const broken = (): AsyncIterable<Segment> => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('connection lost')) }),
    });
    await expect(index().load(newId(), PEOPLE, broken(), createLoadPlan())).rejects.toThrow('connection lost');
    await expect(load({ maxRows: 1 })).rejects.toThrow('more than the 1 rows');
    expect(await index().generations()).toEqual(before);
  });
}
