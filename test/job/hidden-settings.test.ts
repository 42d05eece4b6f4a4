import { expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectInvalid, expectStatus } from '../support/expect.ts';
import { recordStatements } from '../support/statement-log.ts';
import { createJob, test as base } from './job-fixture.ts';

interface Settings {
  id: string;
  path: string;
  /** Paths of an export by alias, one by id, a refresh, and the run condition of the last. */
  parts: { byAlias: string; byId: string; refresh: string; condition: string };
}

const FILTER = { amount: { $gt: 180 } };
const CONDITION = { alias: 'sales', op: 'gt', count: 1 };

const test = base.extend<{ settings: Settings }>({
  settings: [
    async ({ service, ann, orders, restrictBob }, use) => {
      const [cleo] = [await service.user('cleo'), await service.user('dan')];
      await restrictBob({ region: 'EU' });
      await expectStatus(ann.put(`${orders.path}/shares/${cleo.username}`, { accessLevel: 1 }), 200);
      const { id, path } = await createJob(ann, { datasets: { sales: orders.id } });
      for (const user of ['bob', 'cleo', 'dan'])
        await expectStatus(ann.put(`${path}/shares/${user}`, { accessLevel: 2 }), 200);
      const saved = await ann.creates(`${orders.path}/filters`, { name: 'Big', criteria: FILTER });
      const add = async (type: string, data: object) =>
        `${path}/actions/${(await ann.creates(`${path}/actions`, { type, name: type, data })).id}`;
      const byAlias = await add('export', { alias: 'sales', format: 'csv', filter: FILTER });
      const byId = await add('export', { datasetId: orders.id, format: 'csv', filter: saved.id });
      const refresh = await add('refresh', { alias: 'sales', params: { secret: 7 } });
      const conditions = `${refresh}/job-action-run-conditions`;
      const data = { ...CONDITION, criteria: FILTER };
      const condition = `${conditions}/${(await ann.creates(conditions, { type: 'criteria', data })).id}`;
      await use({ id, path, parts: { byAlias, byId, refresh, condition } });
    },
    { scope: 'file' },
  ],
});

const QUERY = `query ($id: ID!) { job(id: $id) { actions { data conditions { data } } } }`;

/** Returns all settings as a client sees them, which are the same in both APIs, in lists and in records. */
async function readAll(client: Client, { id, path, parts }: Settings): Promise<object[]> {
  const actions = (await client.get(`${path}/actions`)).body._embedded['svc:job-action'];
  const listed = actions.map(({ data }: { data: object }) => data);
  const condition = (await client.get(parts.condition)).body.data;
  const { job } = await client.data(QUERY, { id });
  expect(job.actions.map(({ data }: { data: object }) => data)).toEqual(listed);
  expect(job.actions.flatMap(({ conditions }: any) => conditions)).toEqual([{ data: condition }]);
  for (const [index, part] of [parts.byAlias, parts.byId, parts.refresh].entries())
    expect((await client.get(part)).body.data).toEqual(listed[index]);
  return [...listed, condition];
}

test('settings that name fields and values are for those who may read the whole dataset', async ({
  service,
  ann,
  bob,
  orders,
  settings,
}) => {
  const [cleo, dan] = [await service.login('cleo'), await service.login('dan')];
  const full = await readAll(ann, settings);
  expect(full).toEqual([
    { alias: 'sales', format: 'csv', filter: FILTER },
    { datasetId: orders.id, format: 'csv', filter: expect.any(String) },
    { alias: 'sales', params: { secret: 7 } },
    { ...CONDITION, criteria: FILTER },
  ]);
  expect(await readAll(cleo, settings)).toEqual(full);
  const part = [
    { alias: 'sales', format: 'csv' },
    { datasetId: orders.id, format: 'csv' },
    { alias: 'sales' },
    CONDITION,
  ];
  expect(await readAll(bob, settings), 'who may read a part').toEqual(part);
  expect(await readAll(dan, settings), 'who may not read the dataset').toEqual(part);
});

test('a list decides for all its rows in one step', async ({ service, bob, settings }) => {
  const list = `query ($id: ID!, $limit: Int!) { job(id: $id) { actions(limit: $limit) { data conditions { data } } } }`;
  const statementsOf = async (limit: number): Promise<[number, number]> => {
    const { result, statements } = await recordStatements(service, () => bob.data(list, { id: settings.id, limit }));
    return [result.job.actions.length, statements.length];
  };
  const [, one] = await statementsOf(1);
  expect(await statementsOf(3)).toEqual([3, one]);
});

test('a record that is sent back without what was hidden changes nothing', async ({ ann, bob, settings }) => {
  const { parts } = settings;
  const before = await Promise.all(Object.values(parts).map(async (part) => (await ann.get(part)).body));
  for (const part of Object.values(parts)) {
    const { body } = await bob.get(part);
    await expectBody(bob.put(part, body), 200, { data: body.data });
  }
  const after = await Promise.all(Object.values(parts).map(async (part) => (await ann.get(part)).body));
  expect(after).toEqual(before);
  const { body } = await bob.get(parts.byAlias);
  const data = { ...body.data, format: 'json' };
  await expectBody(bob.put(parts.byAlias, { data }), 200, { data });
  await expectBody(ann.get(parts.byAlias), 200, { data: { ...data, filter: FILTER } });
  // Who sees a value removes it by leaving it out.
  await expectBody(ann.put(parts.byAlias, { data: body.data }), 200, { data: body.data });
  await expectStatus(ann.put(parts.byAlias, { data: { ...body.data, filter: FILTER } }), 200);
});

