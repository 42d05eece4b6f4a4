import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { parseCriteria } from '../../src/core/criteria/parse.ts';
import type { DatasetIndex, Generation, RowSearch } from '../../src/core/dataset-index.ts';
import type { Field } from '../../src/core/fields.ts';
import { matchesWords, parseSearchWords } from '../../src/core/search-words.ts';
import { fieldsOf, loadRows, NEVER, search } from './generation-fixture.ts';

const FIELDS: Field[] = [
  { name: 'n', label: 'n', type: 'integer' },
  { name: 'a', label: 'a', type: 'string' },
  { name: 'b', label: 'b', type: 'string' },
  { name: 'secret', label: 'secret', type: 'string' },
];
const PIECES = [
  'Zoë',
  'zoe',
  'ZOE',
  'Øre',
  'łódź',
  'straße',
  'STRASSE',
  'x_y',
  "d'Or",
  'e\u0301te',
  '東京タワー',
  'が',
  'か',
  '한국',
  'ﬁn',
  'İstanbul',
  'istanbul',
  '42',
  '4２',
  'а́б',
  'ΣΊΣΥΦΟΣ',
  'σίσυφος',
  '-',
  '😀',
  '\u0301',
  'a\u0000b',
  'naïve',
];
const text = fc.option(
  fc
    .array(fc.constantFrom(...PIECES), { maxLength: 4 })
    .chain((words) => fc.constantFrom(' ', ', ', '', '\n').map((separator) => words.join(separator))),
);

/** Tests the search words `q`: each one is the start of a word in some field that the caller may see. */
export function wordsContract(index: () => DatasetIndex): void {
  const rows = fc
    .sample(fc.record({ a: text, b: text, secret: fc.constantFrom('hidden', 'zoe', null) }), { numRuns: 300, seed: 3 })
    .map((row, n) => ({ n, ...row }));
  let generation: Generation;
  beforeAll(async () => {
    generation = await loadRows(index(), FIELDS, rows);
  });
  const searchWords = (q: string, wordFields: string[], more: Partial<RowSearch> = {}) =>
    search(index(), generation, { fields: ['n'], words: parseSearchWords(q), wordFields, total: true, ...more });
  const expectedRows = (q: string, names: ('a' | 'b' | 'secret')[]) =>
    rows
      .filter((row) =>
        matchesWords(
          parseSearchWords(q),
          names.flatMap((name) => row[name] ?? []),
        ),
      )
      .map(({ n }) => n);

  test('finds the rows that core/search-words finds, in every script', async () => {
    const query = fc
      .array(fc.constantFrom(...PIECES, 'z', 'zo', '東', 'str', 'is', '4'), { minLength: 1, maxLength: 2 })
      .map((words) => words.join(' '));
    await fc.assert(
      fc.asyncProperty(query, async (q) => {
        const page = await searchWords(q, ['a', 'b', 'secret']);
        expect(page.rows.map(({ n }) => n)).toEqual(expectedRows(q, ['a', 'b', 'secret']));
        expect(page.total).toBe(page.rows.length);
      }),
      { numRuns: 80 },
    );
  });

  test('a field that is not among the word fields is not searched', async () => {
    expect((await searchWords('hidden', ['a', 'b'])).rows).toEqual([]);
    expect((await searchWords('zoe', ['a'])).rows.map(({ n }) => n)).toEqual(expectedRows('zoe', ['a']));
    expect((await searchWords('hidden', [])).rows).toEqual([]);
    await expect(searchWords('zoe', ['nope'])).rejects.toMatchObject({ status: 400, message: 'Unknown field "nope"' });
  });

  test('combines with criteria, order and cursors', async () => {
    const where = parseCriteria({ n: { $gte: 50 } }, fieldsOf(generation));
    const sort = [{ field: 'n', descending: true }];
    const all = expectedRows('zoe', ['a', 'b'])
      .filter((n) => n >= 50)
      .reverse();
    expect((await searchWords('zoe', ['a', 'b'], { where, sort })).rows.map(({ n }) => n)).toEqual(all);
    for (const request of [{ where }, { visible: where }, { visible: where, where }])
      expect(await searchWords('zoe', ['a', 'b'], request)).toMatchObject({
        total: all.length,
        rows: all.toReversed().map((n) => ({ n })),
      });
    for (const more of [{ where, sort }, { where }, {}, { visible: where }, { visible: where, where, sort }]) {
      const whole = (await searchWords('zoe', ['a', 'b'], more)).rows.map(({ n }) => n);
      const first = await search(index(), generation, {
        fields: ['n'],
        words: ['zoe'],
        wordFields: ['a', 'b'],
        limit: 5,
        ...more,
      });
      const second = await search(index(), generation, {
        fields: ['n'],
        words: ['zoe'],
        wordFields: ['a', 'b'],
        limit: 5,
        after: first.next!,
        ...more,
      });
      expect([...first.rows, ...second.rows].map(({ n }) => n)).toEqual(whole.slice(0, 10));
    }
  });

  test('preparing the words changes no result, and may run twice concurrently', async () => {
    const fresh = await loadRows(index(), FIELDS, rows);
    await Promise.all([
      index().prepareWords(fresh, NEVER),
      index().prepareWords(fresh, NEVER),
      search(index(), fresh, { words: ['zoe'] }),
    ]);
    await index().prepareWords(fresh, NEVER);
    expect((await search(index(), fresh, { words: ['zoe'], fields: ['n'] })).rows.map(({ n }) => n)).toEqual(
      expectedRows('zoe', ['a', 'b', 'secret']),
    );
  });
}
