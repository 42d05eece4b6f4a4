import { expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError, expectInvalid, expectStatus } from '../support/expect.ts';
import { systemQuery } from '../support/system-query.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { actionNames, createJob, createNotify, test } from './job-fixture.ts';

test('actions are added at the end, and deletions leave no gap', async ({ ann }) => {
  const job = await createJob(ann);
  const created = await ann.post(`${job.path}/actions`, {
    type: 'notify',
    name: 'First',
    data: { recipients: ['ann'], message: 'Hello' },
  });
  expect(created.status).toBe(201);
  expect(created.headers.get('location')).toBe(`/api${job.path}/actions/${created.body.id}`);
  expect(created.body).toMatchObject({
    jobId: job.id,
    type: 'notify',
    name: 'First',
    order: 0,
    data: { recipients: [`user:${ann.id}`], message: 'Hello' },
  });
  const second = await createNotify(ann, job, 'Second');
  await createNotify(ann, job, 'Third');
  expect(await actionNames(ann, job)).toEqual(['First', 'Second', 'Third']);
  await expectBody(ann.put(`${job.path}/actions/${second}`, { name: '2nd' }), 200, { name: '2nd', order: 1 });
  await expectStatus(ann.delete(`${job.path}/actions/${created.body.id}`), 204);
  expect(await actionNames(ann, job)).toEqual(['2nd', 'Third']);
  await expectError(ann.get(`${job.path}/actions/${created.body.id}`), 404);
});

test('the new order is a permutation of all actions', async ({ ann }) => {
  const job = await createJob(ann);
  const [a, b, c] = [
    await createNotify(ann, job, 'a'),
    await createNotify(ann, job, 'b'),
    await createNotify(ann, job, 'c'),
  ];
  const reorder = (actions: unknown) => ann.post(`${job.path}/_job-action-order`, { actions });
  const { body } = await reorder([c, a, b]);
  expect(body._embedded['svc:job-action'].map(({ name, order }: any) => [name, order])).toEqual([
    ['c', 0],
    ['a', 1],
    ['b', 2],
  ]);
  for (const ids of [[a, b], [a, b, b], [a, b, c, c], []]) await expectInvalid(reorder(ids), 'actions', /exactly once/);
  const mutation = `mutation ($ids: [ID!]!) { setJobActionOrder(jobId: "${job.id}", actions: $ids) { name order } }`;
  const foreign = await createNotify(ann, await createJob(ann), 'd');
  for (const id of [UNKNOWN_ID, foreign, 'x']) {
    await expectError(reorder([a, b, id]), 404, `There is no job action ${id}`);
    await expectGraphqlError(ann.gql(mutation, { ids: [a, b, c, id] }), 'NOT_FOUND', `There is no job action ${id}`);
  }
  expect(await actionNames(ann, job)).toEqual(['c', 'a', 'b']);
  const { setJobActionOrder } = await ann.data(mutation, { ids: [a, b, c] });
  expect(setJobActionOrder.map(({ name }: { name: string }) => name)).toEqual(['a', 'b', 'c']);
});

test('wrong data is refused with its key', async ({ ann, bob, orders }) => {
  const { path } = await createJob(ann, { datasets: { sales: orders.id } });
  const add = (type: string, data: object, who = ann) => who.post(`${path}/actions`, { type, name: 'x', data });
  await expectInvalid(add('fax', {}), 'type', /webhook/);
  await expectInvalid(add('refresh', {}), 'data.alias', /datasetId/);
  await expectInvalid(add('refresh', { alias: 'sales', datasetId: orders.id }), 'data.alias', /datasetId/);
  await expectInvalid(add('refresh', { alias: 'other' }), 'data.alias', /not an alias/);
  await expectError(add('refresh', { datasetId: UNKNOWN_ID }), 404, `There is no dataset ${UNKNOWN_ID}`);
  await expectInvalid(add('refresh', { datasetId: orders.q1 }), 'data.datasetId', /snapshot/);
  await expectInvalid(add('snapshot-cleanup', { alias: 'sales' }), 'data.keep', 'data.keep is required');
  await expectInvalid(add('export', { alias: 'sales', format: 'pdf' }), 'data.format', /csv/);
  await expectError(add('export', { alias: 'sales', format: 'csv', filter: { colour: 1 } }), 400, /colour/);
  for (const filter of ['{"region":"EU"}', ' {}', 'Big', ''])
    await expectInvalid(
      add('export', { alias: 'sales', format: 'csv', filter }),
      'data.filter',
      /id of a saved filter/,
    );
  await expectInvalid(
    add('email', { recipients: ['ann'], subject: 's', body: 'b', runAs: 'boss' }),
    'data.runAs',
    /owner/,
  );
  const mail = { recipients: ['ann', 'x@example.com'], subject: 's', body: 'b' };
  await expectInvalid(add('email', { ...mail, runAs: 'recipient' }), 'data.recipients.1', /user or a team/);
  await expectError(add('email', { ...mail, recipients: ['nobody'] }), 404, /user nobody/);
  await expectError(add('email', { ...mail, attach: [UNKNOWN_ID] }), 404, /job action/);
  await expectInvalid(add('webhook', { url: 'ftp://example.com' }), 'data.url', /http/);
  await expectInvalid(add('webhook', { url: 'https://a:b@example.com' }), 'data.url', /credentials/);
  await expectInvalid(add('webhook', { url: 'https://example.com', headers: { 'a b': 'c' } }), 'data.headers', /name/);
  await expectInvalid(add('notify', { recipients: ['x@example.com'], message: 'm' }), 'data.recipients.0', /user/);
  await expectInvalid(
    add('notify', { recipients: ['ann'], message: 'm', retry: { times: 6 } }),
    'data.retry.times',
    /5/,
  );
  await expectStatus(ann.put(`${path}/shares/bob`, { accessLevel: 2 }), 200);
  await expectError(add('refresh', { datasetId: orders.id }, bob), 404, /dataset/);
  expect((await ann.get(`${path}/actions`)).body.total).toBe(0);
});

