import { describe, expect } from 'vitest';
import type { JobActionConditionType } from '../../entities/job-action-condition.ts';
import { meetsConditions, type RunCondition } from '../../src/services/job/run-conditions.ts';
import type { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
import type { Service } from '../support/service.ts';
import { contextOf } from './driver-fixture.ts';
import { test } from './job-fixture.ts';

const of = (...types: JobActionConditionType[]): RunCondition[] =>
  types.map((type) => ({ type, data: {}, datasetId: null }));

/** A condition on the number of orders that match criteria, by the alias `sales`. */
const count = (criteria: object, op: string, number: number): RunCondition => ({
  type: 'criteria',
  data: { alias: 'sales', criteria, op, count: number },
  datasetId: null,
});

const noDataset = (): string => {
  throw new Error('No rows are to be counted');
};

/** Returns whether an action runs in a job of a user, where `sales` is a dataset. */
const meets = async (
  service: Service,
  { id }: Pick<Client, 'id'>,
  conditions: RunCondition[],
  { datasetIdOf = noDataset, hasFailed = false }: { datasetIdOf?: (alias: string) => string; hasFailed?: boolean },
): Promise<boolean> =>
  meetsConditions(conditions, { ctx: await contextOf(service, `user:${id}`), hasFailed, datasetIdOf });

describe('the outcome so far', () => {
  test.for<[JobActionConditionType[], boolean, boolean]>([
    // conditions, without a failure, with one
    [[], true, false],
    [['success'], true, false],
    [['failure'], false, true],
    [['always'], true, true],
    [['always', 'failure'], false, true],
    [['success', 'failure'], false, false],
  ])('%j decides', async ([types, afterSuccess, afterFailure], { service, ann }) => {
    expect(await meets(service, ann, of(...types), { hasFailed: false })).toBe(afterSuccess);
    expect(await meets(service, ann, of(...types), { hasFailed: true })).toBe(afterFailure);
  });
});

describe('the number of rows', () => {
  test.for<[string, boolean, boolean, boolean]>([
    // operator, compared with 4, 5 and 6
    ['eq', false, true, false],
    ['ne', true, false, true],
    ['gt', true, false, false],
    ['gte', true, true, false],
    ['lt', false, false, true],
    ['lte', false, true, true],
  ])('of 5 orders is compared by %s', async ([op, ...expected], { service, ann, orders }) => {
    const datasetIdOf = () => orders.id;
    const met = [4, 5, 6].map((number) =>
      meets(service, ann, [count({ region: 'EU' }, op, number)], { datasetIdOf, hasFailed: true }),
    );
    expect(await Promise.all(met)).toEqual(expected);
  });

  test('is counted in the dataset of the alias, or in the named one', async ({ service, ann, orders }) => {
    const asked: string[] = [];
    const datasetIdOf = (alias: string) => (asked.push(alias), orders.q1);
    const byAlias = count({ region: 'EU' }, 'eq', 3);
    expect(await meets(service, ann, [byAlias], { datasetIdOf })).toBe(true);
    expect(asked).toEqual(['sales']);
    expect(await meets(service, ann, [{ ...byAlias, datasetId: orders.q2 }], {})).toBe(false);
  });

  test('decides together with the outcome, and is counted last', async ({ service, ann, orders }) => {
    const five = count({ region: 'EU' }, 'eq', 5);
    const datasetIdOf = () => orders.id;
    expect(await meets(service, ann, [five, ...of('success')], { datasetIdOf })).toBe(true);
    expect(await meets(service, ann, [five, ...of('success')], { hasFailed: true })).toBe(false);
    expect(await meets(service, ann, [five, count({}, 'lt', 20)], { datasetIdOf })).toBe(false);
  });

  test('contains only the rows that the owner sees, and their criteria only visible fields', async ({
    service,
    ann,
    bob,
    orders,
    restrictBob,
  }) => {
    await restrictBob({ region: 'EU' });
    const datasetIdOf = () => orders.id;
    expect(await meets(service, ann, [count({}, 'eq', 20)], { datasetIdOf })).toBe(true);
    expect(await meets(service, bob, [count({}, 'eq', 5)], { datasetIdOf })).toBe(true);
    expect(await meets(service, bob, [count({ region: 'US' }, 'eq', 0)], { datasetIdOf })).toBe(true);
    const hidden = count({ amount: { $gt: 0 } }, 'gt', 0);
    expect(await meets(service, ann, [hidden], { datasetIdOf })).toBe(true);
    await expect(meets(service, bob, [hidden], { datasetIdOf })).rejects.toThrow(/Unknown field "amount"/);
  });

  test('cannot be counted without a right, and by a field that the source no longer has', async ({
    service,
    ann,
    bob,
    source,
    shop,
  }) => {
    const { id } = await ann.creates('/datasets', {
      name: 'Notes',
      datasourceId: source.id,
      query: 'select * from notes',
    });
    await shop.sql(`create table notes as select 1 as id, 'old' as kind`);
    await expectStatus(ann.post(`/datasets/${id}/_refresh`, {}), 200);
    const datasetIdOf = () => id;
    const missing = count({ kind: { $exists: false } }, 'gt', 0);
    expect(await meets(service, ann, [missing], { datasetIdOf })).toBe(false);
    await expect(meets(service, bob, [missing], { datasetIdOf })).rejects.toThrow(`There is no dataset ${id}`);
    await shop.sql(`alter table notes drop column kind`);
    await expectStatus(ann.post(`/datasets/${id}/_refresh`, { syncFields: false }), 200);
    // The field is still there, without values. The condition is not met by that.
    await expect(meets(service, ann, [missing], { datasetIdOf })).rejects.toThrow(/Unknown field "kind"/);
  });
});
