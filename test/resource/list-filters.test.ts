import { expect } from 'vitest';
import { test } from '../job/job-run-fixture.ts';
import type { Client } from '../support/client.ts';
import { expectInvalid } from '../support/expect.ts';

/** Returns the names that a list has with these arguments, which must be the same in both APIs. */
async function listNames(client: Client, kind: 'datasets' | 'jobs', args: Record<string, unknown>): Promise<string[]> {
  const texts = Object.entries(args).map(([key, value]) => [key, String(value).toLowerCase()]);
  if (args['updatedSince'] !== undefined) texts.splice(0, texts.length, ['updatedSince', String(args['updatedSince'])]);
  const query = new URLSearchParams([['sort', 'name'], ...texts] as string[][]);
  const { status, body } = await client.get(`/${kind}?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  const names = body._embedded[`svc:${kind.slice(0, -1)}`].map(({ name }: { name: string }) => name);
  const literals = Object.entries(args).map(
    ([key, value]) => `${key}: ${key === 'updatedSince' ? JSON.stringify(value) : String(value)}`,
  );
  const data = await client.data(`{ ${kind}(sort: "name", ${literals.join(', ')}) { total items { name } } }`);
  expect(data[kind].items.map(({ name }: { name: string }) => name)).toEqual(names);
  expect([data[kind].total, body.total]).toEqual([names.length, names.length]);
  return names;
}

test('datasets are found by whether their rows are of a successful refresh, and by the number of rows', async ({
  ann,
  bob,
  source,
  switched,
}) => {
  const create = (name: string, rows: number) =>
    ann.creates('/datasets', {
      name,
      datasourceId: source.id,
      query: `select id from orders where id <= ${rows}`,
      refresh: true,
    });
  const five = await create('Five', 5);
  await create('Nine', 9);
  await ann.creates('/datasets', { name: 'Never', datasourceId: source.id, query: 'select 1 as x' });
  await ann.post(`${switched.path}/_refresh`, {});
  await switched.set('fails');
  expect((await ann.post(`${switched.path}/_refresh`, {})).status).toBe(500);

  expect(await listNames(ann, 'datasets', { stale: true })).toEqual(['Never', 'Switched']);
  expect(await listNames(ann, 'datasets', { stale: false })).toEqual(['Five', 'Nine']);
  expect(await listNames(ann, 'datasets', { minRecords: 5 })).toEqual(['Five', 'Nine']);
  expect(await listNames(ann, 'datasets', { minRecords: 1, maxRecords: 5 })).toEqual(['Five', 'Switched']);
  expect(await listNames(ann, 'datasets', { maxRecords: 0 })).toEqual(['Never']);
  await expectInvalid(ann.get('/datasets?minRecords=-1'), 'minRecords', 'minRecords must be a whole number from 0');
  await expectInvalid(ann.get('/datasets?stale=perhaps'), 'stale', '"stale" must be true or false');

  // A reader of a part does not see the number of rows, so that a filter must not reveal it.
  await ann.put(`/datasets/${five.id}`, { fieldSecurityEnabled: true });
  const share = await ann.put(`/datasets/${five.id}/shares/bob`, {
    accessLevel: 1,
    restrictFields: true,
    visibleFields: ['id'],
  });
  expect(share.status, JSON.stringify(share.body)).toBe(200);
  expect(await listNames(bob, 'datasets', { stale: false })).toEqual(['Five']);
  expect(await listNames(bob, 'datasets', { minRecords: 1 })).toEqual([]);
  expect(await listNames(bob, 'datasets', { maxRecords: 5 })).toEqual([]);
});

test('jobs are found by whether they are enabled and by the status of their last run', async ({
  ann,
  switched,
  refreshJob,
}) => {
  const failing = await refreshJob({}, { name: 'Failing' });
  const fixed = await refreshJob({}, { name: 'Fixed' });
  await refreshJob({}, { name: 'Scheduled', enabled: true, interval: '15 minutes', intervalType: 'simple' });
  await switched.set('fails');
  for (const { path } of [failing, fixed]) await ann.post(path, {});
  await switched.set('works');
  await ann.post(fixed.path, {});

  expect(await listNames(ann, 'jobs', { lastRunStatus: 'FAILED' })).toEqual(['Failing']);
  expect(await listNames(ann, 'jobs', { lastRunStatus: 'SUCCEEDED' })).toEqual(['Fixed']);
  expect(await listNames(ann, 'jobs', { lastRunStatus: 'RUNNING' })).toEqual([]);
  expect(await listNames(ann, 'jobs', { enabled: true })).toEqual(['Scheduled']);
  expect(await listNames(ann, 'jobs', { enabled: false })).toEqual(['Failing', 'Fixed']);
  await expectInvalid(ann.get('/jobs?lastRunStatus=lost'), 'lastRunStatus', /must be one of queued, running/);
});

test('resources are found by the time since which they have changed', async ({ ann, source }) => {
  const [, second] = [
    await ann.creates('/datasets', { name: 'Old', datasourceId: source.id, query: 'select 1 as x' }),
    await ann.creates('/datasets', { name: 'New', datasourceId: source.id, query: 'select 1 as x' }),
  ];
  const { updatedAt } = (await ann.put(`/datasets/${second.id}`, { description: 'Changed' })).body;
  expect(await listNames(ann, 'datasets', { updatedSince: updatedAt })).toEqual(['New']);
  await ann.creates('/jobs', { name: 'Newest', type: 'actions' });
  expect(await listNames(ann, 'jobs', { updatedSince: updatedAt })).toEqual(['Newest']);
  await expectInvalid(ann.get('/jobs?updatedSince=2027-06-31'), 'updatedSince', /not an ISO 8601 timestamp/);
});
