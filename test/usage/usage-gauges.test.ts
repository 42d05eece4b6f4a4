import { expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { meterGauges } from '../../src/operations/usage-gauges.ts';
import { expectBody } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { eventsOf, tenantOf, totalsOf, WRONG_TOTALS } from '../support/usage-fixture.ts';

const never = new AbortController().signal;

/** Creates a dataset without rows in the tenant `default`. Returns its id. */
async function createDataset(service: Service): Promise<string> {
  const id = newId();
  await systemQuery(
    service,
    `insert into dws.dataset (id, tenant_id, name, slug, owner_id)
     values ($1::uuid, $2, 'Orders', $1::text, 'user:' || gen_random_uuid())`,
    id,
    await tenantOf(service),
  );
  return id;
}

/** Gives a dataset rows of a size, as if it was refreshed. The former ones are replaced. */
async function giveRows(service: Service, datasetId: string, size: number): Promise<void> {
  const id = newId();
  await systemQuery(
    service,
    `with present as (
       insert into dws.generation (id, tenant_id, dataset_id, fields, records, size)
       select $1::uuid, tenant_id, id, '[]', 1, $3::bigint from dws.dataset where id = $2
     )
     update dws.dataset set generation_id = $1::uuid, size = $3::bigint where id = $2`,
    id,
    datasetId,
    size,
  );
}

/** Stores a file of the tenant `default`, or of one of its libraries. */
async function storeFile(service: Service, size: number, libraryId?: string): Promise<void> {
  const id = newId();
  await systemQuery(
    service,
    `insert into dws.stored_file (id, tenant_id, filename, content_type, size, sha256)
     values ($1, $2, 'a.txt', 'text/plain', $3, '')`,
    id,
    await tenantOf(service),
    size,
  );
  if (libraryId)
    await systemQuery(
      service,
      `insert into dws.library_file (id, tenant_id, library_id, file_id, name, path, content_type, status, stored_file_id)
       select $1::uuid, tenant_id, id, $1::text, 'a.txt', 'a.txt', 'text/plain', 'synced', $3
       from dws.library where id = $2`,
      newId(),
      libraryId,
      id,
    );
}

test('rows, indexes and files are in the ledger once a UTC day, with two processes', async ({
  service,
  admin,
  ann,
}) => {
  const tenant = await tenantOf(service);
  const [one, two] = [await createDataset(service), await createDataset(service)];
  await createDataset(service);
  await giveRows(service, one, 999);
  await giveRows(service, one, 3_000_000_000);
  await giveRows(service, two, 1);
  const library = (await ann.creates('/libraries', { name: 'Papers' })).id as string;
  await ann.creates('/libraries', { name: 'Empty' });
  const team = (await admin.creates('/teams', { name: 'Readers' })).id as string;
  await admin.put(`/teams/${team}/members/ann`, { role: 'member' });
  await admin.put(`/teams/${team}/members/admin`, { role: 'admin' });
  const shared = (await admin.creates('/libraries', { name: 'Shared', ownerId: `team:${team}` })).id as string;
  for (const size of [700_000, 300_000]) await storeFile(service, size, library);
  await storeFile(service, 5, shared);
  for (const size of [40, 2]) await storeFile(service, size);

  const other = await startService({ ROLE: 'web' }, { databaseUrl: service.databaseUrl });
  const at = (time: string) =>
    Promise.all([service, other].map(({ platform }) => meterGauges(platform, new Date(time), never)));
  await at('2027-03-01T00:00:00.000Z');
  await giveRows(service, two, 77);
  await storeFile(service, 1000);
  await at('2027-03-01T23:59:59.999Z');
  // Days off, for which nothing is metered.
  await at('2027-03-05T00:00:00.000Z');
  await other.close();

  const eventOf = (gauge: string, entity: string, day: string, quantity: number) => [
    `${gauge}:${entity}:${day}`,
    quantity,
    day,
  ];
  const events = (await eventsOf(service, tenant)).map(({ key, quantity, day }) => [key, Number(quantity), day]);
  expect(events).toEqual(
    [
      eventOf('workspace_storage', tenant, '2027-03-01', 3_000_000_001),
      eventOf('es_index_count', tenant, '2027-03-01', 2),
      eventOf('file_storage', tenant, '2027-03-01', 42),
      eventOf('file_storage', library, '2027-03-01', 1_000_000),
      eventOf('file_storage', shared, '2027-03-01', 5),
      eventOf('workspace_storage', tenant, '2027-03-05', 3_000_000_077),
      eventOf('es_index_count', tenant, '2027-03-05', 2),
      eventOf('file_storage', tenant, '2027-03-05', 1042),
      eventOf('file_storage', library, '2027-03-05', 1_000_000),
      eventOf('file_storage', shared, '2027-03-05', 5),
    ].toSorted(([one], [two]) => (String(one) < String(two) ? -1 : 1)),
  );
  // A tenant with nothing has no usage.
  expect(await eventsOf(service, await tenantOf(service, 'other'))).toEqual([]);

  const charged = await systemQuery(
    service,
    `select entity_type as type, entity_id as id, actor from dws.usage_event
     where resource_type = 'file_storage' and occurred_at < '2027-03-02'`,
  );
  expect(charged).toHaveLength(3);
  expect(charged).toContainEqual({ type: 'tenant', id: tenant, actor: `user:${admin.id}` });
  expect(charged).toContainEqual({ type: 'library', id: library, actor: `user:${ann.id}` });
  expect(charged).toContainEqual({ type: 'library', id: shared, actor: `user:${admin.id}` });
  expect(await totalsOf(service, tenant)).toContainEqual({
    day: '2027-03-01',
    resource: 'workspace_storage',
    quantity: '3000000001.000000000',
    credits: '0.030000',
    events: 1,
  });
  expect(await systemQuery(service, WRONG_TOTALS)).toEqual([]);
});

test('the bytes of a file that was uploaded are metered', async ({ service, admin }) => {
  const app = (await admin.creates('/apps', { name: 'Files' })).id as string;
  await admin.request('PUT', `/api/apps/${app}/files/a.js`, 'x'.repeat(1234), { 'content-type': 'text/javascript' });
  const tenant = await tenantOf(service);
  const [{ size }] = (await systemQuery<{ size: number }>(
    service,
    `select sum(size)::int as size from dws.stored_file f
     where tenant_id = $1 and not exists (select from dws.library_file l where l.stored_file_id = f.id)`,
    tenant,
  )) as [{ size: number }];
  expect(size).toBeGreaterThanOrEqual(1234);
  await meterGauges(service.platform, new Date('2027-06-01T12:00:00Z'), never);
  const { _embedded } = await expectBody(admin.get('/usage/events?from=2027-06-01&resourceType=file_storage'), 200, {});
  expect(_embedded['svc:usage-event']).toContainEqual(
    expect.objectContaining({ entityType: 'tenant', entityId: tenant, quantity: size, actor: `user:${admin.id}` }),
  );
});
