import { expect } from 'vitest';
import { startListener } from '../outbound/listener.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { createJob, test } from './job-fixture.ts';

test('a preview of a webhook, even of a draft, shows the call with masked headers and sends nothing', async ({
  ann,
  service,
}) => {
  const listener = await startListener('127.0.0.1');
  const { id, path } = await createJob(ann);
  const url = `http://127.0.0.1:${listener.port}/hook`;
  const data = { url, secret: 'hush-hush', headers: { Authorization: 'Bearer topsecret' } };
  const action = await ann.creates(`${path}/actions`, { type: 'webhook', name: 'Call', data });
  const headers = {
    Authorization: '••••',
    'Content-Type': 'application/json',
    'X-DWS-Delivery': null,
    'X-DWS-Timestamp': null,
    'X-DWS-Signature': null,
  };
  const { preview } = await expectBody(ann.post(`${path}/actions/${action.id}/_preview`), 200, {});
  expect(preview).toEqual({ method: 'POST', url, headers, body: expect.any(String) });
  expect(JSON.parse(preview.body)).toEqual({
    job: { id, name: 'Nightly' },
    run: { id: null },
    action: { id: action.id, name: 'Call' },
    at: expect.any(String),
  });

  const draft = await ann.creates(`${path}/_edit`, {});
  const [copy] = (await ann.get(`/jobs/${draft.id}/actions`)).body._embedded['svc:job-action'];
  await expectStatus(
    ann.put(`/jobs/${draft.id}/actions/${copy.id}`, { data: { url, method: 'DELETE', body: 'text' } }),
    200,
  );
  const { jobActionPreview } = await ann.data(
    `{ jobActionPreview(jobId: "${draft.id}", jobActionId: "${copy.id}") { preview } }`,
  );
  expect(jobActionPreview.preview).toEqual({
    method: 'DELETE',
    url,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-DWS-Delivery': null },
    body: 'text',
  });
  expect(listener.connections).toBe(0);
  const [{ count }] = (await service.platform.system.query({ text: 'select count(*)::int from dws.operation' })) as [
    { count: number },
  ];
  expect(count).toBe(0);
  await listener.close();
});

test('a preview acts as its caller, who requires access to the job and to the dataset', async ({
  ann,
  bob,
  stranger,
  anonymous,
  service,
  orders,
}) => {
  const { id, path } = await createJob(ann, { datasets: { sales: orders.id } });
  const byAlias = await ann.creates(`${path}/actions`, { type: 'refresh', name: 'a', data: { alias: 'sales' } });
  const byId = await ann.creates(`${path}/actions`, { type: 'refresh', name: 'b', data: { datasetId: orders.id } });
  const other = await createJob(ann);
  const preview = (who: typeof ann, actionId: string, job = path) => who.post(`${job}/actions/${actionId}/_preview`);
  const query = (who: typeof ann, actionId: string, jobId = id) =>
    who.gql(`{ jobActionPreview(jobId: "${jobId}", jobActionId: "${actionId}") { preview } }`);

  const readOnly = await service.user('reader', { scopes: ['read'] });
  for (const who of [bob, readOnly]) {
    await expectError(preview(who, byAlias.id), 404, `There is no job ${id}`);
    await expectGraphqlError(query(who, byAlias.id), 'NOT_FOUND', `There is no job ${id}`);
    await expectStatus(ann.put(`${path}/shares/${who.username}`, { accessLevel: 1 }), 200);
    for (const action of [byAlias, byId]) {
      await expectError(preview(who, action.id), 404, `There is no dataset ${orders.id}`);
      await expectGraphqlError(query(who, action.id), 'NOT_FOUND', `There is no dataset ${orders.id}`);
    }
    await expectStatus(ann.put(`${orders.path}/shares/${who.username}`, { accessLevel: 1 }), 200);
  }
  for (const who of [ann, bob, readOnly])
    for (const action of [byAlias, byId]) {
      const { body } = await preview(who, action.id);
      expect(body).toEqual({ preview: { dataset: 'Orders', rows: 20, dataUpdatedAt: expect.any(String) } });
      expect((await query(who, action.id)).data).toEqual({ jobActionPreview: body });
    }

  for (const key of [UNKNOWN_ID, 'no-id']) await expectError(preview(ann, key), 404, `There is no job action ${key}`);
  await expectError(preview(ann, byId.id, other.path), 404, `There is no job action ${byId.id}`);
  await expectGraphqlError(query(ann, byId.id, other.id), 'NOT_FOUND', `There is no job action ${byId.id}`);
  await expectError(preview(stranger, byId.id), 404);
  await expectError(preview(anonymous, byId.id), 401);
  await expectError(ann.post(`${path}/actions/${byId.id}/_preview`, { colour: 1 }), 400, /colour/);
  // Neither did a preview load anything.
  await expectBody(ann.get(orders.path), 200, { records: 20 });
});
