import { expect } from 'vitest';
import { sweepRecords } from '../../src/operations/janitor.ts';
import { expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createApp } from './app-fixture.ts';
import { servicesFor } from './handler-services-fixture.ts';

interface StoredEvent extends Record<string, unknown> {
  name: string;
  payload: unknown;
  principal: string;
  depth: number;
}

const eventsOf = (service: Service, appId: string): Promise<StoredEvent[]> =>
  systemQuery<StoredEvent>(
    service,
    'select name, payload, principal, depth from dws.app_event where app_id = $1 order by created_at, id',
    appId,
  );

test('emit stores an event with its payload, and who acts', async ({ service, admin, ann }) => {
  const appId = await createApp(admin, 'Events');
  const services = await servicesFor(service, ann, appId, { depth: 2 });
  const payload = { order: 7, lines: [{ name: 'Grüße', '': null }] };
  await services.emit('order.created', payload);
  await services.emit('a:b-c_D.9', undefined);
  await services.emit('x'.repeat(100), 'text');
  const common = { principal: `user:${ann.id}`, depth: 2 };
  expect(await eventsOf(service, appId)).toEqual([
    { name: 'order.created', payload, ...common },
    { name: 'a:b-c_D.9', payload: null, ...common },
    { name: 'x'.repeat(100), payload: 'text', ...common },
  ]);
});

test('names and payloads are checked', async ({ service, admin }) => {
  const appId = await createApp(admin, 'Checked');
  const { emit } = await servicesFor(service, admin, appId);
  for (const [name, message] of [
    [undefined, 'name is required'],
    [7, 'name must be a text'],
    ['', 'name must not be empty'],
    ['a b', 'name must have 1 to 100 letters, digits and _ . : -'],
    ['ü', 'name must have 1 to 100 letters, digits and _ . : -'],
    ['x'.repeat(101), 'name must have 1 to 100 letters, digits and _ . : -'],
  ])
    await expect(emit(name, {})).rejects.toMatchObject({ status: 400, message });
  await emit('large', 'x'.repeat(65_534));
  await expect(emit('large', 'x'.repeat(65_535))).rejects.toMatchObject({
    status: 400,
    message: 'payload must have at most 64 KiB as JSON',
  });
  let deep: unknown = null;
  for (let level = 0; level < 300; level += 1) deep = [deep];
  await expect(emit('deep', deep)).rejects.toMatchObject({ message: 'payload must nest at most 256 levels' });
  await expect(emit('nul', 'a\0b')).rejects.toMatchObject({
    status: 400,
    message: 'Text must not contain the character U+0000',
  });
  expect(await eventsOf(service, appId)).toHaveLength(1);
});

test('an app emits 1,000 events in an hour', async ({ service, admin }) => {
  const [appId, otherId] = [await createApp(admin, 'Busy'), await createApp(admin, 'Idle')];
  const fill = (count: number) =>
    systemQuery(
      service,
      `insert into dws.app_event (id, tenant_id, app_id, name, payload, principal, depth)
      select gen_random_uuid(), tenant_id, id, 'x', 'null', owner_id, 0 from dws.app, generate_series(1, $2)
      where dws.app.id = $1`,
      appId,
      count,
    );
  await fill(998);
  const { emit } = await servicesFor(service, admin, appId);
  const outcomes = await Promise.allSettled([1, 2, 3, 4].map((number) => emit('last', number)));
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
  const limit = { code: 'RATE_LIMITED', message: 'An app emits at most 1000 events in an hour' };
  await expect(emit('late', null)).rejects.toMatchObject(limit);
  await (await servicesFor(service, admin, otherId)).emit('other', null);
  await systemQuery(service, `update dws.app_event set created_at = created_at - interval '1 hour'`);
  await emit('later', null);
  expect(await eventsOf(service, appId)).toHaveLength(1001);
});

test('the apps of an owner emit 2,000 events in an hour', async ({ service }) => {
  const permissions = ['apps:create'];
  const [ann, bob] = [await service.user('maker', { permissions }), await service.user('other', { permissions })];
  const apps = [await createApp(ann, 'One'), await createApp(ann, 'Two'), await createApp(ann, 'Three')];
  const fill = (appId: string, count: number) =>
    systemQuery(
      service,
      `insert into dws.app_event (id, tenant_id, app_id, name, payload, principal, depth)
      select gen_random_uuid(), tenant_id, id, 'x', 'null', owner_id, 0 from dws.app, generate_series(1, $2)
      where dws.app.id = $1`,
      appId,
      count,
    );
  await fill(apps[0]!, 999);
  await fill(apps[1]!, 1000);
  const { emit } = await servicesFor(service, ann, apps[2]!);
  await emit('last', null);
  await expect(emit('late', null)).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    message: 'The apps of an owner emit at most 2000 events in an hour',
  });
  await (await servicesFor(service, bob, await createApp(bob, 'Other'))).emit('other', null);
});

test('events are kept for 7 days, and deleted with their app', async ({ service, admin }) => {
  const appId = await createApp(admin, 'Old');
  const { emit } = await servicesFor(service, admin, appId);
  for (const days of [8, 6]) {
    await emit(`${days}-days`, null);
    await systemQuery(
      service,
      `update dws.app_event set created_at = now() - $2 * interval '1 day' where name = $1`,
      `${days}-days`,
      days,
    );
  }
  await sweepRecords((statement) => service.platform.system.query(statement));
  expect(await eventsOf(service, appId)).toMatchObject([{ name: '6-days' }]);
  await expectStatus(admin.delete(`/apps/${appId}`), 204);
  expect(await eventsOf(service, appId)).toEqual([]);
});
