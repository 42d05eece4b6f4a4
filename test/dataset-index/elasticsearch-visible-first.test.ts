import { expect, test } from 'vitest';
import { matchingRows } from '../../src/adapters/dataset-index/elasticsearch/search-query.ts';
import { rowsAsked } from '../../src/adapters/dataset-index/elasticsearch/search.ts';
import { parseCriteria } from '../../src/core/criteria/parse.ts';
import { ALL } from '../../src/core/criteria/tree.ts';
import type { Generation, Search } from '../../src/core/dataset-index.ts';
import { fieldsOf, selectAllRows } from './generation-fixture.ts';

/* docs/contract/access.md#restricted-shares describes the values that a search engine computes for hidden rows too. */

const GENERATION: Generation = {
  id: '00000000-0000-4000-8000-000000000000',
  fields: [
    { name: 'country', type: 'string', column: 'c0' },
    { name: 'name', type: 'string', column: 'c1' },
  ],
  records: 10,
  size: 1000,
  warnings: [],
};
const parse = (criteria: object) => parseCriteria(criteria, fieldsOf(GENERATION));
const requestOf = (more: Partial<Search>, sort: { field: string; descending: boolean }[]) =>
  rowsAsked(matchingRows({ ...selectAllRows(GENERATION), ...more }), { generation: GENERATION, fields: ['name'], sort })
    .asked;

const BY_NAME = [{ field: 'name', descending: true }];
const NAME_ORDER = { c1: { order: 'desc', missing: '_last' } };
const ROW_ORDER = { n: 'asc' };

test("the engine does not search the next rows of a restricted reader's order among hidden rows", () => {
  const visible = parse({ country: 'FR' });
  expect(requestOf({ visible }, BY_NAME).sort).toEqual([{ _score: { order: 'desc' } }, NAME_ORDER, ROW_ORDER]);
  expect(requestOf({ visible }, []).sort).toEqual([ROW_ORDER]);
  for (const more of [{}, { visible: ALL }, { where: visible }])
    expect(requestOf(more, BY_NAME).sort).toEqual([NAME_ORDER, ROW_ORDER]);
});

test('the rows of a query are the visible ones among those that its criteria find', () => {
  expect(requestOf({ visible: parse({ country: 'FR' }), where: parse({ name: 'a' }) }, []).query).toEqual({
    bool: { filter: [{ bool: { filter: [{ term: { c0: 'FR' } }, { term: { c1: 'a' } }] } }] },
  });
});
