import { describe, expect } from 'vitest';
import { expectError, expectGraphqlError } from '../support/expect.ts';
import { ORDERS_QUERY, test } from '../support/shop-fixture.ts';
import { createOrders } from './dataset-fixture.ts';

const calculate = (expression: string) => ({ type: 'calculate', field: 'x', expression });

describe('a step that no columns can fit is refused when the flow is saved', () => {
  test.for<[object, string]>([
    [calculate('dateDiff("century", ordered_on, ordered_on)'), 'Flow step 2 (calculate): dateDiff takes a unit first'],
    [calculate('round(amount, 99999)'), 'Flow step 2 (calculate): round takes its digits as a whole number'],
    [calculate('not 1'), 'Flow step 2 (calculate): not takes a boolean'],
    [calculate('amount + "1"'), 'Flow step 2 (calculate): + takes a number'],
    [{ type: 'filter', criteria: { amount: { $above: 5 } } }, 'Flow step 2 (filter): Unknown operator "$above"'],
    [{ type: 'filter', criteria: { $not: 'x' } }, 'Flow step 2 (filter): $not must be an object'],
  ])('%j', async ([step, message], { ann, source }) => {
    const flow = [{ type: 'limit', n: 5 }, step];
    const { id } = await createOrders(ann, source);
    const starts = new RegExp(`^${message.replaceAll(/[()+$]/g, String.raw`\$&`)}`);
    const input = { name: 'Flow', datasourceId: source.id, query: ORDERS_QUERY, flow };
    await expectError(ann.post('/datasets', input), 400, starts);
    await expectError(ann.put(`/datasets/${id}`, { flow }), 400, starts);
    await expectError(ann.put(`/datasets/${id}/draft`, { flow }), 400, starts);
    const create = 'mutation ($input: CreateDatasetInput!) { createDataset(input: $input) { id } }';
    await expectGraphqlError(ann.gql(create, { input }), 'BAD_USER_INPUT', starts);
    const update = 'mutation ($id: ID!, $input: UpdateDatasetInput!) { updateDataset(id: $id, input: $input) { id } }';
    await expectGraphqlError(ann.gql(update, { id, input: { flow } }), 'BAD_USER_INPUT', starts);
    expect((await ann.get(`/datasets/${id}`)).body).toMatchObject({ flow: [] });
  });

  test('a step that does not fit the columns of the query is refused by the refresh', async ({ ann, source }) => {
    const { id } = await createOrders(ann, source, { flow: [calculate('lower(amount)')] });
    await expectError(ann.post(`/datasets/${id}/_refresh`), 500, /lower takes a string, not a number/);
  });

  test('a flow whose texts take more memory than a load may use is refused by the refresh', async ({ ann, source }) => {
    const double = { type: 'calculate', field: 'region', expression: 'concat(region, region)' };
    const { id } = await createOrders(ann, source, { flow: Array.from({ length: 30 }, () => double) });
    await expectError(ann.post(`/datasets/${id}/_refresh`), 413, /take more memory than a load may use/);
  });
});
