import pg from 'pg';
import { expect, test } from 'vitest';
import { appsUrl, outcomeOf, schemaOf, useWorkspaces } from './workspace-fixture.ts';

const own = useWorkspaces();

test('a visitor leaves a connection of an owner to the others', async () => {
  const [one, two] = [await own.create(), await own.create()];
  const locker = new pg.Client({ connectionString: appsUrl(own.database.url) });
  await locker.connect();
  await locker.query('select pg_advisory_lock(16)');
  const greedy = Array.from({ length: 8 }, () =>
    outcomeOf(
      own.run({ ...one, ownerId: 'ann', visitorId: 'bob' }, 'select 1 as one from pg_advisory_xact_lock_shared(16)'),
    ),
  );
  const waiting = async () =>
    (await own.sql(`select from pg_stat_activity where usename = $1 and wait_event = 'advisory'`, [schemaOf(one)]))
      .length;
  await expect.poll(waiting).toBeGreaterThanOrEqual(6);
  const seen = own.run({ ...two, ownerId: 'ann', visitorId: 'mia' }, 'select 1 as one').then(waiting);
  await expect(seen).resolves.toBe(6);
  await locker.end();
  expect(await Promise.all(greedy)).toEqual(Array.from({ length: 8 }, () => ({ rows: [{ one: 1 }] })));
});
