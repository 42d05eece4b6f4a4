import { expect } from 'vitest';
import type { ApiResponse, Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import { startService } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

const CREATE = 'mutation ($name: String!) { createTag(input: { name: $name }) { id } }';

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

test('20 equal calls to two processes have one effect, in both APIs', async ({ service, ann }) => {
  const second = await startService({ ROLE: 'web' }, { databaseUrl: service.databaseUrl });
  try {
    const inSecond = new (ann.constructor as typeof Client)(second.url, ann.headers, ann);
    const callers = Array.from({ length: 20 }, (_, index) => (index % 2 ? ann : inSecond));
    const key = { 'idempotency-key': 'race' };
    const send = (caller: Client) => caller.post('/tags', { name: 'raced' }, key);
    const first = await Promise.all(callers.map(send));
    expect(first.filter(({ headers, status }) => status === 201 && !headers.get('idempotency-replayed'))).toHaveLength(
      1,
    );
    expect(first.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
    for (const refused of first.filter(({ status }) => status === 409))
      expect(refused.headers.get('retry-after')).toBe('1');
    const responses = await Promise.all(callers.map((caller) => untilDone(() => send(caller))));
    expect(new Set(responses.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    const run = (caller: Client) =>
      caller.request('POST', '/graphql', { query: CREATE, variables: { name: 'raced 2' } }, key);
    const reused = await run(ann);
    expect([reused.status, reused.body.errors[0].extensions.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    key['idempotency-key'] = 'race in GraphQL';
    const results = (await Promise.all(callers.map(run))).map(({ body }) => body);
    const ids = new Set(results.filter(({ data }) => data).map(({ data }) => data.createTag.id));
    expect(ids.size).toBe(1);
    expect(new Set(results.filter(({ data }) => !data).map(({ errors }) => errors[0].extensions.code))).toSatisfy(
      (codes: Set<string>) => codes.size === 0 || (codes.size === 1 && codes.has('CONFLICT')),
    );
    const tags = await systemQuery(service, `select name from dws.tag where name like 'raced%' order by name`);
    expect(tags).toEqual([{ name: 'raced' }, { name: 'raced 2' }]);
    const events = await systemQuery(service, `select from dws.audit_event where action = 'createTag'`);
    expect(events).toHaveLength(2);
  } finally {
    await second.close();
  }
});
