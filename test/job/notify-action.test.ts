import { expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { createTeam } from '../support/team-fixture.ts';
import { addAction, runJob } from './email-fixture.ts';
import { createJob, test } from './job-fixture.ts';

const listOf = async (user: Client): Promise<object[]> =>
  (await user.get('/notifications')).body._embedded['svc:notification'];

test('an action notifies users, and the members of teams who may write, once each', async ({
  service,
  admin,
  ann,
  bob,
}) => {
  const cleo = await service.user('cleo');
  const team = await createTeam(admin, 'Sales', bob, cleo);
  await expectStatus(admin.put(`/teams/${team}/members/cleo`, { role: 'memberPlus' }), 200);
  const job = await createJob(ann);
  const data = { recipients: ['ann', `team:${team}`, 'cleo'], message: 'The figures are there' };
  const id = await addAction(ann, job, 'notify', data);
  const recipients = [`user:${ann.id}`, `team:${team}`, `user:${cleo.id}`];
  await expectBody(ann.get(`${job.path}/actions/${id}`), 200, { data: { recipients } });
  const preview = { message: data.message, recipients: ['ann', 'Sales', 'cleo'] };
  expect((await ann.post(`${job.path}/actions/${id}/_preview`)).body).toMatchObject({ preview });
  expect(await listOf(ann)).toEqual([]);

  expect(await runJob(ann, job)).toMatchObject({ success: true });
  for (const user of [ann, cleo, admin])
    expect(await listOf(user)).toMatchObject([
      { type: 'job.notification', message: data.message, resource: { kind: 'job', id: job.id }, read: false },
    ]);
  expect(await listOf(bob)).toEqual([]);
  const { notifications } = await ann.data('{ notifications { items { type message } } }');
  expect(notifications.items).toEqual([{ type: 'JOB_NOTIFICATION', message: data.message }]);
});

test('an address cannot be notified, and unknown principals neither', async ({ ann }) => {
  const job = await createJob(ann);
  const create = (recipients: string[]) =>
    ann.post(`${job.path}/actions`, { type: 'notify', name: 'Tell', data: { recipients, message: 'x' } });
  await expectError(create(['a@example.com']), 400, /data\.recipients\.0 must be a user or a team/);
  await expectError(create(['nobody']), 404, 'There is no user nobody');
});
