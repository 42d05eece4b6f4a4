import { expect } from 'vitest';
import { collect, eventually } from '../operation/fixture.ts';
import { test } from '../support/fixture.ts';
import { openSocket } from '../support/follow-operation.ts';
import { beginRefresh, GATED, makeMillion } from '../support/million-rows.ts';
import { readMetric } from '../support/read-metric.ts';

test('the metrics count GraphQL operations by name, over HTTP and sockets', async ({ ann, anonymous }) => {
  const countOf = (operation: string, status: number) =>
    readMetric(anonymous, 'dws_graphql_request_seconds_count', { operation, type: 'query', status });
  await ann.gql('query WhoAmI { me { username } }');
  await ann.gql('query WhoAmI { me { username id } }');
  await ann.gql('{ me { username } }');
  expect(await countOf('WhoAmI', 200)).toBe(2);
  expect(await countOf('anonymous', 200)).toBeGreaterThan(0);

  const socket = openSocket(ann);
  await collect(socket.iterate('query OverSocket { me { username } }', {}));
  await socket.dispose();
  const overSocket = { operation: 'OverSocket', type: 'query' };
  expect(await readMetric(anonymous, 'dws_graphql_socket_operations_total', overSocket)).toBe(1);

  // Callers without credentials, and documents that are refused, use up no names.
  const others = await readMetric(anonymous, 'dws_graphql_request_seconds_count', { operation: 'other', status: 200 });
  for (let n = 0; n < 100; n++) await anonymous.gql(`query Stranger${n} { __typename }`);
  expect(await countOf('Stranger0', 200)).toBe(0);
  expect(await countOf('other', 200)).toBe(others + 100);
  const aliases = Array.from({ length: 200 }, (_, n) => `a${n}: me { id }`).join(' ');
  for (let n = 0; n < 100; n++)
    expect((await ann.gql(`query Refused${n} { ${aliases} }`)).errors[0].extensions.code).toBe('GRAPHQL_LIMIT');
  expect(await countOf('Refused0', 400)).toBe(0);
  expect(await countOf('other', 400)).toBe(100);
  await ann.gql('query Later { me { username } }');
  expect(await countOf('Later', 200)).toBe(1);

  // The names that clients choose have a limited number of labels.
  for (let n = 0; n < 100; n++) await ann.gql(`query Name${n} { me { username } }`);
  expect(await countOf('Name0', 200)).toBe(1);
  expect(await countOf('Name99', 200)).toBe(0);
  expect(await countOf('other', 200)).toBeGreaterThan(0);
});

test('the metrics have durations of operations, queue waits, places and connections', async ({ admin, anonymous }) => {
  const dataset = await makeMillion(admin, GATED);
  const refreshes = (outcome: string) =>
    readMetric(anonymous, 'dws_operation_seconds_count', { operation: 'dataset.refresh', outcome });
  const waits = (part: 'count' | 'sum') =>
    readMetric(anonymous, `dws_operation_queue_seconds_${part}`, { operation: 'dataset.refresh' });
  await admin.creates(`/datasets/${dataset.id}/_refresh`, {});
  // The caller may get the result before the worker counts it.
  await expect.poll(async () => [await refreshes('succeeded'), await waits('count')]).toEqual([1, 1]);
  expect(await waits('sum')).toBeGreaterThan(0);

  await admin.put(`/datasets/${dataset.id}`, { query: 'select 1 / 0 as x' });
  await admin.post(`/datasets/${dataset.id}/_refresh`, {});
  await expect.poll(() => refreshes('failed')).toBe(1);

  await admin.put(`/datasets/${dataset.id}`, { query: GATED });
  const openGate = await dataset.closeGate();
  const running = admin.post(`/datasets/${dataset.id}/_run`, {});
  await eventually(async () => (await dataset.running()).length > 0);
  const places = (state: string) => readMetric(anonymous, 'dws_places', { work: 'queries of datasources', state });
  expect([await places('total'), await places('running'), await places('waiting')]).toEqual([16, 1, 0]);
  await openGate();
  expect((await running).status).toBe(200);
  expect(await places('running')).toBe(0);

  const cancelling = await dataset.closeGate();
  const id = await beginRefresh(admin, dataset.id);
  await eventually(async () => (await dataset.running()).length > 0);
  await admin.delete(`/progress/${id}`);
  await admin.get(`/progress/${id}/events`);
  await eventually(async () => (await refreshes('cancelled')) === 1);
  await cancelling();

  expect(await readMetric(anonymous, 'dws_pool_connections', { pool: 'dws_app', state: 'idle' })).toBeGreaterThan(0);
  expect(await readMetric(anonymous, 'dws_pool_connections', { pool: 'dws_app', state: 'waiting' })).toBe(0);
  await dataset.drop();
});
