import { randomBytes } from 'node:crypto';
import type { Context } from '../../core/context.ts';
import { newId } from '../../core/id.ts';
import type { Usage, UsageEntityType, UsageResource } from '../../core/usage.ts';
import * as users from '../../services/identity/user.ts';
import { meter } from '../../services/usage/usage-meter.ts';

/** Days before today that have usage of the demo. Today has none, so that their sums do not change. */
const DAYS = 28;
const DAY_MS = 86_400_000;

/** People of the demo, who cannot log in. */
const PEOPLE = [
  { username: 'lena', displayName: 'Lena of the demo' },
  { username: 'omar', displayName: 'Omar of the demo' },
] as const;

/** Ids of the resources that usage is charged to. */
interface ChargedIds {
  jobId: string;
  appId: string;
  assistantId: string;
}

/** Usage on some of the days, counted back from today. */
interface DemoUsage {
  actor: string;
  entityType: UsageEntityType;
  entityId: string;
  resource: UsageResource;
  /** In the unit of the resource type, on each of the days. */
  quantity: string;
  days: readonly number[];
}

/**
 * Adds four weeks of usage to the ledger, in round figures that a reader can add up: 16 credits of the app, 14 of the job, 16
 * of two people for images of their own, and 8 of the assistant for images. Their events have `demo` in their metadata.
 * Returns the credits of all; null if the demo had them before.
 */
export async function createDemoUsage(ctx: Context, ids: ChargedIds): Promise<number | null> {
  const [former] = await ctx.query({
    text: `select from dws.usage_event where tenant_id = $1 and key like 'demo:%' limit 1`,
    values: [ctx.viewer.tenantId],
  });
  if (former) return null;
  const events = usageOf(ctx.viewer.userId, ids, await createPeople(ctx)).flatMap(eventsOf);
  await ctx.transaction(async (tx) => meter(ctx.viewer, tx, events));
  const [sum] = await ctx.query<{ credits: number }>({
    text: `select sum(credits)::float8 as credits from dws.usage_event where tenant_id = $1 and key like 'demo:%'`,
    values: [ctx.viewer.tenantId],
  });
  return sum!.credits;
}

const every = (interval: number): number[] =>
  Array.from({ length: Math.floor(DAYS / interval) }, (_, index) => (index + 1) * interval);

function usageOf(adminId: string, { jobId, appId, assistantId }: ChargedIds, people: readonly string[]): DemoUsage[] {
  const [lena, omar] = people as [string, string];
  const image = { resource: 'ai', quantity: '0.04' } as const;
  return [
    // 50 s each night, 0.5 credits.
    {
      actor: adminId,
      entityType: 'job',
      entityId: jobId,
      resource: 'job_compute',
      quantity: '50',
      days: every(1),
    },
    // 400 s a week, 4 credits.
    {
      actor: adminId,
      entityType: 'app',
      entityId: appId,
      resource: 'app_compute',
      quantity: '400',
      days: every(7),
    },
    // Images for 4 US cents, 4 credits, each.
    { actor: lena, entityType: 'user', entityId: lena, ...image, days: [3, 10, 17] },
    { actor: omar, entityType: 'user', entityId: omar, ...image, days: [5] },
    { actor: lena, entityType: 'assistant', entityId: assistantId, ...image, days: [2, 9] },
  ];
}

function eventsOf({ actor, days, ...usage }: DemoUsage): Usage[] {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  return days.map((day) => ({
    ...usage,
    key: `demo:${newId()}`,
    actor: `user:${actor}` as const,
    metadata: { demo: true },
    occurredAt: new Date(today - day * DAY_MS + DAY_MS / 2),
  }));
}

/** Creates the people of the demo where they are missing. Returns their ids. */
async function createPeople(ctx: Context): Promise<string[]> {
  const ids: string[] = [];
  for (const person of PEOPLE) {
    const [found] = await ctx.query<{ id: string }>({
      text: `select id from dws.app_user where tenant_id = $1 and lower(username) = $2`,
      values: [ctx.viewer.tenantId, person.username],
    });
    const password = randomBytes(24).toString('base64url');
    ids.push(found?.id ?? (await users.create(ctx, { ...person, password, enabled: false })));
  }
  return ids;
}
