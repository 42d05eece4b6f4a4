import { createClient } from 'graphql-ws';
import { describe, expect } from 'vitest';
import { WebSocket } from 'ws';
import { createResource, recordEvents } from '../support/audit-fixture.ts';
import { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';

async function tokenIdOf(service: Service, { id }: Client): Promise<string> {
  const [token] = await systemQuery<{ id: string }>(
    service,
    `select id from dws.api_token where user_id = $1 and name = 'test'`,
    id,
  );
  return token!.id;
}

/** Runs a document over a WebSocket with the token of the client. */
async function runOverWebSocket(client: Client, query: string): Promise<unknown> {
  const socket = createClient({
    url: `${client.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: client.headers['authorization'] },
    retryAttempts: 0,
  });
  try {
    return (await socket.iterate({ query }).next()).value;
  } finally {
    await socket.dispose();
  }
}

describe('an audit event', () => {
  test('records the caller, the credential, the channel and the resource', async ({ admin, service }) => {
    const id = await createResource('datasets', admin, 'audited');
    const common = {
      action: 'updateDataset',
      kind: 'dataset',
      resourceId: id,
      outcome: 'succeeded',
      userId: admin.id,
      username: 'admin',
      tenant: 'default',
      address: '127.0.0.1',
      tokenId: await tokenIdOf(service, admin),
      sessionId: null,
    };
    const mutation = (key: string) =>
      `mutation { updateDataset(id: "${key}", input: { description: "${key}" }) { id } }`;
    const events = await recordEvents(service, async () => {
      await admin.put(`/datasets/${id}`, { description: 'one' }, { 'x-request-id': 'by-rest' });
      await admin.with({ 'x-request-id': 'by-graphql' }).data(mutation(id));
      await runOverWebSocket(admin, mutation('default:audited'));
    });
    expect(events).toEqual([
      { ...common, channel: 'rest', requestId: 'by-rest' },
      { ...common, channel: 'graphql', requestId: 'by-graphql' },
      { ...common, channel: 'websocket', requestId: expect.any(String) },
    ]);
  });

  test('is recorded for each mutation of a document that succeeds', async ({ admin, service }) => {
    const [first, second] = [
      await createResource('reports', admin, 'first of two'),
      await createResource('reports', admin, 'second of two'),
    ];
    const failing = `mutation { updateReport(id: "${UNKNOWN_ID}", input: { name: "b" }) { id } }`;
    // Errors in the selection do not undo the mutation.
    const failingBelow = `mutation {
      updateReport(id: "${first}", input: { description: "a" }) {
        shares { principalId }
        share(principalId: "nobody") { accessLevel }
      }
    }`;
    const several = (turn: number) => `mutation {
      a: favoriteReport(id: "${second}") { createdAt }
      b: unfavoriteReport(id: "first-of-two")
      c: createTag(input: { name: "tag ${turn}" }) { id }
    }`;
    // Thirty turns include the compiled form of the documents.
    for (let turn = 0; turn < 30; turn++) {
      expect(await recordEvents(service, () => admin.gql(failing))).toEqual([]);
      const eventsBelow = await recordEvents(service, () => admin.gql(failingBelow));
      expect(eventsBelow.map(({ action, resourceId }) => [action, resourceId])).toEqual([['updateReport', first]]);
      const events = await recordEvents(service, () => admin.gql(several(turn)));
      expect(events.map(({ action, kind, resourceId }) => [action, kind, resourceId])).toEqual([
        ['favoriteReport', 'report', second],
        ['unfavoriteReport', 'report', first],
        ['createTag', 'tag', expect.stringMatching(/^[0-9a-f-]{36}$/)],
      ]);
    }
  });

  test('is committed together with its change', async ({ admin, service }) => {
    const id = await createResource('reports', admin, 'undone');
    // The name is written before the lookup of the tag fails.
    const failingUpdate = { name: 'never', slug: 'never', tags: [UNKNOWN_ID] };
    expect(await recordEvents(service, () => admin.put(`/reports/${id}`, failingUpdate))).toEqual([]);

    await runSql(
      service.databaseUrl,
      `alter table dws.audit_event add constraint full_disk check (action <> 'updateReport') not valid`,
    );
    try {
      await expectStatus(admin.put(`/reports/${id}`, { name: 'never' }), 500, 'without the log, no change');
    } finally {
      await runSql(service.databaseUrl, `alter table dws.audit_event drop constraint full_disk`);
    }
    expect((await admin.get(`/reports/${id}`)).body.name).toBe('undone');
    expect((await admin.get(`/reports/${id}/activity`)).body.total).toBe(1);
  });

  test('contains no values of arguments', async ({ admin, service }) => {
    const anonymous = new Client(admin.url);
    const events = await recordEvents(service, async () => {
      await admin.creates('/users', {
        username: 'discreet',
        password: 'a hidden password',
        email: 'hidden@example.com',
        enabled: true,
      });
      await admin.creates('/datasources', {
        name: 'hidden name',
        type: 'postgres',
        config: { host: '127.0.0.1', port: 1, database: 'hidden_db', user: 'u' },
        secrets: { password: 'hidden' },
      });
      await anonymous.post('/login', { username: 'hidden words that are no name', password: 'hidden' });
      await anonymous.post('/password-reset/hidden-token', { password: 'a hidden password' });
    });
    expect(events.map(({ action, outcome }) => [action, outcome])).toEqual([
      ['createUser', 'succeeded'],
      ['createDatasource', 'succeeded'],
      ['login', 'denied'],
    ]);
    expect(JSON.stringify(events)).not.toMatch(/hidden/);
  });
});
