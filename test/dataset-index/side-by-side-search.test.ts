import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseCriteria } from '../../src/core/criteria/parse.ts';
import type { RowSearch } from '../../src/core/dataset-index.ts';
import { parseSearchWords } from '../../src/core/search-words.ts';
import { arbitraryRegex } from '../core/criteria/arbitrary-regex.ts';
import { matches } from '../core/criteria/evaluate.ts';
import { HAS_ELASTICSEARCH } from '../support/engines.ts';
import { collect, fieldsOf, loadRows, NEVER, search, selectAllRows } from './generation-fixture.ts';
import { anyCriteria, field, FIELDS, ROWS, SORTABLE, useBothIndexes } from './side-by-side-fixture.ts';

const sort = fc.array(fc.record({ field: fc.constantFrom(...SORTABLE), descending: fc.boolean() }), { maxLength: 3 });
const q = fc.constantFrom('', '', '', 'a', 'k', '7', 'it s', 'x', 'é');

describe.skipIf(!HAS_ELASTICSEARCH)('a search has equal results on DuckDB and Elasticsearch', () => {
  const { indexes, generations, queryBoth, where } = useBothIndexes();

  test('rows, totals and pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyCriteria,
        q,
        sort,
        fc.integer({ min: 20, max: 400 }),
        fc.integer({ min: 0, max: 30 }),
        async (criteria, words, order, limit, start) => {
          const request: Partial<RowSearch> = {
            ...where(criteria),
            words: parseSearchWords(words),
            sort: order,
            limit,
          };
          const results = await queryBoth(async (index, generation) => {
            const first = await search(index, generation, { ...request, start, total: true });
            const second = first.next ? await search(index, generation, { ...request, after: first.next }) : null;
            return [first.rows, first.total, second?.rows, second && second.next !== null];
          });
          expect(results.elasticsearch).toEqual(results.duckdb);
        },
      ),
      { numRuns: 80 },
    );
  });

  test('any regular expression, with anchors at any position', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryRegex, fc.constantFrom('', 'i'), async ($regex, $options) => {
        const results = await queryBoth(
          async (index, generation) =>
            (await search(index, generation, { ...where({ letters: { $regex, $options } }), fields: ['letters', 'n'] }))
              .rows,
        );
        expect(results.elasticsearch).toEqual(results.duckdb);
      }),
      { numRuns: 150 },
    );
  });

  test('every ASCII character in a regular expression', async () => {
    const characters = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i));
    const escape = (character: string) => (/[A-Za-z0-9 ]/.test(character) ? character : `\\${character}`);
    for (const [i, index] of indexes.entries()) {
      const generation = await loadRows(
        index,
        [field('c', 'string')],
        characters.map((c) => ({ c })),
      );
      for (const $regex of [
        ...characters.map((character) => `^${escape(character)}$`),
        `^[${characters.map(escape).join('')}]$`,
        ...characters.map((character) => `[^${escape(character)}]`),
      ]) {
        const { rows } = await search(index, generation, {
          where: parseCriteria({ c: { $regex } }, fieldsOf(generation)),
        });
        expect({ i, $regex, found: rows.map(({ c }) => c) }).toEqual({
          i,
          $regex,
          found: characters.filter((c) => matches({ c }, { c: { $regex } }, [field('c', 'string')])),
        });
      }
      await index.drop(generation.id);
    }
  });

  test('a complete scan', async () => {
    for (const order of [
      [],
      [
        { field: 'many', descending: true },
        { field: 'moment', descending: false },
      ],
    ]) {
      const results = await queryBoth(async (index, generation) =>
        (
          await collect(
            index.scan({ ...selectAllRows(generation), fields: FIELDS.map(({ name }) => name), sort: order }, NEVER),
          )
        ).flat(),
      );
      expect(results.elasticsearch).toEqual(results.duckdb);
    }
  });

  test('criteria of the maximum depth and length', async () => {
    /** Nests criteria as deeply as the parser allows. */
    const nestDeeply = (wrap: (inner: object, depth: number) => object, leaf: object = { n: { $gt: 250 } }): object => {
      for (let criteria = leaf, depth = 1; ; depth++) {
        const deeper = wrap(criteria, depth);
        try {
          where(deeper);
        } catch {
          expect(depth).toBeGreaterThan(8);
          return criteria;
        }
        criteria = deeper;
      }
    };
    const balancedTree = (depth: number, leaf: { left: number }): object => {
      if (depth === 0) return { n: { [leaf.left % 2 ? '$gt' : '$ne']: (leaf.left-- * 7) % 500 } };
      return { [depth % 2 ? '$and' : '$or']: [balancedTree(depth - 1, leaf), balancedTree(depth - 1, leaf)] };
    };
    const deepCriteria = [
      nestDeeply((inner, depth) => ({
        [depth % 2 ? '$and' : '$or']: [inner, { n: { [depth % 2 ? '$ne' : '$eq']: depth } }],
      })),
      nestDeeply((inner, depth) => ({
        [depth % 2 ? '$or' : '$and']: [inner, { name: { $ne: null } }, { x: { $gt: depth } }],
      })),
      nestDeeply((inner, depth) => ({ $not: { [depth % 2 ? '$or' : '$and']: [inner, { x: { $lt: depth } }] } })),
      nestDeeply((inner, depth) => ({
        $and: [{ $or: [inner, { n: depth }] }, { $or: [{ far: null }, { x: { $gt: depth } }] }],
      })),
      // Eight levels of two branches each, and single branches below.
      nestDeeply(
        (inner) => ({ $or: [{ $and: [inner, { n: { $ne: 3 } }] }, { x: { $gt: 500 } }] }),
        balancedTree(8, { left: 256 }),
      ),
      balancedTree(9, { left: 512 }),
      { $or: Array.from({ length: 499 }, (_, n) => ({ n: { $gt: n, $lt: n + 2 } })) },
      { $and: Array.from({ length: 999 }, (_, i) => ({ x: { $not: { $gt: 1000 - i / 10 } } })) },
    ];
    for (const criteria of deepCriteria) {
      const results = await queryBoth(
        async (index, generation) => (await search(index, generation, { ...where(criteria), fields: ['n'] })).rows,
      );
      expect(results.elasticsearch).toEqual(results.duckdb);
    }
  });

  test('ten thousand values', async () => {
    const values = (name: string, value: (i: number) => unknown) => ({
      [name]: {
        $in: [...ROWS.slice(0, 100).map((row) => row[name]), ...Array.from({ length: 9900 }, (_, i) => value(i))],
      },
    });
    const day = (i: number) => new Date(i * 3 * 86_400_000).toISOString();
    for (const criteria of [
      values('n', (i) => i * 2),
      values('x', (i) => i / 7),
      values('many', (i) => `v${i}`),
      values('moment', day),
      values('date', (i) => day(i).slice(0, 10)),
      values('COUNT', String),
    ]) {
      const results = await queryBoth(
        async (index, generation) => (await search(index, generation, { ...where(criteria), fields: ['n'] })).rows,
      );
      expect(results.elasticsearch).toEqual(results.duckdb);
      expect(results.duckdb.length).toBeGreaterThan(20);
    }
  });

  test('a forged cursor reveals nothing about a row that its search does not find', async () => {
    for (const [i, index] of indexes.entries()) {
      const { id } = generations[i]!;
      const forgeCursor = (row: number) => Buffer.from(JSON.stringify([id, row])).toString('base64url');
      for (const order of [[], [{ field: 'many', descending: false }]]) {
        const request = { ...where({ n: { $lt: 10 } }), sort: order, fields: ['n'] };
        await expect(search(index, generations[i]!, { ...request, after: forgeCursor(20) })).rejects.toMatchObject({
          status: 400,
          message: 'The cursor in `after` is not valid',
        });
        expect((await search(index, generations[i]!, { ...request, after: forgeCursor(3) })).rows.length).toBeLessThan(
          10,
        );
      }
    }
  });

  test('Elasticsearch refuses a regular expression that would exhaust its memory, and keeps running', async () => {
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
