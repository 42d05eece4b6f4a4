import { expect } from 'vitest';
import type { ApiResponse, Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import { startService } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

/** Nothing but the key keeps a comment from being created twice. */
const CREATE =
  'mutation ($id: ID!, $message: String!) { createTeamComment(teamId: $id, input: { message: $message }) { id } }';

/** Repeats a call as long as it is 409 with `Retry-After`, like a client. */
async function untilDone(send: () => Promise<ApiResponse>): Promise<ApiResponse> {
  let response = await send();
  await expect
    .poll(async () => {
      if (response.status === 409) response = await send();
      return response.status;
    })
    .not.toBe(409);
  return response;
}

test('20 equal calls to two processes have one effect, in both APIs', async ({ service, admin }) => {
  const second = await startService({ ROLE: 'web' }, { databaseUrl: service.databaseUrl });
  try {
    const { id } = await admin.creates('/teams', { name: 'Racers' });
    const inSecond = new (admin.constructor as typeof Client)(second.url, admin.headers, admin);
    const callers = Array.from({ length: 20 }, (_, index) => (index % 2 ? admin : inSecond));
    const key = { 'idempotency-key': 'race' };
    const send = (caller: Client) => caller.post(`/teams/${id}/comments`, { message: 'REST' }, key);
    const first = await Promise.all(callers.map(send));
    expect(first.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
    for (const refused of first.filter(({ status }) => status === 409))
      expect(refused.headers.get('retry-after')).toBe('1');
    const responses = await Promise.all(callers.map((caller) => untilDone(() => send(caller))));
    expect(new Set(responses.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);

    const ofGraphql = { 'idempotency-key': 'race in GraphQL' };
    const body = { query: CREATE, variables: { id, message: 'GraphQL' } };
    const run = (caller: Client) => caller.request('POST', '/graphql', body, ofGraphql);
    const results = (await Promise.all(callers.map(run))).map((response) => response.body);
    const done = results.filter(({ data }) => data);
    const codes = results.filter(({ data }) => !data).map(({ errors }) => errors[0].extensions.code);
    expect(codes.filter((code) => code !== 'CONFLICT')).toEqual([]);
    expect(new Set(done.map(({ data }) => data.createTeamComment.id)).size).toBe(1);

    const comments = await systemQuery(service, `select message from dws.team_comment order by message`);
    expect(comments).toEqual([{ message: 'GraphQL' }, { message: 'REST' }]);
    const events = await systemQuery(service, `select from dws.audit_event where action = 'createTeamComment'`);
    expect(events).toHaveLength(2);
    const reused = await admin.request('POST', '/graphql', body, key);
    expect([reused.status, reused.body.errors[0].extensions.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  } finally {
    await second.close();
  }
});
