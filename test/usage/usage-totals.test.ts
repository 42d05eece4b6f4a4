import fc from 'fast-check';
import { expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { creditsOf, USAGE_RESOURCE_TYPES, type Usage } from '../../src/core/usage.ts';
import { mergeUsage } from '../../src/operations/usage-merge.ts';
import { meter } from '../../src/services/usage/usage-meter.ts';
import { test } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { eventsOf, tenantOf, WRONG_TOTALS } from '../support/usage-fixture.ts';

/*
 * Any interleaving of usage, repeated keys, failures and lost connections leaves the totals of each day equal to the sums
 * of the events.
 */

const SEED = 2021;
const ROUNDS = 30;
/** Keys of a round. Half of them are keys of the next round too. */
const KEYS = 12;

const ACTORS = [`user:${newId()}`, `user:${newId()}`, `agent:${newId()}`] as const;
const ENTITIES = [newId(), newId()] as const;
const DAYS = ['2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00.000Z', '2028-02-29T12:00:00.000Z'] as const;

/** How a transaction ends. */
type Ending = 'commit' | 'throw' | 'lose the connection';
interface Work {
  tenant: number;
  ending: Ending;
  usage: Usage[];
}

const quantity = fc
  .tuple(fc.nat({ max: 99_999 }), fc.nat({ max: 999_999_999 }))
  .map(([whole, fraction]) => `${whole}.${String(fraction).padStart(9, '0')}`);

const usage: fc.Arbitrary<Usage> = fc.record({
  key: fc.nat({ max: KEYS - 1 }).map(String),
  resource: fc.constantFrom(...USAGE_RESOURCE_TYPES.map(({ slug }) => slug)),
  quantity,
  actor: fc.constantFrom(...ACTORS),
  entityType: fc.constantFrom('job' as const, 'app' as const),
  entityId: fc.constantFrom(...ENTITIES),
  occurredAt: fc.constantFrom(...DAYS).map((day) => new Date(day)),
});

const work: fc.Arbitrary<Work> = fc.record({
  tenant: fc.nat({ max: 1 }),
  ending: fc.constantFrom<Ending>('commit', 'commit', 'commit', 'throw', 'lose the connection'),
  usage: fc.array(usage, { minLength: 1, maxLength: 10 }),
});

/** Runs a transaction to its ending. Throws if it ends otherwise. */
async function run({ platform, databaseUrl }: Service, tenantId: string, { ending, usage: used }: Work): Promise<void> {
  const ended = platform.database.transaction(tenantId, async (tx) => {
    meter({ tenantId }, tx, used);
    if (ending === 'commit') return;
    const [backend] = await tx.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' });
    if (ending === 'throw') throw new Error('The work failed');
    await runSql(databaseUrl, 'select pg_terminate_backend($1, 10000)', [backend!.pid]);
  });
  if (ending === 'commit') return ended;
  await expect(ended).rejects.toThrow(ending === 'throw' ? 'The work failed' : 'The database does not respond');
}

test(
  'the totals of each day are the sums of its events, whatever happens',
  { timeout: 300_000 },
  async ({ service }) => {
    const tenants = [await tenantOf(service, 'default'), await tenantOf(service, 'other')];
    /** The usage with each key of each tenant that was committed: the first one is in the ledger. */
    const committed = tenants.map(() => new Map<string, Usage[]>());
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(work, { minLength: 2, maxLength: 12 }), async (works) => {
        const first = (round++ * KEYS) / 2;
        const keyed = works.map((one) => ({
          ...one,
          usage: one.usage.map((used) => ({ ...used, key: `key:${first + Number(used.key)}` })),
        }));
        // Two workers merge the totals during this.
        const merges = [1, 2, 3, 4].map(() => mergeUsage(service.platform, new Date(0)));
        await Promise.all([...keyed.map((one) => run(service, tenants[one.tenant]!, one)), ...merges]);
        for (const { tenant, ending, usage: used } of keyed)
          if (ending === 'commit')
            for (const one of used) {
              const known = committed[tenant]!;
              known.set(one.key, [...(known.get(one.key) ?? []), one]);
            }
        expect(await systemQuery(service, WRONG_TOTALS)).toEqual([]);
        for (const [index, tenant] of tenants.entries()) {
          const events = await eventsOf(service, tenant);
          expect(events.map(({ key }) => key)).toEqual([...committed[index]!.keys()].toSorted());
          for (const { key, quantity: stored, credits } of events) {
            const candidates = committed[index]!.get(key)!;
            expect(candidates.map((one) => [one.quantity, creditsOf(one.resource, one.quantity)])).toContainEqual([
              stored,
              credits,
            ]);
          }
        }
      }),
      { numRuns: ROUNDS, seed: SEED, endOnFailure: true },
    );
    const [counts] = await systemQuery<{ events: number; days: number }>(
      service,
      'select sum(events)::int as events, count(*)::int as days from dws.usage_day',
    );
    expect(counts!.events).toBeGreaterThan(200);
    expect(counts!.days).toBeGreaterThan(50);
    await mergeUsage(service.platform, new Date(0));
    expect(
      await systemQuery(
        service,
        `select from dws.usage_day group by tenant_id, day, actor, entity_type, entity_id, resource_type having count(*) > 1`,
      ),
    ).toEqual([]);
    expect(await systemQuery(service, WRONG_TOTALS)).toEqual([]);
  },
);

test('transactions never wait for each other in a circle', async ({ service }) => {
  const tenantId = await tenantOf(service, 'other');
  // Slow inserts, so that transactions meet: without an order each would have keys for which the other waits.
  await runSql(
    service.databaseUrl,
    `create function public.slow() returns trigger language plpgsql as 'begin perform pg_sleep(0.01); return new; end';
    create trigger slow before insert on dws.usage_event for each row execute function public.slow();
    create trigger slow before insert on dws.usage_day for each row execute function public.slow();`,
  );
  const used = (index: number): Usage => ({
    key: `circle:${String(index).padStart(2, '0')}`,
    resource: USAGE_RESOURCE_TYPES[index % 8]!.slug,
    quantity: '1',
    actor: ACTORS[index % 3]!,
    entityType: 'job',
    entityId: ENTITIES[index % 2]!,
  });
  const indexes = Array.from({ length: 12 }, (_, index) => index);
  const orders = [indexes, indexes.toReversed(), [...indexes.slice(6), ...indexes.slice(0, 6)]];
  // The keys of the last one are its own: it waits for none.
  const own = indexes.toReversed().map((index) => ({ ...used(index), key: `own:${index}` }));
  await Promise.all(
    [...orders.map((order) => order.map(used)), own].map((all) =>
      service.platform.database.transaction(tenantId, async (tx) => meter({ tenantId }, tx, all)),
    ),
  );
  const keys = (await eventsOf(service, tenantId)).map(({ key }) => key);
  expect(keys.filter((key) => key.startsWith('circle:'))).toHaveLength(12);
  expect(keys.filter((key) => key.startsWith('own:'))).toHaveLength(12);
  expect(await systemQuery(service, WRONG_TOTALS)).toEqual([]);
});
