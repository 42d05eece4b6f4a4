import { afterEach, describe, expect, vi } from 'vitest';
import { newId } from '../../src/core/id.ts';
import type { Usage } from '../../src/core/usage.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError } from '../support/expect.ts';
import { test as base } from '../support/fixture.ts';
import { meterIn, tenantOf, usageOf } from '../support/usage-fixture.ts';

interface ReportWorld {
  /** May read the reports, but is not a superuser. */
  billing: Client;
  /** Ids of an app with the budget 10, and of a job of a team with the budget 0. */
  app: string;
  job: string;
  team: string;
}

const [AGENT, GONE, LIBRARY] = [newId(), newId(), newId()];

/** The reports are of this time. */
const NOW = new Date('2028-03-01T10:00:00.000Z');
const day = (time: string) => ({ occurredAt: new Date(time) });

/** Runs work at a time. */
async function at<T>(time: Date, work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ['Date'], now: time });
  return work().finally(() => vi.useRealTimers());
}
afterEach(() => void vi.useRealTimers());

const test = base.extend<ReportWorld>({
  billing: [
    async ({ service }, use) => use(await service.user('billing', { permissions: ['billing:manage'] })),
    { scope: 'file' },
  ],
  app: [
    async ({ admin, ann }, use) =>
      use((await admin.creates('/apps', { name: 'Desk', ownerId: ann.id, monthlyBudget: 10 })).id as string),
    { scope: 'file' },
  ],
  team: [
    async ({ admin }, use) => use((await admin.creates('/teams', { name: 'Readers' })).id as string),
    { scope: 'file' },
  ],
  job: [
    async ({ service, admin, ann, bob, app, team }, use) => {
      const job = await admin.creates('/jobs', {
        name: 'Nightly',
        type: 'actions',
        ownerId: `team:${team}`,
        monthlyBudget: 0,
      });
      await meterIn(service, await tenantOf(service), usageAround(ann.id!, bob.id!, app, job.id as string));
      await meterIn(service, await tenantOf(service, 'other'), [usageOf('secret:1', day('2028-03-01T00:00:00Z'))]);
      await use(job.id as string);
    },
    { scope: 'file' },
  ],
});

/** Usage around the ends of days, months and a leap day. */
function usageAround(ann: string, bob: string, app: string, job: string): Usage[] {
  const ofApp = { resource: 'app_compute', entityType: 'app', entityId: app, actor: `user:${ann}` } as const;
  const ofJob = { entityId: job, actor: `user:${bob}` } as const;
  return [
    usageOf('1', { ...ofApp, quantity: '0.0001', ...day('2028-02-28T23:59:59.999Z') }),
    usageOf('2', { ...ofApp, quantity: '100', ...day('2028-02-29T00:00:00.000Z') }),
    usageOf('3', { ...ofJob, quantity: '50', ...day('2028-02-29T23:59:59.999Z') }),
    usageOf('4', { ...ofApp, quantity: '1250', ...day('2028-03-01T00:00:00.000Z') }),
    usageOf('5', { ...ofJob, quantity: '0.0001', ...day('2028-03-01T09:59:59.999Z') }),
    usageOf('6', {
      resource: 'ai',
      quantity: '0.02',
      entityType: 'agent',
      entityId: AGENT,
      actor: `agent:${AGENT}`,
      ...day('2028-03-01T01:00:00Z'),
    }),
    usageOf('7', { entityId: GONE, quantity: '99999999999.9999', ...day('2027-12-31T23:59:59.999Z') }),
    usageOf('8', {
      resource: 'file_storage',
      quantity: '1000000000',
      entityType: 'library',
      entityId: LIBRARY,
      actor: `user:${bob}`,
      ...day('2028-01-01T00:00:00.000Z'),
    }),
  ];
}

