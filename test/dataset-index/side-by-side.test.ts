import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDuckdbIndex } from '../../src/adapters/dataset-index/duckdb/duckdb-index.ts';
import { openElasticsearchIndex } from '../../src/adapters/dataset-index/elasticsearch/elasticsearch-index.ts';
import { parseCriteria } from '../../src/core/criteria/parse.ts';
import type { Aggregation, DatasetIndex, Generation, Row, RowSearch } from '../../src/core/dataset-index.ts';
import type { Field } from '../../src/core/fields.ts';
import { parseSearchWords } from '../../src/core/search-words.ts';
import { arbitraryRegex } from '../core/criteria/arbitrary-regex.ts';
import { arbitraryCriteria, arbitraryRow, EVERY_KIND } from '../core/criteria/arbitrary.ts';
import { matches } from '../core/criteria/evaluate.ts';
import { elasticsearch, HAS_ELASTICSEARCH } from '../support/engines.ts';
import { aggregate, collect, everything, fieldsOf, loadRows, NEVER, search } from './made.ts';

const field = (name: string, type: Field['type']): Field => ({ name, label: name, type });

/** Fields whose values are seldom equal, beside those of small pools. */
const FIELDS: Field[] = [
  ...EVERY_KIND,
  field('n', 'integer'),
  field('x', 'number'),
  field('far', 'number'),
  field('big', 'integer'),
  field('moment', 'datetime'),
  field('date', 'date'),
  field('letters', 'string'),
  field('many', 'string'),
];
const SUMMED = ['n', 'x', 'far', 'big', 'count', 'price'];
const SORTABLE = FIELDS.filter(({ type }) => type !== 'json').map(({ name }) => name);
const GROUPABLE = SORTABLE.filter((name) => name !== 'n');

