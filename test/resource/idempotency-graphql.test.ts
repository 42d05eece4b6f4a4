import { createClient } from 'graphql-ws';
import { describe, expect } from 'vitest';
import { WebSocket } from 'ws';
import type { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import { systemQuery } from '../support/system-query.ts';

const TWO = `mutation ($first: String!, $second: String!) {
  one: createTag(input: { name: $first }) { id name creator { username } }
  ...more
}
fragment more on Mutation { two: createTag(input: { name: $second }) { id __typename } }`;

const run = (caller: Client, key: string, query: string, variables: object = {}) =>
  caller.request('POST', '/graphql', { query, variables }, { 'idempotency-key': key });

/** Runs a mutation over a socket. */
function runOnSocket(caller: Client, key: unknown, query: string, variables: Record<string, unknown> = {}) {
  const client = createClient({
    url: `${caller.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: caller.headers['authorization'] },
  });
  return new Promise<any>((resolve) => {
    let result: unknown;
    client.subscribe(
      { query, variables, extensions: { idempotencyKey: key } },
      {
        next: (value) => (result = value),
        error: (errors) => resolve({ errors }),
        complete: () => resolve(result),
      },
    );
  }).finally(() => void client.dispose());
}

describe('a mutation with a key', () => {
  test('runs each field once: fields that are done are repeated, the rest runs', async ({ service, ann }) => {
    const taken = await ann.creates('/tags', { name: 'second' });
    const variables = { first: 'first', second: 'second' };
    const failed = await run(ann, 'two fields', TWO, variables);
    expect(failed.body.errors).toMatchObject([{ path: ['two'], extensions: { code: 'CONFLICT' } }]);
    expect([failed.body.data, failed.headers.get('idempotency-replayed')]).toEqual([null, null]);
    await ann.delete(`/tags/${taken.id}`);
    const second = await run(ann, 'two fields', TWO, variables);
    const [first] = await systemQuery<{ id: string }>(service, `select id from dws.tag where name = 'first'`);
    expect(second.body).toMatchObject({
      data: {
        one: { id: first!.id, name: 'first', creator: { username: 'ann' } },
        two: { id: expect.any(String), __typename: 'Tag' },
      },
      extensions: { idempotencyReplayed: ['one'] },
    });
    expect(second.body.errors).toBeUndefined();
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    const third = await run(ann, 'two fields', TWO, variables);
    expect(third.body.data).toEqual(second.body.data);
    expect(Object.keys(third.body.data)).toEqual(['one', 'two']);
    expect(third.body.extensions.idempotencyReplayed).toEqual(['one', 'two']);
  });

  test('is 422 with another document, name or variables, and 400 with a malformed key', async ({ ann }) => {
    const query = 'mutation A($name: String!) { createTag(input: { name: $name }) { id } }';
    expect((await run(ann, 'reused', query, { name: 'reused' })).status).toBe(200);
    for (const [text, name] of [
      [query, 'other'],
      [query.replace('mutation A', 'mutation B'), 'reused'],
      [query.replace('{ id }', '{ name }'), 'reused'],
    ] as const) {
      const { status, body } = await run(ann, 'reused', text, { name });
      expect([status, body.errors[0].extensions.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
      expect('data' in body).toBe(false);
    }
    expect((await ann.post('/tags', { name: 'reused' }, { 'idempotency-key': 'reused' })).status).toBe(422);
    expect((await run(ann, '"', query, { name: 'malformed' })).status).toBe(400);
  });

  test('skips fields that a directive excludes, and returns errors of variables as without a key', async ({ ann }) => {
    const query = `mutation ($all: Boolean!) {
      one: createTag(input: { name: "included" }) { id }
      two: createTag(input: { name: "excluded" }) @include(if: $all) { id }
      __typename
    }`;
    const { body } = await run(ann, 'directives', query, { all: false });
    expect(body.data).toEqual({ one: { id: expect.any(String) }, __typename: 'Mutation' });
    const refused = await run(ann, 'variables', query, { all: 'x' });
    const plain = await ann.gql(query, { all: 'x' } as never);
    expect([refused.status, refused.body.errors]).toEqual([plain.status, plain.errors]);
  });

  test('deletes once, and its repetition returns the id though nothing is left to read', async ({ ann }) => {
    const { id } = await ann.creates('/tags', { name: 'to delete' });
    const query = 'mutation ($id: ID!) { deleteTag(id: $id) }';
    for (const _ of [1, 2]) expect((await run(ann, 'delete', query, { id })).body.data).toEqual({ deleteTag: id });
    expect((await run(ann, 'delete again', query, { id })).body.errors[0].extensions.code).toBe('NOT_FOUND');
  });

  test('has the same key on a socket, in `extensions.idempotencyKey`', async ({ service, ann }) => {
    const query = 'mutation { createTag(input: { name: "socket" }) { id } }';
    const first = await runOnSocket(ann, 'socket', query);
    expect(first.data.createTag.id).toEqual(expect.any(String));
    const second = await runOnSocket(ann, 'socket', query);
    expect(second).toEqual({ data: first.data, extensions: { idempotencyReplayed: ['createTag'] } });
    expect((await run(ann, 'socket', query)).body.data).toEqual(first.data);
    const reused = await runOnSocket(ann, 'socket', query.replace('socket', 'other'));
    expect(reused.errors[0].extensions.code).toBe('IDEMPOTENCY_KEY_REUSED');
    const malformed = await runOnSocket(ann, 7, query);
    expect(malformed.errors[0].extensions.code).toBe('BAD_USER_INPUT');
    expect(await systemQuery(service, `select from dws.tag where name in ('socket', 'other')`)).toHaveLength(1);
  });

  test('has the same key in a stream of events', async ({ service, ann }) => {
    const query = 'mutation { createTag(input: { name: "stream" }) { id } }';
    const send = (text: string) => ann.with({ accept: 'text/event-stream', 'idempotency-key': 'stream' }).gql(text);
    const dataOf = (text: string) => JSON.parse(/^data: (.*)$/m.exec(text)![1]!) as Record<string, unknown>;
    const streamed = async () =>
      ann.with({ accept: 'text/event-stream' }).request('POST', '/graphql', { query }, { 'idempotency-key': 'stream' });
    const first = await streamed();
    const again = await streamed();
    expect(dataOf(again.body)).toEqual({ ...dataOf(first.body), extensions: { idempotencyReplayed: ['createTag'] } });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect((await send(query.replace('stream', 'other'))).status).toBe(422);
    expect(await systemQuery(service, `select from dws.tag where name in ('stream', 'other')`)).toHaveLength(1);
  });

  test('is ignored by queries, logins and callers without credentials', async ({ service, ann, anonymous }) => {
    const [before] = await systemQuery(service, 'select count(*)::int as count from dws.idempotency_key');
    expect((await run(ann, '"', '{ me { username } }')).body.data).toEqual({ me: { username: 'ann' } });
    const login = 'mutation { login(username: "ann", password: "wrong") { expiresAt } }';
    expect((await run(anonymous, '"', login)).status).toBe(401);
    const logout = await run(await service.login('ann'), 'out', 'mutation { logout }');
    expect(logout.body.data).toEqual({ logout: true });
    expect(await systemQuery(service, 'select count(*)::int as count from dws.idempotency_key')).toEqual([before]);
  });
});