describe('the usage report', () => {
  test('is of the current month by default, with budgets and pool', async ({ billing, app, job, ann, team }) => {
    const report = await at(NOW, async () => (await billing.get('/usage')).body);
    expect(report).toEqual({
      usageSummary: [
        { entityId: app, entityType: 'app', resourceType: 'app_compute', totalCredits: 12.5, totalEvents: 1 },
        { entityId: AGENT, entityType: 'agent', resourceType: 'ai', totalCredits: 2, totalEvents: 1 },
        { entityId: job, entityType: 'job', resourceType: 'job_compute', totalCredits: 0.000001, totalEvents: 1 },
      ],
      dailyTotals: [
        { date: '2028-03-01', resourceType: 'ai', totalCredits: 2 },
        { date: '2028-03-01', resourceType: 'app_compute', totalCredits: 12.5 },
        { date: '2028-03-01', resourceType: 'job_compute', totalCredits: 0.000001 },
      ],
      budgets: [
        {
          entityId: app,
          entityType: 'app',
          monthlyBudget: 10,
          creditsUsed: 12.5,
          isOverBudget: true,
          budgetPercent: 125,
          budgetRemaining: 0,
          entity: { name: 'Desk', slug: 'desk', ownerId: ann.id },
        },
        {
          entityId: job,
          entityType: 'job',
          monthlyBudget: 0,
          creditsUsed: 0.000001,
          isOverBudget: true,
          budgetPercent: 100,
          budgetRemaining: 0,
          entity: { name: 'Nightly', slug: 'nightly', ownerId: `team:${team}` },
        },
      ],
      creditPool: { included: 1000, used: 14.500001, remaining: 985.499999 },
      sync: { syncedAt: null, lastSyncFailedAt: null, lastSyncFailureCode: null, stalenessLevel: 'fresh' },
    });
  });

  test('includes whole UTC days from the first to the last', async ({ billing, app, job }) => {
    const datesOf = async (query: string) =>
      (await at(NOW, () => billing.get(`/usage?${query}`))).body.dailyTotals.map(
        (total: { date: string; resourceType: string; totalCredits: number }) => Object.values(total).join(' '),
      );
    expect(job).toBeTruthy();
    expect(await datesOf('startDate=2028-02-29&endDate=2028-02-29')).toEqual([
      '2028-02-29 app_compute 1',
      '2028-02-29 job_compute 0.5',
    ]);
    expect(await datesOf('startDate=2028-02-28&endDate=2028-02-28')).toEqual(['2028-02-28 app_compute 0.000001']);
    // Times name their UTC day.
    expect(await datesOf('startDate=2028-02-28T23:30:00-02:00&endDate=2028-02-29T05:00:00Z')).toHaveLength(2);
    expect(await datesOf('startDate=2027-12-31&endDate=2027-12-31')).toEqual([
      '2027-12-31 job_compute 999999999.999999',
    ]);
    expect(await datesOf('startDate=2028-02-28')).toHaveLength(6);
    // The budgets are the budgets of the current month.
    const { budgets } = (await at(NOW, () => billing.get('/usage?startDate=2020-01-01&endDate=2020-01-02'))).body;
    expect(budgets).toMatchObject([{ entityId: app, creditsUsed: 12.5 }, { entityId: job }]);
  });

  test.for([
    ['startDate=yesterday', 'startDate'],
    ['endDate=2026-02-30', 'endDate'],
    ['startDate=', 'startDate'],
    ['startDate=2026-13-01', 'startDate'],
    ['startDate=20260101', 'startDate'],
    ['startDate=2026-05-02&endDate=2026-05-01', 'endDate'],
    ['startDate=2026-01-01&endDate=2028-01-02', 'startDate'],
    ['startDate=9998-01-01', 'endDate'],
    ['from=2026-05-02', 'from'],
  ] as const)('refuses %s', async ([query, name], { billing }) => {
    await expectError(billing.get(`/usage?${query}`), 400, new RegExp(name));
  });

  test('takes two years with a leap day', async ({ billing }) => {
    // 731 days.
    await expectBody(billing.get('/usage?startDate=2026-01-01&endDate=2028-01-01'), 200, {});
    await expectGraphqlError(
      billing.gql('{ usageReport(startDate: "2026-01-01", endDate: "2028-01-02") { startDate } }'),
      'BAD_USER_INPUT',
      /731 days/,
    );
  });

  test('leads to the records in GraphQL, for callers who may read them', async ({ admin, billing, app, job, ann }) => {
    const document = `{ usageReport(startDate: "2028-02-29") {
      startDate endDate
      usageSummary { entityType resourceType totalCredits entity { __typename id } }
      budgets { entityType node { id } entity { name ownerId owner { name } } }
    } }`;
    const { usageReport } = await at(NOW, () => admin.data(document));
    expect(usageReport).toMatchObject({ startDate: '2028-02-29', endDate: '2028-03-01' });
    expect(usageReport.usageSummary[0]).toEqual({
      entityType: 'APP',
      resourceType: 'APP_COMPUTE',
      totalCredits: 13.5,
      entity: { __typename: 'App', id: app },
    });
    expect(usageReport.budgets).toEqual([
      { entityType: 'APP', node: { id: app }, entity: { name: 'Desk', ownerId: ann.id, owner: { name: 'ann' } } },
      { entityType: 'JOB', node: { id: job }, entity: expect.objectContaining({ owner: { name: 'Readers' } }) },
    ]);
    const restricted = await at(NOW, () => billing.data(document));
    expect(restricted.usageReport.usageSummary[0].entity).toBeNull();
  });
});

