import { expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { meterGauges } from '../../src/operations/usage-gauges.ts';
import { expectBody, expectError, expectGraphqlError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import { startService } from '../support/service.ts';
import { eventsOf, tenantOf } from '../support/usage-fixture.ts';
import { createApp } from './app-fixture.ts';
import { never } from './workspace-fixture.ts';

test('the storage of each app is in the ledger once a UTC day, charged to its owner', async ({
  service,
  admin,
  ann,
}) => {
  const tenantId = await tenantOf(service);
  const sql = { 'migrations/1.sql': 'create table note as select generate_series(1, 1000) as n' };
  const own = await createApp(admin, 'Of a user', sql);
  const team = await createApp(admin, 'Of a team', sql);
  await createApp(admin, 'Without tables', sql);
  const lost = await createApp(admin, 'Without a workspace', sql);
  for (const id of [own, team, lost])
    await expectBody(admin.post(`/apps/${id}/_migrate`), 200, { migrated: ['1.sql'], total: 1 });
  await service.platform.workspaces.remove({ tenantId, appId: lost });
  for (const [id, owner] of [
    [own, `user:${ann.id}`],
    [team, `team:${newId()}`],
  ])
    await runSql(service.databaseUrl, 'update dws.app set owner_id = $2 where id = $1', [id, owner]);

  const { platform } = service;
  const bytes = await platform.workspaces.sizeOf({ tenantId, appId: own }, never);
  expect(bytes).toBeGreaterThan(8192);
  await Promise.all([1, 2].map(() => meterGauges(platform, new Date('2026-05-01T23:59:59Z'), never)));
  await meterGauges(platform, new Date('2026-05-01T00:00:00Z'), never);
  await meterGauges(platform, new Date('2026-05-02T00:00:00Z'), never);
  const metered = (await eventsOf(service, tenantId)).filter(({ key }) => key.startsWith('app_storage:'));
  const events = metered.map(({ key, quantity, day }) => ({
    key,
    quantity: Number(quantity),
    day,
  }));
  const eventOf = (id: string, day: string, quantity = bytes) => ({ key: `app_storage:${id}:${day}`, quantity, day });
  expect(events).toEqual(
    ['2026-05-01', '2026-05-02']
      .flatMap((day) => [eventOf(own, day), eventOf(team, day), eventOf(lost, day, 0)])
      .toSorted((one, other) => (one.key < other.key ? -1 : 1)),
  );
  // Without members of the team, a superuser is the actor.
  const actors = await runSql(
    service.databaseUrl,
    `select entity_id as id, entity_type as type, actor, resource_type as resource from dws.usage_event
      where occurred_at < '2026-05-02' and resource_type = 'app_storage' and quantity > 0`,
  );
  expect(actors).toHaveLength(2);
  expect(actors).toContainEqual({ id: own, type: 'app', actor: `user:${ann.id}`, resource: 'app_storage' });
  expect(actors).toContainEqual({
    id: team,
    type: 'app',
    actor: expect.stringMatching(/^user:/),
    resource: 'app_storage',
  });
});

test('APP_QUOTA_BYTES limits the tables of an app', async () => {
  const service = await startService({ APP_QUOTA_BYTES: '2000000' });
  const admin = await service.user('admin', { superuser: true });
  const id = await createApp(admin, 'Large', {
    'migrations/1.sql': 'create table note (text text)',
    'migrations/2.sql': `insert into note select repeat('x', 1000) from generate_series(1, 4000)`,
  });
  const failure = /^migrations\/2\.sql:1: The app would have \d{7} bytes of data; its quota is 2000000$/;
  await expectError(admin.post(`/apps/${id}/_migrate`), 500, failure);
  await expectGraphqlError(
    admin.gql(`mutation { migrateApp(id: "${id}", wait: true) { operation { status } } }`),
    'UPSTREAM_FAILED',
    failure,
  );
  expect((await admin.get(`/apps/${id}/migrations`)).body._embedded['svc:migration']).toMatchObject([
    { filename: '1.sql', status: 'applied' },
    { filename: '2.sql', status: 'pending' },
  ]);
  await service.close();
});
