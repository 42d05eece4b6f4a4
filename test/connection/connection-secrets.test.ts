import pg from 'pg';
import { expect } from 'vitest';
import { tokenSource } from '../../src/services/connection/token-source.ts';
import { authorizeInBrowser } from '../support/authorization-server.ts';
import { BrowserSession } from '../support/browser-session.ts';
import { dumpDatabase } from '../support/database-dump.ts';
import { CLIENT } from '../support/identity-provider-server.ts';
import { startService, type Service } from '../support/service.ts';
import { connectionOf, openCallback, test as base } from './connection-fixture.ts';

const lines: string[] = [];

const test = base.extend<{ service: Service }>({
  service: [
    async ({}, use) => {
      const log = { write: (line: string) => void lines.push(line) };
      const service = await startService({ OUTBOUND_ALLOW: '127.0.0.1', LOG_LEVEL: 'trace' }, { log });
      service.platform.publicUrl = service.url;
      await use(service);
      await service.close();
    },
    { scope: 'file' },
  ],
});

test('no secret of a connection is in the database, the log, an error or a response', async ({
  service,
  server,
  admin,
  ann,
  session,
  createLibrary,
}) => {
  const secrets = new Set([CLIENT.clientSecret]);
  const responses: string[] = [];
  const note = (value: unknown) => void responses.push(JSON.stringify(value));
  const id = await createLibrary('Secret');
  const rememberTokens = async () => {
    const { tokens } = await connectionOf(service, id);
    for (const token of [tokens.accessToken, tokens.refreshToken]) secrets.add(token!);
    return tokens;
  };
  const start = async () => {
    const { url } = await ann.creates(`/libraries/${id}/connection/_authorize`, {});
    const client = new pg.Client(service.databaseUrl);
    await client.connect();
    const { rows } = await client.query<{ sealed: string }>('select sealed from dws.oauth_state');
    await client.end();
    for (const { sealed } of rows) {
      const { verifier, state } = JSON.parse(service.platform.secrets.open(sealed, 'a test'));
      secrets.add(verifier).add(state);
    }
    return url as string;
  };

  // A provider that repeats what it got, in an error and in a page.
  const echo = async (type: string) => {
    const callback = await authorizeInBrowser(new BrowserSession(), await start(), 'echo');
    secrets.add(new URL(callback).searchParams.get('code')!);
    server.intercept = async (request, response) => {
      if (request.url !== '/token') return false;
      const body = new URLSearchParams((await request.toArray()).join(''));
      const repeated = [...body.values()].join(' ');
      const error = JSON.stringify({ error: 'invalid_request', error_description: repeated });
      response.writeHead(400, { 'content-type': type }).end(type === 'text/html' ? repeated : error);
      return true;
    };
    const refused = await openCallback(session, callback);
    expect(refused.status).toBe(500);
    note(refused.body);
    server.intercept = null;
  };
  await echo('application/json');
  await echo('text/html');

  const callback = await authorizeInBrowser(new BrowserSession(), await start(), 'secret');
  secrets.add(new URL(callback).searchParams.get('code')!);
  note((await openCallback(session, callback)).body);
  note((await openCallback(session, callback)).body);
  const first = await rememberTokens();
  const token = tokenSource(service.platform, await connectionOf(service, id));
  await token(first.accessToken);
  const second = await rememberTokens();
  server.intercept = async (request, response) => {
    if (request.url !== '/token') return false;
    const body = new URLSearchParams((await request.toArray()).join(''));
    const description = [...body.values(), second.accessToken].join(' ');
    const error = body.get('grant_type') === 'refresh_token' ? 'invalid_grant' : 'server_error';
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error, error_description: description, access_token: second.accessToken }));
    return true;
  };
  const failure = await token(second.accessToken).catch((error: unknown) => error);
  expect(failure).toMatchObject({ status: 409 });
  note(String((failure as Error).stack));
  for (const path of ['', '/connection', '/account', '/integration', '/activity'])
    note((await ann.get(`/libraries/${id}${path}`)).body);
  for (const path of ['/notifications', '/audit', '/integrations']) note((await admin.get(path)).body);
  server.intercept = (_, response) => Boolean(response.writeHead(500).end(second.refreshToken));
  expect((await ann.delete(`/libraries/${id}/connection`)).status).toBe(204);

  expect(secrets.size).toBeGreaterThanOrEqual(1 + 3 * 3 + 4);
  expect(lines.join('')).toContain('Could not revoke a connection');
  const found = [...lines, ...responses, ...(await dumpDatabase(service.databaseUrl))].filter((text) =>
    [...secrets].some((secret) => text.includes(secret)),
  );
  expect(found).toEqual([]);
});
