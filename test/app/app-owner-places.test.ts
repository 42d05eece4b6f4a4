import { expect, vi } from 'vitest';
import { test } from '../support/fixture.ts';
import { deployApp } from './handler-fixture.ts';

const READ = {
  'migrations/001.sql': 'create table notes (id int)',
  'server/read.js': `export const get = async ({ query }) => (await query('select 1 as one'))[0];`,
};

test('all apps of an owner share the places of that owner, for handlers and connections', async ({
  service,
  admin,
}) => {
  const other = await service.user('maker', { permissions: ['apps:create'] });
  const owned = [await deployApp({ admin, service }, 'One', READ), await deployApp({ admin, service }, 'Two', READ)];
  const apps = [...owned, await deployApp({ admin: other, service }, 'Other', READ)];
  const runs = vi.spyOn(service.platform.sandbox, 'run');
  const queries = vi.spyOn(service.platform.workspaces, 'query');
  for (const app of apps) expect((await app.respond('server/read.js', { method: 'get' })).json).toEqual({ one: 1 });
  const owners = [admin.id, admin.id, other.id];
  expect(runs.mock.calls.map(([{ caller }]) => caller.userId)).toEqual(owners);
  expect(queries.mock.calls.map(([{ ownerId }]) => ownerId)).toEqual(owners);
  vi.restoreAllMocks();
});