describe('the usage history', () => {
  test('lists months and resource types, the current month included', async ({ billing, job }) => {
    expect(job).toBeTruthy();
    const { body } = await at(NOW, () => billing.get('/usage/monthly'));
    const total = (month: string, resourceType: string, totalCredits: number, totalEvents = 1) => ({
      month,
      resourceType,
      totalCredits,
      totalEvents,
    });
    expect(body).toEqual({
      history: [
        total('2027-12', 'job_compute', 999999999.999999),
        total('2028-01', 'file_storage', 0.01),
        total('2028-02', 'app_compute', 1.000001, 2),
        total('2028-02', 'job_compute', 0.5),
        total('2028-03', 'ai', 2),
        total('2028-03', 'app_compute', 12.5),
        total('2028-03', 'job_compute', 0.000001),
      ],
      creditPool: { included: 1000, used: 14.500001, remaining: 985.499999 },
    });
    const monthsOf = async (months: number) =>
      (await at(NOW, () => billing.get(`/usage/monthly?months=${months}`))).body.history.length as number;
    expect(await monthsOf(1)).toBe(3);
    expect(await monthsOf(2)).toBe(5);
    expect(await monthsOf(3)).toBe(6);
    expect(await monthsOf(24)).toBe(7);
    // At the end of a month, earlier ones are not skipped.
    const end = await at(new Date('2028-03-31T23:59:59.999Z'), () => billing.get('/usage/monthly?months=2'));
    expect(end.body.history).toHaveLength(5);
  });

  test.for(['0', '25', '-1', '1.5', 'x'])('refuses %s months', async (months, { billing }) => {
    await expectError(billing.get(`/usage/monthly?months=${months}`), 400, /months/);
  });
});

describe('the top consumers', () => {
  test('are sorted by credits, even if they were deleted', async ({ billing, app, job, ann, bob }) => {
    const { body } = await at(NOW, () => billing.get('/usage/top-consumers?days=365'));
    expect(body).toMatchObject({ windowDays: 365, startDate: '2027-03-03', endDate: '2028-03-01' });
    const consumer = (entityType: string, entityId: string, name: string | null, credits: number, events: number) => ({
      entityId,
      entityType,
      name,
      slug: name?.toLowerCase() ?? null,
      totalCredits: credits,
      totalEvents: events,
    });
    expect(body.topApps).toEqual([
      consumer('job', GONE, null, 999999999.999999, 1),
      consumer('app', app, 'Desk', 13.500001, 3),
      consumer('agent', AGENT, null, 2, 1),
      consumer('job', job, 'Nightly', 0.500001, 2),
    ]);
    expect(body.topUsers).toEqual([
      expect.objectContaining({ actorType: 'user', displayName: null, totalCredits: 999999999.999999 }),
      { actor: `user:${ann.id}`, actorType: 'user', displayName: 'ann', totalCredits: 13.500001, totalEvents: 3 },
      { actor: `agent:${AGENT}`, actorType: 'agent', displayName: null, totalCredits: 2, totalEvents: 1 },
      { actor: `user:${bob.id}`, actorType: 'user', displayName: 'bob', totalCredits: 0.510001, totalEvents: 3 },
    ]);
  });

  test('are of the last days, today included', async ({ billing, app, ann }) => {
    const { body } = await at(NOW, () => billing.get('/usage/top-consumers?days=1&limit=1'));
    expect(body).toMatchObject({
      windowDays: 1,
      startDate: '2028-03-01',
      endDate: '2028-03-01',
      topApps: [{ entityId: app, totalCredits: 12.5 }],
      topUsers: [{ actor: `user:${ann.id}` }],
    });
    expect([body.topApps.length, body.topUsers.length]).toEqual([1, 1]);
    const byDefault = await at(NOW, () =>
      billing.data(`{ topConsumers {
      windowDays startDate topApps { name entity { id } } topUsers { displayName user { username } }
    } }`),
    );
    expect(byDefault.topConsumers).toMatchObject({ windowDays: 30, startDate: '2028-02-01' });
    expect(byDefault.topConsumers.topUsers[0]).toEqual({ displayName: 'ann', user: { username: 'ann' } });
  });

  test.for(['days=0', 'days=366', 'limit=0', 'limit=51', 'days=x'])('refuses %s', async (query, { billing }) => {
    await expectError(billing.get(`/usage/top-consumers?${query}`), 400, new RegExp(query.split('=')[0]!));
  });
});

const ROUTES = ['/usage', '/usage/monthly', '/usage/top-consumers'];

test('reports are for callers with billing:manage', async ({ service, ann, admin, anonymous }) => {
  for (const route of ROUTES) {
    await expectError(ann.get(route), 403, /billing:manage/);
    await expectError(anonymous.get(route), 401, 'Missing authentication');
    await expectBody(admin.get(route), 200, {});
  }
  const readOnly = await service.user('reader', { permissions: ['billing:manage'], scopes: ['read'] });
  await expectBody(readOnly.get('/usage'), 200, {});
});

test('reports of a tenant without usage are empty', async ({ service }) => {
  const fresh = await service.user('fresh', { tenant: 'other', superuser: true });
  const later = new Date('2030-01-01T00:00:00Z');
  const [report, monthly, top] = await at(later, async () =>
    Promise.all(ROUTES.map(async (route) => (await fresh.get(route)).body)),
  );
  const creditPool = { included: 1000, used: 0, remaining: 1000 };
  expect(report).toMatchObject({ usageSummary: [], dailyTotals: [], budgets: [], creditPool });
  expect(monthly).toMatchObject({ history: expect.any(Array), creditPool });
  expect(top).toEqual({ windowDays: 30, startDate: '2029-12-03', endDate: '2030-01-01', topApps: [], topUsers: [] });
});
