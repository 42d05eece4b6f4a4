import { expect } from 'vitest';
import { warnOfBudgets } from '../../src/operations/budget-warnings.ts';
import type { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import { startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { meterIn, tenantOf, usageOf } from '../support/usage-fixture.ts';

const [JUNE, JULY] = [new Date('2027-06-30T23:59:59.999Z'), new Date('2027-07-01T00:00:00.000Z')];

/** Returns the warnings of a user: message and resource. */
const warningsOf = async (client: Client): Promise<string[]> => {
  const { notifications } = await client.data(
    '{ notifications(sort: "createdAt") { items { type message resource { kind id } } } }',
  );
  return notifications.items.map(
    ({ type, message, resource }: { type: string; message: string; resource: { kind: string; id: string } }) =>
      `${type} ${resource.kind} ${resource.id} ${message}`,
  );
};

/** Meters seconds of an entity. */
const use = async (service: Service, entityType: 'app' | 'job', entityId: string, seconds: string, occurredAt: Date) =>
  meterIn(service, await tenantOf(service), [
    usageOf(`${entityId}:${seconds}`, { entityType, entityId, quantity: seconds, occurredAt }),
  ]);

test('an exceeded budget is reported once a month to its owner and to those who manage billing', async ({
  service,
  admin,
  ann,
  bob,
}) => {
  const billing = await service.user('billing', { permissions: ['billing:manage'] });
  const member = await service.user('member');
  const gone = await service.user('gone', { permissions: ['billing:manage'] });
  await admin.put('/users/gone', { enabled: false });
  const team = (await admin.creates('/teams', { name: 'Readers' })).id as string;
  await admin.put(`/teams/${team}/members/bob`, { role: 'admin' });
  await admin.put(`/teams/${team}/members/member`, { role: 'memberPlus' });
  const app = (await admin.creates('/apps', { name: 'Desk', ownerId: ann.id, monthlyBudget: 1.5 })).id as string;
  const job = (
    await admin.creates('/jobs', { name: 'Nightly', type: 'actions', ownerId: `team:${team}`, monthlyBudget: 0 })
  ).id as string;
  await admin.creates('/apps', { name: 'Within', ownerId: ann.id, monthlyBudget: 0 });
  const free = (await admin.creates('/apps', { name: 'Free', ownerId: ann.id })).id as string;
  await use(service, 'app', free, '100000', JUNE);
  // Exactly the budget.
  await use(service, 'app', app, '150', JUNE);
  const other = await startService({ ROLE: 'web' }, { databaseUrl: service.databaseUrl });
  const pass = (now: Date) =>
    Promise.all([service, other, service].map(({ platform }) => warnOfBudgets(platform, now)));
  await pass(JUNE);
  expect(await warningsOf(ann)).toEqual([]);

  await use(service, 'app', app, '0.01', JUNE);
  await use(service, 'job', job, '0.0001', JUNE);
  await pass(JUNE);
  await use(service, 'app', app, '1000', JUNE);
  await pass(JUNE);
  const ofApp = `USAGE_BUDGET_EXCEEDED APP ${app} The app Desk has used 1.5001 credits in 2027-06; its budget is 1.5`;
  const ofJob = `USAGE_BUDGET_EXCEEDED JOB ${job} The job Nightly has used 0.000001 credits in 2027-06; its budget is 0`;
  expect(await warningsOf(ann)).toEqual([ofApp]);
  expect(await warningsOf(bob)).toEqual([ofJob]);
  expect(await warningsOf(member)).toEqual([]);
  for (const manager of [admin, billing])
    expect((await warningsOf(manager)).toSorted()).toEqual([ofApp, ofJob].toSorted());
  expect(await systemQuery(service, `select from dws.notification where user_id = $1`, gone.id)).toEqual([]);

  // The next month begins with nothing used.
  await pass(JULY);
  expect(await warningsOf(ann)).toHaveLength(1);
  await use(service, 'app', app, '151', JULY);
  await pass(JULY);
  expect((await warningsOf(ann))[1]).toContain('1.51 credits in 2027-07');
  await pass(new Date('2027-10-01T00:00:00Z'));
  expect(await systemQuery(service, 'select from dws.budget_warning')).toEqual([]);
  await other.close();
});
