import { expect } from 'vitest';
import { expectBody, expectStatus } from '../support/expect.ts';
import { systemQuery } from '../support/system-query.ts';
import { createTeam } from '../support/team-fixture.ts';
import { addAction, addEmail, giveAddresses, putFile } from './email-fixture.ts';
import { createJob, createNotify, test } from './job-fixture.ts';

test('a preview of an email shows names, files, and the rows that the caller sees', async ({
  service,
  admin,
  ann,
  bob,
  orders,
  restrictBob,
}) => {
  await giveAddresses(ann);
  await expectStatus(ann.put('/me', { displayName: 'Ann Other' }), 200);
  const team = await createTeam(admin, 'Sales', bob);
  const gone = await service.user('gone');
  const job = await createJob(ann, { datasets: { sales: orders.id } });
  const [notes, empty] = [await createNotify(ann, job, 'Notes'), await createNotify(ann, job, 'Empty')];
  await putFile(ann, job, notes, { content: 'x', filename: 'notes.txt', type: 'text/plain' });
  const rows = await addAction(ann, job, 'export', { alias: 'sales', format: 'csv', filename: 'Figures' }, 'Rows');
  const hidden = await addAction(
    ann,
    job,
    'export',
    { alias: 'sales', format: 'csv', filter: { amount: { $gt: 100 } } },
    'Large',
  );
  const id = await addEmail(ann, job, {
    recipients: ['ann', `team:${team}`, 'gone', 'out@example.com'],
    attach: [notes, empty, rows, hidden],
    format: 'html',
    body: '<b>Hi</b>',
  });
  await expectStatus(admin.delete(`/users/gone`), 204);
  await expectStatus(ann.put(`${job.path}/shares/bob`, { accessLevel: 1 }), 200);
  const path = `${job.path}/actions/${id}/_preview`;
  const expected = (figures: object, large: object) => ({
    preview: {
      emailSubject: 'Figures',
      emailBody: '<b>Hi</b>',
      recipients: ['Ann Other', 'Sales', `user:${gone.id}`, 'out@example.com'],
      attachments: [
        { action: 'Notes', filename: 'notes.txt', size: 1 },
        { action: 'Empty', filename: null, size: null },
        { action: 'Rows', ...figures },
        { action: 'Large', ...large },
      ],
    },
  });
  const [figures, unknown] = [
    { filename: 'Figures.csv', rows: 20 },
    { filename: null, rows: null },
  ];
  await expectBody(ann.post(path), 200, expected(figures, { filename: 'orders.csv', rows: 10 }));
  // Without access to the dataset, then with a part of it, in which the field of a filter is hidden.
  await expectBody(bob.post(path), 200, expected(unknown, unknown));
  await restrictBob({ region: 'EU' });
  await expectBody(bob.post(path), 200, expected({ filename: 'Figures.csv', rows: 5 }, unknown));
  const { jobActionPreview } = await bob.data(
    `{ jobActionPreview(jobId: "${job.id}", jobActionId: "${id}") { preview } }`,
  );
  expect(jobActionPreview).toEqual(expected({ filename: 'Figures.csv', rows: 5 }, unknown));
  expect(await systemQuery(service, `select id from dws.mail`)).toEqual([]);
});
