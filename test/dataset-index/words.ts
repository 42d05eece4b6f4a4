import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { parseCriteria } from '../../src/core/criteria/parse.ts';
import type { DatasetIndex, Generation, RowSearch } from '../../src/core/dataset-index.ts';
import type { Field } from '../../src/core/fields.ts';
import { matchesWords, parseSearchWords } from '../../src/core/search-words.ts';
import { fieldsOf, loadRows, NEVER, search } from './made.ts';

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

/** `q`: every word begins a word of some field that the caller sees. */
export function wordsContract(index: () => DatasetIndex): void {
  const rows = fc
    .sample(fc.record({ a: text, b: text, secret: fc.constantFrom('hidden', 'zoe', null) }), { numRuns: 300, seed: 3 })
    .map((row, n) => ({ n, ...row }));
  let generation: Generation;
  beforeAll(async () => {
    generation = await loadRows(index(), FIELDS, rows);
  });
  const found = (q: string, wordFields: string[], more: Partial<RowSearch> = {}) =>
    search(index(), generation, { fields: ['n'], words: parseSearchWords(q), wordFields, total: true, ...more });
  const wanted = (q: string, names: ('a' | 'b' | 'secret')[]) =>
    rows
      .filter((row) =>
        matchesWords(
          parseSearchWords(q),
          names.flatMap((name) => row[name] ?? []),
        ),
      )
      .map(({ n }) => n);

  test('finds what core/words finds, in every script', async () => {
    const query = fc
      .array(fc.constantFrom(...PIECES, 'z', 'zo', '東', 'str', 'is', '4'), { minLength: 1, maxLength: 2 })
      .map((words) => words.join(' '));
    await fc.assert(
      fc.asyncProperty(query, async (q) => {
        const page = await found(q, ['a', 'b', 'secret']);
        expect(page.rows.map(({ n }) => n)).toEqual(wanted(q, ['a', 'b', 'secret']));
        expect(page.total).toBe(page.rows.length);
      }),
      { numRuns: 80 },
    );
  });

  test('a field that is not among the word fields is not looked at', async () => {
    expect((await found('hidden', ['a', 'b'])).rows).toEqual([]);
    expect((await found('zoe', ['a'])).rows.map(({ n }) => n)).toEqual(wanted('zoe', ['a']));
    expect((await found('hidden', [])).rows).toEqual([]);
    await expect(found('zoe', ['nope'])).rejects.toMatchObject({ status: 400, message: 'Unknown field "nope"' });
  });

  test('goes together with criteria, order and cursors', async () => {
    const where = parseCriteria({ n: { $gte: 50 } }, fieldsOf(generation));
    const sort = [{ field: 'n', descending: true }];
    const all = wanted('zoe', ['a', 'b'])
      .filter((n) => n >= 50)
      .reverse();
    expect((await found('zoe', ['a', 'b'], { where, sort })).rows.map(({ n }) => n)).toEqual(all);
    for (const partial of [true, false])
      expect(await found('zoe', ['a', 'b'], { where, partial })).toMatchObject({
        total: all.length,
        rows: all.toReversed().map((n) => ({ n })),
      });
    for (const more of [{ where, sort }, { where }, {}]) {
      const whole = (await found('zoe', ['a', 'b'], more)).rows.map(({ n }) => n);
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

  test('preparing the words changes nothing but the time of the first question, and may happen twice at once', async () => {
    const fresh = await loadRows(index(), FIELDS, rows);
    await Promise.all([
      index().prepareWords(fresh, NEVER),
      index().prepareWords(fresh, NEVER),
      search(index(), fresh, { words: ['zoe'] }),
    ]);
    await index().prepareWords(fresh, NEVER);
    expect((await search(index(), fresh, { words: ['zoe'], fields: ['n'] })).rows.map(({ n }) => n)).toEqual(
      wanted('zoe', ['a', 'b', 'secret']),
    );
  });
}
