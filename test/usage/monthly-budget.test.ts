import { describe, expect } from 'vitest';
import type { Context } from '../../src/core/context.ts';
import { setMonthlyBudget } from '../../src/services/usage/monthly-budget.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError } from '../support/expect.ts';
import { test as base } from '../support/fixture.ts';

const KINDS = [
  ['app', 'apps', 'App', {}],
  ['job', 'jobs', 'Job', { type: 'actions' }],
  ['assistant', 'assistants', 'Assistant', {}],
] as const;
const NO_PERMISSION = /billing:manage/;

const test = base.extend<{ billing: Client }>({
  billing: [
    async ({ service }, use) => {
      const permissions = ['billing:manage', 'apps:create', 'jobs:create', 'assistants:create'];
      await use(await service.user('billing', { permissions }));
    },
    { scope: 'file' },
  ],
});

describe.for(KINDS)('the monthly budget of an %s', ([kind, path, type, more]) => {
  test('is set and cleared with billing:manage alone, in both APIs', async ({ admin, billing }) => {
    const { id } = await billing.creates(`/${path}`, { name: 'Planned', monthlyBudget: 12.345678, ...more });
    await expectBody(billing.get(`/${path}/${id}`), 200, { monthlyBudget: 12.345678 });
    const { [`update${type}`]: updated } = await billing.data(
      `mutation { update${type}(id: "${id}", input: { monthlyBudget: 0 }) { monthlyBudget } }`,
    );
    expect(updated).toEqual({ monthlyBudget: 0 });
    await expectBody(billing.put(`/${path}/${id}`, { monthlyBudget: 999999999.999999 }), 200, {
      monthlyBudget: 999999999.999999,
    });
    await expectBody(admin.put(`/${path}/${id}`, { monthlyBudget: null }), 200, { monthlyBudget: null });
    expect((await admin.data(`{ ${kind}(id: "${id}") { monthlyBudget } }`))[kind]).toEqual({ monthlyBudget: null });
  });

  test('stays what it is without the permission', async ({ admin, ann }) => {
    const { id } = await admin.creates(`/${path}`, { name: 'Foreign', ownerId: ann.id, monthlyBudget: 5, ...more });
    for (const monthlyBudget of [6, 0, null])
      await expectError(ann.put(`/${path}/${id}`, { name: 'Mine', monthlyBudget }), 403, NO_PERMISSION);
    await expectGraphqlError(
      ann.gql(`mutation { update${type}(id: "${id}", input: { monthlyBudget: 6 }) { id } }`),
      'FORBIDDEN',
      NO_PERMISSION,
    );
    // A response can be edited and sent back.
    await expectBody(ann.put(`/${path}/${id}`, { name: 'Mine', monthlyBudget: 5 }), 200, {
      name: 'Mine',
      monthlyBudget: 5,
    });
  });

  test.for([-1, 0.0000001, 1e9, 1000000000.5, '5'])('is not %j', async (monthlyBudget, { admin }) => {
    await expectError(admin.post(`/${path}`, { name: 'Wrong', monthlyBudget, ...more }), 400, /monthlyBudget/);
  });
});

describe('the monthly budget of a draft', () => {
  test('is the budget of its job, even after both change', async ({ admin, ann }) => {
    const { id } = await admin.creates('/jobs', {
      name: 'Nightly',
      type: 'actions',
      ownerId: ann.id,
      monthlyBudget: 5,
    });
    const draft = (await expectBody(ann.post(`/jobs/${id}/_edit`), 201, {})).id as string;
    await expectBody(ann.get(`/jobs/${draft}`), 200, { monthlyBudget: 5 });
    await expectError(ann.put(`/jobs/${draft}`, { monthlyBudget: null }), 403, NO_PERMISSION);
    await expectError(admin.put(`/jobs/${draft}`, { monthlyBudget: 7 }), 409, /A draft has the monthly budget/);
    await expectBody(ann.put(`/jobs/${draft}`, { name: 'Daily', monthlyBudget: 5 }), 200, { name: 'Daily' });
    await expectBody(admin.put(`/jobs/${id}`, { monthlyBudget: 8 }), 200, { monthlyBudget: 8 });
    await expectBody(ann.get(`/jobs/${draft}`), 200, { monthlyBudget: 8 });
    await expectBody(ann.post(`/jobs/${draft}/_commit`), 200, { id, name: 'Daily', monthlyBudget: 8 });
  });
});

test('a budget of a new resource requires the permission', async ({ ann }) => {
  await expectError(ann.post('/jobs', { name: 'New', type: 'actions', monthlyBudget: 1 }), 403, NO_PERMISSION);
  await expectBody(ann.post('/jobs', { name: 'New', type: 'actions', monthlyBudget: null }), 201, {});
});

test('handlers of apps change no budget, not even for a superuser', () => {
  const ctx = { viewer: { superuser: true, authMethod: 'app' } } as Context;
  const row = { monthlyBudget: 5 };
  expect(() => setMonthlyBudget(ctx, row, 6)).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
  setMonthlyBudget(ctx, row, 5);
  expect(row).toEqual({ monthlyBudget: 5 });
});
