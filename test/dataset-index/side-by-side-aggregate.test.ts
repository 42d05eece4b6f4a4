import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Aggregation } from '../../src/core/dataset-index.ts';
import { HAS_ELASTICSEARCH } from '../support/engines.ts';
import { aggregate, NEVER, selectAllRows } from './generation-fixture.ts';
import { anyCriteria, FIELDS, SORTABLE, useBothIndexes } from './side-by-side-fixture.ts';

const SUMMED = ['n', 'x', 'far', 'big', 'count', 'price'];
const GROUPABLE = SORTABLE.filter((name) => name !== 'n');

describe.skipIf(!HAS_ELASTICSEARCH)('an aggregation has equal results on DuckDB and Elasticsearch', () => {
  const { queryBoth, where } = useBothIndexes();

  const interval = fc.constantFrom('minute', 'hour', 'day', 'week', 'month', 'quarter', 'year');
  const timezone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'asia/kathmandu');
  const anyGroup = fc.oneof(
    fc.constantFrom(...GROUPABLE).map((name) => ({ field: name })),
    fc.record({
      field: fc.constantFrom('moment', 'at', 'day', 'date'),
      interval,
      timezone: fc.option(timezone, { nil: undefined }),
    }),
  );
  const anyMeasure = fc.oneof(
    fc.record({ fn: fc.constantFrom('count', 'countDistinct'), field: fc.constantFrom(...SORTABLE) }),
    fc.record({
      fn: fc.constantFrom('min', 'max'),
      field: fc.constantFrom(...SORTABLE.filter((name) => name !== 'Größe "x"')),
    }),
    fc.record({ fn: fc.constantFrom('sum', 'avg'), field: fc.constantFrom(...SUMMED) }),
  );
  const anyAggregation = fc.record({
    groups: fc.uniqueArray(anyGroup, { maxLength: 3, selector: (one) => one.field }),
    functions: fc.array(anyMeasure, { maxLength: 4 }),
    criteria: anyCriteria,
    limit: fc.constantFrom(3, 50, 10_000),
    order: fc.array(fc.record({ at: fc.nat(), descending: fc.boolean() }), { maxLength: 2 }),
  });

  test('groups and measures', async () => {
    await fc.assert(
      fc.asyncProperty(anyAggregation, async ({ groups, functions, criteria, order, limit }) => {
        const measures = [
          { fn: 'count', as: '#' },
          ...functions.map((one, i) => ({ ...one, as: `#${i}` })),
        ] as Aggregation['measures'];
        // Computed numbers are not sort columns, because their last digits may differ.
        const columns = [
          ...groups.map((one) => one.field),
          ...measures.filter(({ fn }) => fn !== 'avg' && fn !== 'sum').map(({ as }) => as),
        ];
        const sorting = order.map(({ at, descending }) => ({ column: columns[at % columns.length]!, descending }));
        const results = await queryBoth((index, generation) =>
          aggregate(index, generation, {
            ...where(criteria),
            groupBy: groups as Aggregation['groupBy'],
            measures,
            sort: sorting,
            limit,
          }),
        );
        expect(results.elasticsearch).toEqual(results.duckdb);
      }),
      { numRuns: 120 },
    );
  }, 180_000);

  test('profiles of every field', async () => {
    await fc.assert(
      fc.asyncProperty(anyCriteria, async (criteria) => {
        const results = await queryBoth(async (index, generation) => {
          const { total, fields } = await index.profile(
            { ...selectAllRows(generation), ...where(criteria) },
            FIELDS.map(({ name }) => name),
            NEVER,
          );
          // A mean of numbers that cancel out has an error proportional to the largest of them.
          return {
            total,
            fields: fields.map((one) => ({
              ...one,
              avg: one.avg && one.avg + 2 * Math.max(Math.abs(Number(one.min)), Math.abs(Number(one.max))),
            })),
          };
        });
        expect(results.elasticsearch).toEqual(results.duckdb);
      }),
      { numRuns: 8 },
    );
  });
});
