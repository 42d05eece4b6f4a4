import { Writable } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { Client } from '../support/client.ts';
import { expectBody } from '../support/expect.ts';
import { runSql } from '../support/run-sql.ts';
import { PASSWORD, startService } from '../support/service.ts';
import { createForm, DATASETS, ORDERS } from '../support/upload-form.ts';

const LEVEL_DEBUG = 20;
const LEVEL_WARN = 40;
const LEVEL_ERROR = 50;
const WRONG_PASSWORD = 'a wrong password';
const INTERNAL_MESSAGE = 'Something went wrong on our side';

/** Collects the lines of a log. */
class Log extends Writable {
  text = '';

  override _write(chunk: unknown, _encoding: string, done: () => void): void {
    this.text += String(chunk);
    done();
  }

  get lines(): any[] {
    return this.text
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }
}

test('the log has one line for each request, errors with the request id, and no secrets', async () => {
  const log = new Log();
  const service = await startService({ LOG_LEVEL: 'trace' }, { log });
  const secrets = [PASSWORD, WRONG_PASSWORD, 'argon2', 'hidden-in-the-query'];
  try {
    const ann = await service.user('ann');
    const anonymous = new Client(service.url);
    const session = await service.login('ann');
    await anonymous.post('/login', { username: 'ann', password: WRONG_PASSWORD });
    await anonymous.gql('mutation L($p: String!) { login(username: "ann", password: $p) { expiresAt } }', {
      p: PASSWORD,
    });
    await anonymous.gql('mutation { login(username: "ann", password: 42) { expiresAt } }');
    await anonymous.post('/login', { username: 'ann', password: { [PASSWORD]: PASSWORD } });
    const { token } = await session.creates('/tokens', { name: 'secret' });
    await session.put('/me/password', { currentPassword: PASSWORD, password: 'a wrong password too' });
    secrets.push(token, ann.headers['authorization']!.slice(7), session.headers['cookie']!.slice(12));

    await runSql(service.databaseUrl, 'alter table dws.team rename to elsewhere');
    const restError = await ann.get('/teams?q=hidden-in-the-query', { 'x-request-id': 'find-me' });
    await expectBody(restError, 500, {
      statusCode: 500,
      error: 'Internal Server Error',
      code: 'INTERNAL',
      message: INTERNAL_MESSAGE,
      requestId: 'find-me',
    });
    const query = { query: 'query Teams { teams { total } }' };
    const graphqlError = await ann.request('POST', '/graphql', query, { 'x-request-id': 'find-me-too' });
    await expectBody(graphqlError, 200, {
      errors: [{ message: INTERNAL_MESSAGE, extensions: { code: 'INTERNAL', status: 500 } }],
    });
    for (const { body } of [restError, graphqlError])
      expect(JSON.stringify(body)).not.toMatch(/select|dws\.|relation|node_modules/);
  } finally {
    await service.close();
  }

  const { lines } = log;
  const linesOf = (id: string, ofLevel: number) =>
    lines.filter(({ requestId, level }) => requestId === id && level === ofLevel);
  expect(linesOf('find-me', LEVEL_ERROR)[0].err.message).toMatch(/relation .* does not exist/);
  expect(linesOf('find-me-too', LEVEL_ERROR)).not.toEqual([]);
  expect(linesOf('find-me', LEVEL_DEBUG)).toEqual([
    expect.objectContaining({ method: 'GET', route: '/api/teams', status: 500, ms: expect.any(Number) }),
  ]);
  expect(linesOf('find-me-too', LEVEL_DEBUG)).toEqual([
    expect.objectContaining({ method: 'POST', route: '/graphql', operation: 'Teams', type: 'query', status: 200 }),
  ]);
  expect(lines.filter(({ msg, route }) => msg === 'Request completed' && route === '/api/login')).toHaveLength(3);
  const warnings = lines.filter(({ level, requestId }) => level >= LEVEL_WARN && requestId);
  expect(
    warnings.map(({ requestId }) => requestId),
    'errors of clients are not logged',
  ).toEqual(['find-me', 'find-me-too']);
  for (const secret of secrets) expect(log.text).not.toContain(secret);
});

test('a client that disconnects is not an error, and neither are variables that nest too deeply', async () => {
  const log = new Log();
  const service = await startService({ LOG_LEVEL: 'info' }, { log });
  try {
    const ann = await service.user('ann');
    const { body } = await ann.request('POST', `/api${DATASETS}`, createForm(ORDERS));
    expect(body).toMatchObject({ records: 3 });
    let wait = Promise.withResolvers<void>();
    // The real index responds too quickly to be left.
    vi.spyOn(service.platform.index, 'search').mockImplementation(
      (_search, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          wait.resolve();
        }),
    );
    const query = `{ dataset(id: "${body.id}") { data { items } } }`;
    const calls: ((leave: AbortController) => Promise<unknown>)[] = [
      ({ signal }) => fetch(`${ann.url}/api/datasets/${body.id}/data`, { headers: ann.headers, signal }),
      ({ signal }) => {
        const headers = { ...ann.headers, 'content-type': 'application/json' };
        return fetch(`${ann.url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }), signal });
      },
    ];
    for (const [n, call] of calls.entries()) {
      wait = Promise.withResolvers();
      const leave = new AbortController();
      const called = call(leave).catch((error: Error) => error);
      await wait.promise;
      leave.abort();
      await called;
      await expect
        .poll(() => log.lines.filter(({ msg }) => msg === 'The client disconnected during a request'))
        .toHaveLength(n + 1);
    }
    const left = log.lines.filter(({ msg }) => msg === 'The client disconnected during a request');
    for (const line of left) expect(line).toMatchObject({ reason: expect.any(String) });
    expect(JSON.stringify(left)).not.toContain('stack');
    const nested = '['.repeat(50_000) + ']'.repeat(50_000);
    const mutation = `mutation ($s: JSONObject!) { setDatasetUserSettings(id: "${body.id}", settings: $s) { updatedAt } }`;
    const deep = `{"query":${JSON.stringify(mutation)},"variables":{"s":{"a":${nested}}}}`;
    await expectBody(ann.request('POST', '/graphql', deep, { 'content-type': 'application/json' }), 400, {
      errors: [{ extensions: { code: 'GRAPHQL_LIMIT', status: 400 } }],
    });
    expect(log.lines.filter(({ level }) => level >= LEVEL_WARN)).toEqual([]);
  } finally {
    await service.close();
  }
});
