import { describe, expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { reconcile } from '../../src/operations/reconciler.ts';
import { meter } from '../../src/services/usage/usage-meter.ts';
import { QUICK } from '../operation/platform.ts';
import { test as base } from '../support/fixture.ts';
import { recordRoundTrips } from '../support/round-trips.ts';
import { runSql } from '../support/run-sql.ts';
import { startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { eventsOf, meterIn, tenantOf, totalsOf, usageOf, WRONG_TOTALS } from '../support/usage-fixture.ts';

/** A service whose own janitor does not run. */
const test = base.extend<{ service: Service }>({
  service: [
    async ({}, use) => {
      const service = await startService({ ROLE: 'web' });
      await use(service);
      await service.close();
    },
    { scope: 'file' },
  ],
});

const APPEND_ONLY = 'The usage ledger is append-only';

/** Creates a tenant with an empty ledger. Returns its id. */
async function newTenant(service: Service): Promise<string> {
  const id = newId();
  await systemQuery(service, 'insert into dws.tenant (id, slug) values ($1, $2)', id, `tenant-${id}`);
  return id;
}

describe('metering', () => {
  test('appends an event with its credits, and adds it to the totals of its day', async ({ service }) => {
    const tenant = await newTenant(service);
    const occurredAt = new Date('2028-02-29T12:00:00.000Z');
    await meterIn(service, tenant, [
      usageOf('job:1', { quantity: '12.345', metadata: { actions: 3 }, occurredAt }),
      usageOf('job:2', { quantity: '0.000049999', occurredAt }),
    ]);
    await meterIn(service, tenant, [usageOf('job:3', { quantity: '100', occurredAt })]);
    expect(await eventsOf(service, tenant)).toEqual([
      { key: 'job:1', quantity: '12.345000000', credits: '0.123450', day: '2028-02-29' },
      { key: 'job:2', quantity: '0.000049999', credits: '0.000000', day: '2028-02-29' },
      { key: 'job:3', quantity: '100.000000000', credits: '1.000000', day: '2028-02-29' },
    ]);
    expect(await totalsOf(service, tenant)).toEqual([
      { day: '2028-02-29', resource: 'job_compute', quantity: '112.345049999', credits: '1.123450', events: 3 },
    ]);
    const [stored] = await systemQuery(
      service,
      `select actor_type, entity_type, resource_type, metadata from dws.usage_event where tenant_id = $1 and key = 'job:1'`,
      tenant,
    );
    expect(stored).toEqual({
      actor_type: 'user',
      entity_type: 'job',
      resource_type: 'job_compute',
      metadata: { actions: 3 },
    });
  });

  test('adds nothing for a key that the ledger of the tenant has', async ({ service }) => {
    const [tenant, other] = [await newTenant(service), await newTenant(service)];
    const occurredAt = new Date('2026-03-01T00:00:00.000Z');
    const day = '2026-03-01';
    // Repeated within a call, by a later one with another quantity and day, and by several concurrently.
    await meterIn(service, tenant, [usageOf('job:1', { occurredAt }), usageOf('job:1', { occurredAt })]);
    await meterIn(service, tenant, [usageOf('job:1', { quantity: '9', occurredAt: new Date('2026-04-01T00:00:00Z') })]);
    await Promise.all(
      Array.from({ length: 8 }, () =>
        meterIn(service, tenant, [usageOf('job:2', { occurredAt }), usageOf('job:1', { occurredAt })]),
      ),
    );
    await meterIn(service, other, [usageOf('job:1', { quantity: '7', occurredAt })]);
    const one = { quantity: '1.000000000', credits: '0.010000', day };
    expect(await eventsOf(service, tenant)).toEqual([
      { key: 'job:1', ...one },
      { key: 'job:2', ...one },
    ]);
    expect(await totalsOf(service, tenant)).toEqual([
      { day, resource: 'job_compute', quantity: '2.000000000', credits: '0.020000', events: 2 },
    ]);
    expect(await totalsOf(service, other)).toEqual([
      { day, resource: 'job_compute', quantity: '7.000000000', credits: '0.070000', events: 1 },
    ]);
  });

  test('counts usage to the UTC day of its time', async ({ service }) => {
    const tenant = await newTenant(service);
    const times = [
      '2027-12-31T23:59:59.999Z',
      '2028-01-01T00:00:00.000Z',
      '2028-02-28T23:59:59.999Z',
      '2028-02-29T00:00:00Z',
    ];
    await meterIn(
      service,
      tenant,
      times.map((time, index) => usageOf(`job:${index}`, { occurredAt: new Date(time) })),
    );
    expect((await eventsOf(service, tenant)).map(({ day }) => day)).toEqual([
      '2027-12-31',
      '2028-01-01',
      '2028-02-28',
      '2028-02-29',
    ]);
    expect((await totalsOf(service, tenant)).map(({ day, events }) => [day, events])).toEqual([
      ['2027-12-31', 1],
      ['2028-01-01', 1],
      ['2028-02-28', 1],
      ['2028-02-29', 1],
    ]);
  });

  test('is undone with its transaction', async ({ service }) => {
    const tenant = await newTenant(service);
    const undone = service.platform.database.transaction(tenant, async (tx) => {
      meter({ tenantId: tenant }, tx, [usageOf('job:1')]);
      expect(await tx.query({ text: 'select key from dws.usage_event' })).toEqual([{ key: 'job:1' }]);
      throw new Error('The run failed');
    });
    await expect(undone).rejects.toThrow('The run failed');
    expect([await eventsOf(service, tenant), await totalsOf(service, tenant)]).toEqual([[], []]);
    await meterIn(service, tenant, [usageOf('job:1')]);
    expect(await eventsOf(service, tenant)).toHaveLength(1);
  });

  test('takes no round trip of its own', async ({ service }) => {
    const tenant = await newTenant(service);
    await meterIn(service, tenant, []);
    const trips = await recordRoundTrips(() => meterIn(service, tenant, [usageOf('job:1'), usageOf('job:2')]));
    expect(trips).toHaveLength(1);
    expect(trips[0]!.filter((text) => text.includes('into dws.usage_event'))).toHaveLength(1);
    expect(trips[0]!.at(-1)).toBe('commit');
  });

  test('is one call in a transaction; a second one fails', async ({ service }) => {
    const tenant = await newTenant(service);
    const twice = service.platform.database.transaction(tenant, async (tx) => {
      meter({ tenantId: tenant }, tx, []);
      meter({ tenantId: tenant }, tx, [usageOf('job:1')]);
      meter({ tenantId: tenant }, tx, [usageOf('job:2')]);
    });
    await expect(twice).rejects.toThrow('This transaction has metered already: meter everything with one call');
    expect(await eventsOf(service, tenant)).toEqual([]);
  });

  test.for([
    ['a quantity that is not a decimal', { quantity: '1e3' }, /is not a decimal/],
    ['an actor that is neither user nor agent', { actor: `team:${newId()}` as never }, /usage_event_actor_check/],
    ['an actor without an id', { actor: 'user:ann' as const }, /invalid input syntax for type uuid/],
    ['a key of no characters', { key: '' }, /usage_event_key_check/],
    ['a tenant of others', { tenant: 'other' }, /row-level security/],
  ] as const)('refuses %s', async ([, values, message], { service }) => {
    const tenant = await newTenant(service);
    const { tenant: slug, ...usage } = values as { tenant?: string };
    const tenantId = slug === undefined ? tenant : await tenantOf(service, slug);
    const refused = service.platform.database.transaction(tenant, async (tx) =>
      meter({ tenantId }, tx, [usageOf('job:1'), usageOf('job:2', usage)]),
    );
    await expect(refused).rejects.toThrow(message);
    expect(await eventsOf(service, tenantId)).toEqual([]);
    expect(await totalsOf(service, tenantId)).toEqual([]);
  });
});

describe('the database', () => {
  const UPDATE = 'update dws.usage_event set credits = 0';
  const DELETE = 'delete from dws.usage_event';
  const TRUNCATE = 'truncate dws.usage_event';
  const DENIED = 'permission denied for table usage_event';

  test.for([
    ['dws_app', UPDATE, DENIED],
    ['dws_app', DELETE, DENIED],
    ['dws_app', TRUNCATE, DENIED],
    ['dws_system', UPDATE, DENIED],
    ['dws_system', DELETE, APPEND_ONLY],
    ['dws_system', TRUNCATE, DENIED],
    ['the owner', UPDATE, APPEND_ONLY],
    ['the owner', `${UPDATE} where false`, APPEND_ONLY],
    ['the owner', DELETE, APPEND_ONLY],
    ['the owner', TRUNCATE, APPEND_ONLY],
  ])('refuses as %s: %s', async ([role, statement, message], { service }) => {
    const tenant = await newTenant(service);
    await meterIn(service, tenant, [usageOf('job:1')]);
    const as = role === 'the owner' ? '' : `set role ${role}; set app.tenant = '${tenant}';`;
    await expect(runSql(service.databaseUrl, `${as} ${statement}`)).rejects.toThrow(message!);
    expect(await eventsOf(service, tenant)).toMatchObject([{ key: 'job:1', credits: '0.010000' }]);
  });

  test.for(['dws_app', 'dws_system'])(
    'refuses changes as %s, even if the grants are wrong',
    async (role, { service }) => {
      const tenant = await newTenant(service);
      await meterIn(service, tenant, [usageOf('job:1')]);
      for (const statement of [UPDATE, DELETE, TRUNCATE])
        await expect(
          runSql(
            service.databaseUrl,
            `begin; grant all on dws.usage_event to ${role}; set local role ${role}; set local app.tenant = '${tenant}';
          ${statement}`,
          ),
          statement,
        ).rejects.toThrow(APPEND_ONLY);
    },
  );

  test('lets the janitor delete whole days after 25 months, with their totals', async ({ service }) => {
    const tenant = await newTenant(service);
    const [kept] = await systemQuery<{ since: Date; today: Date }>(
      service,
      `select dws.usage_kept_since() as since, date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' as today`,
    );
    const { since, today } = kept!;
    const expected = new Date(today);
    expected.setUTCMonth(expected.getUTCMonth() - 25);
    // The day is cut where a month is shorter.
    if (expected.getUTCDate() === today.getUTCDate()) expect(since).toEqual(expected);
    const times = [since.getTime() - 86_400_000, since.getTime() - 1, since.getTime(), since.getTime() + 1];
    await meterIn(
      service,
      tenant,
      times.map((time, index) => usageOf(`job:${index}`, { occurredAt: new Date(time) })),
    );
    await expect(
      runSql(service.databaseUrl, `set role dws_system; delete from dws.usage_event where tenant_id = '${tenant}'`),
    ).rejects.toThrow(APPEND_ONLY);
    expect(await eventsOf(service, tenant)).toHaveLength(4);
    await reconcile(service.platform, {}, { ...QUICK, orphanAge: 600_000 });
    expect((await eventsOf(service, tenant)).map(({ key }) => key)).toEqual(['job:2', 'job:3']);
    expect(await totalsOf(service, tenant)).toEqual([
      {
        day: since.toISOString().slice(0, 10),
        resource: 'job_compute',
        quantity: '2.000000000',
        credits: '0.020000',
        events: 2,
      },
    ]);
    expect(await systemQuery(service, WRONG_TOTALS)).toEqual([]);
  });

  test('shows the totals of its tenant only, as the role of requests, and refuses to change them', async ({
    service,
  }) => {
    const [tenant, other] = [await newTenant(service), await newTenant(service)];
    for (const id of [tenant, other]) await meterIn(service, id, [usageOf('job:1')]);
    const { database } = service.platform;
    for (const table of ['usage_event', 'usage_day'])
      expect(await database.query(tenant, { text: `select distinct tenant_id from dws.${table}` })).toEqual([
        { tenant_id: tenant },
      ]);
    for (const text of ['update dws.usage_day set events = events', 'delete from dws.usage_day'])
      await expect(database.query(tenant, { text }), text).rejects.toThrow(/permission denied/);
  });
});