const moment = fc
  .date({ min: new Date('1700-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((at) => at.toISOString());
// Around the ends of summer time, where clocks show an hour twice or never.
const change = fc
  .tuple(
    fc.constantFrom(
      '2024-03-31T01:00:00Z',
      '2024-10-27T01:00:00Z',
      '2024-11-03T06:00:00Z',
      '2024-04-06T15:00:00Z',
      '2024-10-05T15:30:00Z',
    ),
    fc.integer({ min: -9e6, max: 9e6 }),
  )
  .map(([at, by]) => new Date(Date.parse(at) + by).toISOString());
const own = fc.record({
  x: fc.option(fc.integer({ min: -1e6, max: 1e6 }).map((n) => n / 1000)),
  far: fc.option(fc.integer({ min: 0, max: 9999 }).map((n) => 1e6 + n / 100)),
  big: fc.option(fc.maxSafeInteger()),
  moment: fc.option(fc.oneof(moment, change)),
  date: fc.option(moment.map((at) => at.slice(0, 10))),
  letters: fc.option(
    fc.array(fc.constantFrom('a', 'b', 'A', '\n', '😀', '.', ' '), { maxLength: 5 }).map((all) => all.join('')),
  ),
  many: fc.option(fc.string({ unit: 'grapheme', maxLength: 6 })),
});
const ROWS: Row[] = fc
  .sample(fc.tuple(arbitraryRow(EVERY_KIND), own), { numRuns: 500, seed: 5 })
  .map(([kinds, more], n) => ({ ...kinds, ...more, n }));

const criteria = fc.oneof(
  arbitraryCriteria(EVERY_KIND),
  fc.constant({}),
  fc.record({ letters: fc.record({ $regex: arbitraryRegex, $options: fc.constantFrom('', 'i') }) }),
  fc.integer({ min: -1000, max: 1000 }).map((x) => ({ x: { $gte: x } })),
);
const sort = fc.array(fc.record({ field: fc.constantFrom(...SORTABLE), descending: fc.boolean() }), { maxLength: 3 });
const q = fc.constantFrom('', '', '', 'a', 'k', '7', 'it s', 'x', 'é');

/** `wanted` with the numbers of `got` where these differ in the last digits alone. */
function alike(wanted: unknown, got: unknown): unknown {
  if (typeof wanted === 'number' && typeof got === 'number')
    return Math.abs(wanted - got) <= 1e-9 * Math.max(Math.abs(wanted), Math.abs(got)) ? got : wanted;
  if (Array.isArray(wanted) && Array.isArray(got)) return wanted.map((one: unknown, i) => alike(one, got[i]));
  if (typeof wanted !== 'object' || wanted === null || typeof got !== 'object' || got === null) return wanted;
  return Object.fromEntries(
    Object.entries(wanted).map(([key, one]) => [key, alike(one, (got as Record<string, unknown>)[key])]),
  );
}

describe.skipIf(!HAS_ELASTICSEARCH)('the same question gives the same answer on DuckDB and Elasticsearch', () => {
  let dir: string;
  let indexes: DatasetIndex[] = [];
  let generations: Generation[] = [];
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'dws-side-by-side-'));
    const { url } = await elasticsearch();
    indexes = [
      openDuckdbIndex({ dir: join(dir, 'duckdb') }),
      openElasticsearchIndex({ url, prefix: `dws-${randomBytes(6).toString('hex')}-`, scratch: join(dir, 'scratch') }),
    ];
    generations = await Promise.all(indexes.map((index) => loadRows(index, FIELDS, ROWS)));
  }, 180_000);
  afterAll(async () => {
    await Promise.all(
      indexes.map(async (index, i) => {
        if (generations[i]) await index.drop(generations[i].id);
        await index.close();
      }),
    );
    await rm(dir, { recursive: true, force: true });
  });

  /** Asks both. Of computed numbers the last digits may differ. */
  async function both<T>(
    ask: (index: DatasetIndex, generation: Generation) => Promise<T>,
  ): Promise<{ duckdb: T; elasticsearch: T }> {
    const [said, got] = await Promise.allSettled(indexes.map((index, i) => ask(index, generations[i]!)));
    // The engine refuses queries that are too expensive. Then there is nothing to compare.
    fc.pre(
      !(got!.status === 'rejected' && (got!.reason as Error).message === '$regex is too complex for the dataset index'),
    );
    return { duckdb: alike(valueOf(said!), valueOf(got!)) as T, elasticsearch: valueOf(got!) };
  }
  const valueOf = <T>(outcome: PromiseSettledResult<T>): T => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  };
  const where = (said: unknown) => ({ where: parseCriteria(said, fieldsOf(generations[0]!)) });

  test('rows, totals and pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        criteria,
        q,
        sort,
        fc.integer({ min: 20, max: 400 }),
        fc.integer({ min: 0, max: 30 }),
        async (said, words, order, limit, start) => {
          const asked: Partial<RowSearch> = { ...where(said), words: parseSearchWords(words), sort: order, limit };
          const answers = await both(async (index, generation) => {
            const first = await search(index, generation, { ...asked, start, total: true });
            const second = first.next ? await search(index, generation, { ...asked, after: first.next }) : null;
            return [first.rows, first.total, second?.rows, second && second.next !== null];
          });
          expect(answers.elasticsearch).toEqual(answers.duckdb);
        },
      ),
      { numRuns: 80 },
    );
  }, 120_000);

  test('any regular expression, anchors anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryRegex, fc.constantFrom('', 'i'), async ($regex, $options) => {
        const answers = await both(
          async (index, generation) =>
            (await search(index, generation, { ...where({ letters: { $regex, $options } }), fields: ['letters', 'n'] }))
              .rows,
        );
        expect(answers.elasticsearch).toEqual(answers.duckdb);
      }),
      { numRuns: 150 },
    );
  }, 120_000);

  test('every ASCII character in a regular expression', async () => {
    const characters = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i));
    const written = (character: string) => (/[A-Za-z0-9 ]/.test(character) ? character : `\\${character}`);
    for (const [i, index] of indexes.entries()) {
      const made = await loadRows(
        index,
        [field('c', 'string')],
        characters.map((c) => ({ c })),
      );
      for (const $regex of [
        ...characters.map((character) => `^${written(character)}$`),
        `^[${characters.map(written).join('')}]$`,
        ...characters.map((character) => `[^${written(character)}]`),
      ]) {
        const { rows } = await search(index, made, { where: parseCriteria({ c: { $regex } }, fieldsOf(made)) });
        expect({ i, $regex, found: rows.map(({ c }) => c) }).toEqual({
          i,
          $regex,
          found: characters.filter((c) => matches({ c }, { c: { $regex } }, [field('c', 'string')])),
        });
      }
      await index.drop(made.id);
    }
  });

  test('a whole export', async () => {
    for (const order of [
      [],
      [
        { field: 'many', descending: true },
        { field: 'moment', descending: false },
      ],
    ]) {
      const answers = await both(async (index, generation) =>
        (
          await collect(
            index.scan({ ...everything(generation), fields: FIELDS.map(({ name }) => name), sort: order }, NEVER),
          )
        ).flat(),
      );
      expect(answers.elasticsearch).toEqual(answers.duckdb);
    }
  });

  const interval = fc.constantFrom('minute', 'hour', 'day', 'week', 'month', 'quarter', 'year');
  const timezone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'asia/kathmandu');
  const group = fc.oneof(
    fc.constantFrom(...GROUPABLE).map((name) => ({ field: name })),
    fc.record({
      field: fc.constantFrom('moment', 'at', 'day', 'date'),
      interval,
      timezone: fc.option(timezone, { nil: undefined }),
    }),
  );
  const measure = fc.oneof(
    fc.record({ fn: fc.constantFrom('count', 'countDistinct'), field: fc.constantFrom(...SORTABLE) }),
    fc.record({
      fn: fc.constantFrom('min', 'max'),
      field: fc.constantFrom(...SORTABLE.filter((name) => name !== 'Größe "x"')),
    }),
    fc.record({ fn: fc.constantFrom('sum', 'avg'), field: fc.constantFrom(...SUMMED) }),
  );
  const question = fc.record({
    groups: fc.uniqueArray(group, { maxLength: 3, selector: (one) => one.field }),
    asked: fc.array(measure, { maxLength: 4 }),
    said: criteria,
    limit: fc.constantFrom(3, 50, 10_000),
    order: fc.array(fc.record({ at: fc.nat(), descending: fc.boolean() }), { maxLength: 2 }),
  });

  test('groups and measures', async () => {
    await fc.assert(
      fc.asyncProperty(question, async ({ groups, asked, said, order, limit }) => {
        const measures = [
          { fn: 'count', as: '#' },
          ...asked.map((one, i) => ({ ...one, as: `#${i}` })),
        ] as Aggregation['measures'];
        // Computed numbers are not sorted by: their last digits decide.
        const columns = [
          ...groups.map((one) => one.field),
          ...measures.filter(({ fn }) => fn !== 'avg' && fn !== 'sum').map(({ as }) => as),
        ];
        const sorting = order.map(({ at, descending }) => ({ column: columns[at % columns.length]!, descending }));
        const answers = await both((index, generation) =>
          aggregate(index, generation, {
            ...where(said),
            groupBy: groups as Aggregation['groupBy'],
            measures,
            sort: sorting,
            limit,
          }),
        );
        expect(answers.elasticsearch).toEqual(answers.duckdb);
      }),
      { numRuns: 120 },
    );
  }, 180_000);

  test('profiles of every field', async () => {
    await fc.assert(
      fc.asyncProperty(criteria, async (said) => {
        const answers = await both(async (index, generation) => {
          const { total, fields } = await index.profile(
            { ...everything(generation), ...where(said) },
            FIELDS.map(({ name }) => name),
            NEVER,
          );
          // A mean of numbers that cancel out is as exact as these are large.
          return {
            total,
            fields: fields.map((one) => ({
              ...one,
              avg: one.avg && one.avg + 2 * Math.max(Math.abs(Number(one.min)), Math.abs(Number(one.max))),
            })),
          };
        });
        expect(answers.elasticsearch).toEqual(answers.duckdb);
      }),
      { numRuns: 8 },
    );
  }, 120_000);

  test('criteria as deep and as long as they may be', async () => {
    /** The deepest that is let through. */
    const chain = (of: (inner: object, depth: number) => object, leaf: object = { n: { $gt: 250 } }): object => {
      for (let said = leaf, depth = 1; ; depth++) {
        const deeper = of(said, depth);
        try {
          where(deeper);
        } catch {
          expect(depth).toBeGreaterThan(8);
          return said;
        }
        said = deeper;
      }
    };
    const twins = (depth: number, leaf: { left: number }): object => {
      if (depth === 0) return { n: { [leaf.left % 2 ? '$gt' : '$ne']: (leaf.left-- * 7) % 500 } };
      return { [depth % 2 ? '$and' : '$or']: [twins(depth - 1, leaf), twins(depth - 1, leaf)] };
    };
    const deep = [
      chain((inner, depth) => ({
        [depth % 2 ? '$and' : '$or']: [inner, { n: { [depth % 2 ? '$ne' : '$eq']: depth } }],
      })),
      chain((inner, depth) => ({
        [depth % 2 ? '$or' : '$and']: [inner, { name: { $ne: null } }, { x: { $gt: depth } }],
      })),
      chain((inner, depth) => ({ $not: { [depth % 2 ? '$or' : '$and']: [inner, { x: { $lt: depth } }] } })),
      chain((inner, depth) => ({
        $and: [{ $or: [inner, { n: depth }] }, { $or: [{ far: null }, { x: { $gt: depth } }] }],
      })),
      // Two of the same depth at each of eight levels, and single ones below.
      chain((inner) => ({ $or: [{ $and: [inner, { n: { $ne: 3 } }] }, { x: { $gt: 500 } }] }), twins(8, { left: 256 })),
      twins(9, { left: 512 }),
      { $or: Array.from({ length: 499 }, (_, n) => ({ n: { $gt: n, $lt: n + 2 } })) },
      { $and: Array.from({ length: 999 }, (_, i) => ({ x: { $not: { $gt: 1000 - i / 10 } } })) },
    ];
    for (const said of deep) {
      const answers = await both(
        async (index, generation) => (await search(index, generation, { ...where(said), fields: ['n'] })).rows,
      );
      expect(answers.elasticsearch).toEqual(answers.duckdb);
    }
  });

  test('ten thousand values', async () => {
    const values = (name: string, value: (i: number) => unknown) => ({
      [name]: {
        $in: [...ROWS.slice(0, 100).map((row) => row[name]), ...Array.from({ length: 9900 }, (_, i) => value(i))],
      },
    });
    const day = (i: number) => new Date(i * 3 * 86_400_000).toISOString();
    for (const said of [
      values('n', (i) => i * 2),
      values('x', (i) => i / 7),
      values('many', (i) => `v${i}`),
      values('moment', day),
      values('date', (i) => day(i).slice(0, 10)),
      values('COUNT', String),
    ]) {
      const answers = await both(
        async (index, generation) => (await search(index, generation, { ...where(said), fields: ['n'] })).rows,
      );
      expect(answers.elasticsearch).toEqual(answers.duckdb);
      expect(answers.duckdb.length).toBeGreaterThan(20);
    }
  });

  test('a forged cursor tells nothing of a row that its search does not find', async () => {
    for (const [i, index] of indexes.entries()) {
      const { id } = generations[i]!;
      const after = (row: number) => Buffer.from(JSON.stringify([id, row])).toString('base64url');
      for (const order of [[], [{ field: 'many', descending: false }]]) {
        const asked = { ...where({ n: { $lt: 10 } }), sort: order, fields: ['n'] };
        await expect(search(index, generations[i]!, { ...asked, after: after(20) })).rejects.toMatchObject({
          status: 400,
          message: 'The cursor in `after` is not valid',
        });
        expect((await search(index, generations[i]!, { ...asked, after: after(3) })).rows.length).toBeLessThan(10);
      }
    }
  });

  test('Elasticsearch refuses a regular expression that would exhaust its memory, and stays', async () => {
    const exploding = { letters: { $regex: '[ab].{30}a' } };
    await expect(search(indexes[1]!, generations[1]!, where(exploding))).rejects.toMatchObject({
      status: 400,
      message: '$regex is too complex for the dataset index',
    });
    const many = { $and: Array.from({ length: 900 }, (_, i) => ({ letters: { $not: { $regex: `[ab].{8}${i}` } } })) };
    await expect(search(indexes[1]!, generations[1]!, where(many))).rejects.toMatchObject({ status: 400 });
    await indexes[1]!.ping();
  });
});
