import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { Client } from '../support/client.ts';
import { expectBody } from '../support/expect.ts';
import { runSql } from '../support/run-sql.ts';
import { PASSWORD, startService } from '../support/service.ts';

const LEVEL_DEBUG = 20;
const LEVEL_WARN = 40;
const LEVEL_ERROR = 50;
const WRONG_PASSWORD = 'a wrong password';
const INTERNAL_MESSAGE = 'Something went wrong on our side';

test('the log has one line for each request, errors with the request id, and no secrets', async () => {
  let log = '';
  const destination = new Writable({
    write(chunk, _encoding, done) {
      log += String(chunk);
      done();
    },
  });
  const service = await startService({ LOG_LEVEL: 'trace' }, { log: destination });
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
    const query = { query: '{ teams { total } }' };
    const graphqlError = await ann.request('POST', '/graphql', query, { 'x-request-id': 'find-me-too' });
    await expectBody(graphqlError, 200, {
      errors: [{ message: INTERNAL_MESSAGE, extensions: { code: 'INTERNAL', status: 500 } }],
    });
    for (const { body } of [restError, graphqlError])
      expect(JSON.stringify(body)).not.toMatch(/select|dws\.|relation|node_modules/);
  } finally {
    await service.close();
  }

  const lines = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const linesOf = (id: string, ofLevel: number) =>
    lines.filter(({ requestId, level }) => requestId === id && level === ofLevel);
  expect(linesOf('find-me', LEVEL_ERROR)[0].err.message).toMatch(/relation .* does not exist/);
  expect(linesOf('find-me-too', LEVEL_ERROR)).not.toEqual([]);
  expect(linesOf('find-me', LEVEL_DEBUG)).toEqual([
    expect.objectContaining({ method: 'GET', route: '/api/teams', status: 500, ms: expect.any(Number) }),
  ]);
  expect(lines.filter(({ msg, route }) => msg === 'Request completed' && route === '/api/login')).toHaveLength(3);
  const warnings = lines.filter(({ level, requestId }) => level >= LEVEL_WARN && requestId);
  expect(
    warnings.map(({ requestId }) => requestId),
    'errors of clients are not logged',
  ).toEqual(['find-me', 'find-me-too']);
  for (const secret of secrets) expect(log).not.toContain(secret);
});
