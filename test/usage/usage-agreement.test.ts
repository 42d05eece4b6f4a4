import fc from 'fast-check';
import { expect, vi } from 'vitest';
import { newId } from '../../src/core/id.ts';
import type { Usage } from '../../src/core/usage.ts';
import { mergeUsage } from '../../src/operations/usage-merge.ts';
import { test } from '../support/fixture.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { meterIn, tenantOf } from '../support/usage-fixture.ts';

/* The reports agree with each other and with naive sums over the events, whatever is metered. */

const SEED = 15;
const ROUNDS = 8;
const NOW = new Date('2028-03-01T12:00:00.000Z');

/** Times around midnight, the ends of months and years, and a leap day; not after `NOW`. */
const TIMES = [
  '2026-04-01T00:00:00.000Z',
  '2027-03-31T23:59:59.999Z',
  '2027-04-01T00:00:00.000Z',
  '2027-12-31T23:59:59.999Z',
  '2028-01-01T00:00:00.000Z',
  '2028-02-01T00:00:00.000Z',
  '2028-02-28T23:59:59.999Z',
  '2028-02-29T00:00:00.000Z',
  '2028-02-29T23:59:59.999Z',
  '2028-03-01T00:00:00.000Z',
  '2028-03-01T11:59:59.999Z',
];
const ACTORS = [`user:${newId()}`, `user:${newId()}`, `agent:${newId()}`] as const;
const ENTITIES = Array.from({ length: 4 }, newId);

const usage: fc.Arbitrary<Usage> = fc.record({
  key: fc.uuid(),
  resource: fc.constantFrom('ai' as const, 'job_compute' as const, 'file_storage' as const, 'agent_run' as const),
  quantity: fc
    .tuple(fc.nat({ max: 99_999 }), fc.nat({ max: 999_999_999 }))
    .map(([whole, fraction]) => `${whole}.${String(fraction).padStart(9, '0')}`),
  actor: fc.constantFrom(...ACTORS),
  entityType: fc.constantFrom('job' as const, 'app' as const, 'library' as const, 'agent' as const),
  entityId: fc.constantFrom(...ENTITIES),
  occurredAt: fc.constantFrom(...TIMES).map((time) => new Date(time)),
});

interface Event extends Record<string, unknown> {
  day: string;
  actor: string;
  entity: string;
  entityType: string;
  resource: string;
  /** Credits in millionths. */
  credits: string;
}

/** Sums the events by a text. Credits are in millionths. */
function sumBy(events: readonly Event[], keyOf: (event: Event) => string): Record<string, [bigint, number]> {
  const sums: Record<string, [bigint, number]> = {};
  for (const event of events) {
    const [credits, count] = sums[keyOf(event)] ?? [0n, 0];
    sums[keyOf(event)] = [credits + BigInt(event.credits), count + 1];
  }
  return sums;
}

interface Line {
  totalCredits: number;
  totalEvents?: number;
}

/** Returns lines of a report like `sumBy`. */
const sumsOf = <T extends Line>(lines: readonly T[], keyOf: (line: T) => string): Record<string, [bigint, number]> =>
  Object.fromEntries(
    lines.map((line) => [keyOf(line), [BigInt(Math.round(line.totalCredits * 1e6)), line.totalEvents ?? 0]]),
  );

const eventsOf = (service: Service, tenantId: string): Promise<Event[]> =>
  systemQuery<Event>(
    service,
    `select (occurred_at at time zone 'UTC')::date::text as day, actor, entity_id as entity, entity_type as "entityType",
       resource_type as resource, (credits * 1000000)::bigint::text as credits
     from dws.usage_event where tenant_id = $1`,
    tenantId,
  );

const withoutCounts = (sums: Record<string, [bigint, number]>) =>
  Object.fromEntries(Object.entries(sums).map(([key, [credits]]) => [key, [credits, 0]]));

test('reports agree with the events and with each other', async ({ service, admin }) => {
  const tenantId = await tenantOf(service);
  await fc.assert(
    fc.asyncProperty(fc.array(usage, { minLength: 1, maxLength: 40 }), async (used) => {
      await Promise.all(used.map((one) => meterIn(service, tenantId, [one])));
      if (used.length % 2 === 0) await mergeUsage(service.platform, new Date(0));
      const events = await eventsOf(service, tenantId);
      vi.useFakeTimers({ toFake: ['Date'], now: NOW });
      const [month, leap, history, top] = await Promise.all(
        [
          '/usage',
          '/usage?startDate=2027-03-03&endDate=2028-03-01',
          '/usage/monthly?months=24',
          '/usage/top-consumers?days=365&limit=50',
        ].map(async (path) => (await admin.get(path)).body),
      ).finally(() => vi.useRealTimers());

      for (const [report, start] of [
        [month, '2028-03-01'],
        [leap, '2027-03-03'],
      ] as const) {
        const within = events.filter(({ day }) => day >= start);
        expect(
          sumsOf(report.usageSummary, (line: any) => `${line.entityType} ${line.entityId} ${line.resourceType}`),
        ).toEqual(sumBy(within, ({ entityType, entity, resource }) => `${entityType} ${entity} ${resource}`));
        expect(sumsOf(report.dailyTotals, (line: any) => `${line.date} ${line.resourceType}`)).toEqual(
          withoutCounts(sumBy(within, ({ day, resource }) => `${day} ${resource}`)),
        );
      }
      expect(sumsOf(history.history, (line: any) => `${line.month} ${line.resourceType}`)).toEqual(
        sumBy(events, ({ day, resource }) => `${day.slice(0, 7)} ${resource}`),
      );
      const year = events.filter(({ day }) => day >= '2027-03-03');
      expect(sumsOf(top.topUsers, (line: any) => line.actor)).toEqual(sumBy(year, ({ actor }) => actor));
      expect(sumsOf(top.topApps, (line: any) => `${line.entityType} ${line.entityId}`)).toEqual(
        sumBy(
          year.filter(({ entityType }) => entityType !== 'library'),
          ({ entityType, entity }) => `${entityType} ${entity}`,
        ),
      );
      const current = sumBy(
        events.filter(({ day }) => day >= '2028-03-01'),
        () => 'all',
      );
      expect(BigInt(Math.round(month.creditPool.used * 1e6))).toBe(current['all']?.[0] ?? 0n);
      expect([leap.creditPool, history.creditPool]).toEqual([month.creditPool, month.creditPool]);
      // Descending.
      for (const lines of [month.usageSummary, leap.usageSummary, top.topApps, top.topUsers] as Line[][])
        expect(lines).toEqual(lines.toSorted((one, other) => other.totalCredits - one.totalCredits));
    }),
    { numRuns: ROUNDS, seed: SEED, endOnFailure: true },
  );
});