test('a dataset of one’s own does not reveal what was hidden', async ({ service, ann, bob, settings, source }) => {
  const input = { name: 'Own', datasourceId: source.id, query: 'select 1 as id, 2 as amount', refresh: true };
  const own = await ann.creates('/datasets', input);
  await expectStatus(ann.put(`/datasets/${own.id}/shares/bob`, { accessLevel: 2 }), 200);
  const { path, parts } = settings;
  const before = await readAll(ann, settings);
  const message = 'data.filter is required with another dataset or template, because you do not see the stored value';
  for (const part of [parts.byAlias, parts.byId])
    await expectInvalid(bob.put(part, { data: { datasetId: own.id, format: 'csv' } }), 'data.filter', message);
  const data = { datasetId: own.id, op: 'gt', count: 1 };
  await expectInvalid(bob.put(parts.condition, { data }), 'data.criteria', /is required with another dataset/);
  const refused = 'Actions or run conditions have settings for the dataset, which you may not read in full';
  await expectError(bob.put(`${path}/datasets/sales`, { datasetId: own.id }), 403, refused);
  expect(await readAll(ann, settings)).toEqual(before);
  await expectBody(bob.put(parts.byId, { data: { datasetId: own.id, format: 'csv', filter: { id: 1 } } }), 200, {
    data: { filter: { id: 1 } },
  });
  // Those who may read both datasets in full see the same before and after.
  const cleo = await service.login('cleo');
  await expectStatus(ann.put(`/datasets/${own.id}/shares/cleo`, { accessLevel: 2 }), 200);
  await expectStatus(cleo.put(`${path}/datasets/sales`, { datasetId: own.id }), 200);
});

test.for<[string, (client: Client, job: { id: string; path: string }) => Promise<unknown>]>([
  ['PUT …/owner', (client, { path }) => expectStatus(client.put(`${path}/owner`, { ownerId: client.id }), 200)],
  ['PUT with ownerId', (client, { path }) => expectStatus(client.put(path, { ownerId: client.username }), 200)],
  [
    'setJobOwner',
    (client, { id }) =>
      client.data(`mutation { setJobOwner(id: "${id}", ownerId: "me") { id } }`.replace('me', client.id)),
  ],
])(
  'an editor who becomes the owner by %s does not see further settings',
  async ([, take], { service, ann, bob, orders, source }) => {
    const cleo = await service.login('cleo');
    const { id, path } = await createJob(ann, { datasets: { sales: orders.id } });
    for (const user of ['bob', 'cleo']) await expectStatus(ann.put(`${path}/shares/${user}`, { accessLevel: 2 }), 200);
    const data = { alias: 'sales', format: 'csv', filter: FILTER };
    const action = `${path}/actions/${(await ann.creates(`${path}/actions`, { type: 'export', name: 'x', data })).id}`;
    const criteria = { type: 'criteria', data: { ...CONDITION, criteria: FILTER } };
    const { id: conditionId } = await ann.creates(`${action}/job-action-run-conditions`, criteria);
    const settings = { id, path, action, condition: `${action}/job-action-run-conditions/${conditionId}` };
    const read = async (client: Client) => {
      const { job } = await client.data(QUERY, { id });
      const parts = [(await client.get(action)).body.data, (await client.get(settings.condition)).body.data];
      expect([job.actions[0].data, job.actions[0].conditions[0].data]).toEqual(parts);
      return parts;
    };
    const hidden = [{ alias: 'sales', format: 'csv' }, CONDITION];
    await take(bob, settings);
    await expectBody(bob.get(path), 200, { ownerId: bob.id, accepted: false, permissions: { delete: true } });
    expect(await read(bob)).toEqual(hidden);
    expect(await read(cleo)).toEqual([data, criteria.data]);
    // Neither a draft, nor what is sent back, nor another dataset shows them.
    const draft = await bob.creates(`${path}/_edit`, {});
    await expectBody(bob.get(`/jobs/${draft.id}/actions`), 200, {
      _embedded: { 'svc:job-action': [{ data: hidden[0] }] },
    });
    await expectStatus(bob.post(`/jobs/${draft.id}/_commit`), 200);
    await expectBody(bob.put(action, { data: { ...hidden[0], format: 'json' } }), 200, { data: { format: 'json' } });
    const own = await ann.creates('/datasets', { name: 'Own', datasourceId: source.id, query: 'select 1 as id' });
    await expectStatus(ann.put(`/datasets/${own.id}/shares/bob`, { accessLevel: 2 }), 200);
    await expectInvalid(bob.put(action, { data: { datasetId: own.id, format: 'csv' } }), 'data.filter', /is required/);
    await expectError(bob.put(`${path}/datasets/sales`, { datasetId: own.id }), 403, /which you may not read in full/);
    expect(await read(cleo)).toEqual([{ ...data, format: 'json' }, criteria.data]);
    // Values of their own are theirs.
    const filter = { region: 'EU' };
    await expectBody(bob.put(action, { data: { ...hidden[0], filter } }), 200, { data: { ...hidden[0], filter } });
    await expectStatus(bob.put(`${path}/owner`, { ownerId: 'ann' }), 200);
    expect((await read(ann))[1]).toEqual(criteria.data);
  },
);