test('an action that another one attaches is not deleted', async ({ ann, orders }) => {
  const { path } = await createJob(ann, { datasets: { sales: orders.id } });
  const data = { alias: 'sales', format: 'csv' };
  const file = await ann.creates(`${path}/actions`, { type: 'export', name: 'File', data });
  const mail = await ann.creates(`${path}/actions`, {
    type: 'email',
    name: 'Mail',
    data: { recipients: ['ann'], subject: 's', body: 'b', attach: [file.id] },
  });
  await expectInvalid(
    ann.put(`${path}/actions/${mail.id}`, { data: { ...mail.data, attach: [mail.id] } }),
    'data.attach.0',
    /another/,
  );
  await expectError(ann.delete(`${path}/actions/${file.id}`), 409, 'The action is attached by "Mail"');
  await expectStatus(ann.delete(`${path}/actions/${mail.id}`), 204);
  await expectStatus(ann.delete(`${path}/actions/${file.id}`), 204);
});

test('secrets are sealed, masked everywhere, kept when sent back, and bound to the URL', async ({ ann, service }) => {
  const { id, path } = await createJob(ann);
  const data = { url: 'https://example.com/hook', secret: 'hush-hush', headers: { Authorization: 'Bearer topsecret' } };
  const masked = { ...data, secret: '••••', headers: { Authorization: '••••' } };
  const { id: actionId, data: shown } = await ann.creates(`${path}/actions`, { type: 'webhook', name: 'Call', data });
  expect(shown).toEqual(masked);
  const action = `${path}/actions/${actionId}`;
  const { job } = await ann.data(`{ job(id: "${id}") { actions { data } activity { items { message data } } } }`);
  expect(job.actions).toEqual([{ data: masked }]);
  const stored = () =>
    systemQuery<{ data: object; secrets: string | null }>(
      service,
      'select data, secrets from dws.job_action where id = $1',
      actionId,
    );
  const open = (sealed: string | null) => JSON.parse(service.platform.secrets.open(sealed!, 'a test'));
  const [first] = await stored();
  expect(first!.data).toEqual(masked);
  expect(open(first!.secrets)).toEqual([
    ['secret', 'hush-hush'],
    ['headers.Authorization', 'Bearer topsecret'],
  ]);

  await expectBody(ann.put(action, { data: { ...masked, method: 'PUT' } }), 200, {
    data: { ...masked, method: 'PUT' },
  });
  expect((await stored())[0]!.secrets).toBe(first!.secrets);
  await expectInvalid(
    ann.put(action, { data: { ...masked, url: 'https://evil.example' } }),
    'data.secret',
    'data.secret is required when url changes',
  );
  await expectInvalid(
    ann.put(action, { data: { ...masked, headers: { Other: '••••' } } }),
    'data.headers.Other',
    /stored/,
  );
  await expectStatus(ann.put(action, { data: { ...masked, headers: {} } }), 200);
  expect(open((await stored())[0]!.secrets)).toEqual([['secret', 'hush-hush']]);
  await expectStatus(ann.put(action, { data: { url: 'https://other.example' } }), 200);
  expect((await stored())[0]!.secrets).toBeNull();

  const everywhere = await systemQuery<{ text: string }>(
    service,
    `select a::text as text from dws.activity a where resource_id = $1
     union all select e::text from dws.audit_event e where resource_id = $1::text
     union all select s::text from dws.search_entry s`,
    id,
  );
  expect(everywhere.length).toBeGreaterThan(4);
  expect(everywhere.filter(({ text }) => /hush-hush|topsecret/.test(text))).toEqual([]);
});

test('changes of parts are activities of the job, without their settings', async ({ ann, orders }) => {
  const { path } = await createJob(ann, { name: 'Watched' });
  await expectStatus(ann.post(`${path}/datasets`, { alias: 'sales', datasetId: orders.id }), 201);
  const { id } = await ann.creates(`${path}/actions`, { type: 'refresh', name: 'Load', data: { alias: 'sales' } });
  const conditions = `${path}/actions/${id}/job-action-run-conditions`;
  await expectStatus(ann.post(conditions, { type: 'always' }), 201);
  await expectStatus(ann.delete(`${path}/actions/${id}`), 204);
  const { body } = await ann.get(`${path}/activity`);
  expect(body._embedded['svc:activity'].map(({ message }: { message: string }) => message)).toEqual([
    'ann took the action Load out of Watched',
    'ann changed the action Load of Watched',
    'ann added the action Load to Watched',
    'ann attached the dataset sales to Watched',
    'ann created Watched',
  ]);
  expect(body._embedded['svc:activity'][1]).toMatchObject({
    type: 'job.updated',
    data: { fields: ['actions'], actionId: id },
  });
});
