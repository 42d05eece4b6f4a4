import { EventSource } from 'eventsource';
import { createClient } from 'graphql-ws';
import { expect, test as base } from 'vitest';
import { WebSocket } from 'ws';
import { freePort } from '../../tools/engine.ts';
import type { Client } from '../support/client.ts';
import { beginRefresh, GATED, makeMillion } from '../support/million-rows.ts';
import { createDatabase } from '../support/postgres.ts';
import {
  ADMIN_PASSWORD,
  byToken,
  logIn,
  newFolder,
  startProcess,
  type ServiceProcess,
} from '../support/service-process.ts';
import { eventually } from './fixture.ts';

/** A web process, which a test restarts at its address, and a worker, which continues during the restart. */
interface Cluster {
  caller: Client;
  stopWeb(): Promise<unknown>;
  startWeb(): Promise<void>;
}

const test = base.extend<{ cluster: Cluster }>({
  cluster: async ({}, use) => {
    const database = await createDatabase();
    const folder = newFolder();
    const shared = {
      DATABASE_URL: database.url,
      DATA_DIR: folder.path,
      APP_SECRET: 'a secret of several processes of enough characters',
      ADMIN_PASSWORD,
    };
    const PORT = String(await freePort());
    const startWeb = () => startProcess({ ...shared, PORT, ROLE: 'web' });
    let web: ServiceProcess = await startWeb();
    const worker = await startProcess({ ...shared, ROLE: 'worker' });
    await use({
      caller: await byToken(await logIn(web.url)),
      stopWeb: () => web.end('SIGTERM'),
      async startWeb() {
        web = await startWeb();
      },
    });
    await Promise.all([web.end('SIGKILL'), worker.end('SIGKILL')]);
    folder.remove();
    await database.drop();
  },
});

/** Follows an operation by an `EventSource` as browsers have it. */
function followByEventSource({ url, headers }: Client, id: string) {
  const statuses: number[] = [];
  const sentIds: (string | null)[] = [];
  const events: { id: string; status: string }[] = [];
  const source = new EventSource(`${url}/api/progress/${id}/events`, {
    fetch: async (address, init) => {
      sentIds.push(new Headers(init.headers as Record<string, string>).get('last-event-id'));
      const response = await fetch(address, { ...init, headers: { ...init.headers, ...headers } });
      statuses.push(response.status);
      return response;
    },
  });
  source.addEventListener('progress', ({ lastEventId, data }) => {
    events.push({ id: lastEventId, status: (JSON.parse(data as string) as { status: string }).status });
  });
  return { source, statuses, sentIds, events };
}

/** Follows an operation by a GraphQL client that reconnects. Resolves with the states when the client completes. */
function followBySocket({ url, headers }: Client, id: string) {
  const codes: number[] = [];
  const states: string[] = [];
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: headers['authorization'] },
    retryAttempts: 100,
    retryWait: () => new Promise((retry) => setTimeout(retry, 100)),
    shouldRetry: () => true,
    on: { closed: (event) => codes.push((event as { code: number }).code) },
  });
  const ended = (async () => {
    for await (const { data } of client.iterate<{ progress: { status: string } }>({
      query: 'subscription ($id: ID!) { progress(id: $id) { status } }',
      variables: { id },
    }))
      states.push(data!.progress.status);
    await client.dispose();
  })();
  return { states, codes, ended };
}

test('clients follow an operation over a restart of the service and end after one final event, in both APIs', async ({
  cluster,
}) => {
  const { caller } = cluster;
  const dataset = await makeMillion(caller, GATED);
  const openGate = await dataset.closeGate();
  const id = await beginRefresh(caller, dataset.id);
  await eventually(async () => (await dataset.running()).length > 0);
  const { source, statuses, sentIds, events } = followByEventSource(caller, id);
  const socket = followBySocket(caller, id);
  await eventually(async () => events.length > 0 && socket.states.length > 0);
  expect(events.at(-1)!.status).toBe('running');

  expect(await cluster.stopWeb()).toBe(0);
  const lastId = events.at(-1)!.id;
  await openGate();
  await eventually(async () => (await dataset.running()).length === 0);
  await cluster.startWeb();

  await eventually(async () => source.readyState === EventSource.CLOSED);
  await socket.ended;
  expect(events.filter(({ status }) => status === 'succeeded')).toEqual([events.at(-1)]);
  expect(Number(events.at(-1)!.id)).toBeGreaterThan(Number(lastId));
  // The first response, the one after the restart, and the end.
  expect(statuses).toEqual([200, 200, 204]);
  expect(sentIds[0]).toBeNull();
  expect(sentIds.slice(1, -1).every((sent) => sent === lastId)).toBe(true);
  expect(sentIds.at(-1)).toBe(events.at(-1)!.id);

  expect(socket.states.filter((status) => status === 'SUCCEEDED')).toEqual(['SUCCEEDED']);
  expect(socket.states.at(-1)).toBe('SUCCEEDED');
  expect(socket.codes[0]).toBe(1001);
  await dataset.drop();
});
