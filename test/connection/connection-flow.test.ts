import { describe, expect } from 'vitest';
import { tokenSource } from '../../src/services/connection/token-source.ts';
import { authorizeInBrowser } from '../support/authorization-server.ts';
import { BrowserSession } from '../support/browser-session.ts';
import { expectError } from '../support/expect.ts';
import { recordStatements } from '../support/statement-log.ts';
import { systemQuery } from '../support/system-query.ts';
import { connectionOf, openCallback, test } from './connection-fixture.ts';

const ID = /^[0-9a-f-]{36}$/;

describe('an authorization', () => {
  test('connects a library, in both APIs', async ({ service, ann, session, server, createLibrary }) => {
    const id = await createLibrary('Flow');
    await expectError(ann.get(`/libraries/${id}/connection`), 404);
    await expectError(ann.get(`/libraries/${id}/account`), 404);
    const { url } = await ann.creates(`/libraries/${id}/connection/_authorize`, {});
    const { origin, pathname, searchParams } = new URL(url);
    expect(origin + pathname).toBe(`${server.url}/auth`);
    expect(Object.fromEntries(searchParams)).toEqual({
      access_type: 'offline',
      prompt: 'consent',
      response_type: 'code',
      client_id: 'workspace',
      redirect_uri: `${service.url}/api/oauth/callback`,
      scope: 'files',
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });

    const callback = await authorizeInBrowser(new BrowserSession(), url, 'photos');
    const { status, headers } = await openCallback(session, callback);
    expect([status, headers.get('location')]).toEqual([302, `/?connected=${id}`]);
    const { body } = await ann.get(`/libraries/${id}/connection`);
    expect(body).toMatchObject({
      id: expect.stringMatching(ID),
      ownerId: ann.id,
      integrationId: expect.stringMatching(ID),
      status: 'connected',
      refreshTokenExpiresAt: null,
    });
    expect(body._links).toMatchObject({
      self: { href: `/api/libraries/${id}/connection` },
      'svc:library': { href: `/api/libraries/${id}` },
      'svc:owner': { href: `/api/users/${ann.id}` },
      'svc:integration': { href: `/api/integrations/${body.integrationId}` },
    });
    expect(Date.parse(body.tokenExpiresAt) - Date.parse(body.lastAuthorizedAt)).toBeGreaterThan(3_500_000);
    const account = { email: 'photos@drive.test', displayName: 'photos', accountId: 'photos' };
    expect((await ann.get(`/libraries/${id}/account`)).body).toEqual(account);
    const document = `query ($id: ID!) { library(id: $id) {
      connectionStatus
      connection { id owner { id } integration { name } libraryId library { id } toolkit { id } status }
      account { email displayName accountId } } }`;
    expect(await ann.data(document, { id })).toEqual({
      library: {
        connectionStatus: 'CONNECTED',
        connection: {
          id: body.id,
          owner: { id: ann.id },
          integration: { name: 'Drive of the tests' },
          libraryId: id,
          library: { id },
          toolkit: null,
          status: 'CONNECTED',
        },
        account,
      },
    });
    const { body: activity } = await ann.get(`/libraries/${id}/activity`);
    expect(JSON.stringify(activity)).toContain('ann connected Flow');
  });

  test('of the same account keeps the connection, of another account ends and revokes it', async ({
    ann,
    service,
    server,
    session,
    createLibrary,
    connect,
  }) => {
    const id = await createLibrary('Twice');
    const first = await connect(id, 'first');
    const { tokens } = await connectionOf(service, id);
    const token = tokenSource(service.platform, await connectionOf(service, id));
    expect(await connect(id, 'first')).toBe(first);
    expect(await token()).not.toBe(tokens.accessToken);
    expect(server.paths).not.toContain('/token/revocation');

    const replaced = await connectionOf(service, id);
    expect(await connect(id, 'second')).not.toBe(first);
    await expect(token()).rejects.toMatchObject({ status: 409 });
    expect(await server.provider.RefreshToken.find(replaced.tokens.refreshToken!)).toBeUndefined();
    expect(
      await server.provider.RefreshToken.find((await connectionOf(service, id)).tokens.refreshToken!),
    ).toBeDefined();
    expect((await ann.get(`/libraries/${id}/account`)).body.accountId).toBe('second');
    expect((await connectionOf(service, id)).tokens.accessToken).not.toBe(tokens.accessToken);
    expect((await session.get(`/libraries/${id}`)).body.connectionStatus).toBe('connected');
  });

  test('with the scope openid ignores the ID token and whom it names as its issuer', async ({
    service,
    admin,
    ann,
    server,
    connect,
  }) => {
    const { tokenUri, ...integration } = server.integration();
    const input = { ...integration, tokenUri: tokenUri!.replace('127.0.0.1', 'localhost'), scope: 'openid files' };
    const { id: integrationId } = await admin.creates('/integrations', input);
    const { id } = await ann.creates('/libraries', { name: 'OpenID', integrationId });
    const scopes: unknown[] = [];
    server.provider.on('grant.success', (ctx) => {
      const { body } = ctx as unknown as { body: { id_token?: string; scope: string } };
      scopes.push([typeof body.id_token, body.scope]);
    });
    await connect(id);
    const connection = await connectionOf(service, id);
    const { accessToken } = connection.tokens;
    expect(await tokenSource(service.platform, connection)(accessToken)).not.toBe(accessToken);
    expect(scopes).toEqual([
      ['string', 'openid files'],
      ['string', 'openid files'],
    ]);
    expect((await ann.get(`/libraries/${id}/account`)).body.accountId).toBe('drive-of-ann');
  });

  test('is refused without an integration, and to those who may only read', async ({ ann, bob, createLibrary }) => {
    const { id } = await ann.creates('/libraries', { name: 'None' });
    await expectError(ann.post(`/libraries/${id}/connection/_authorize`), 409, /no integration/);
    const shared = await createLibrary('Read');
    await expectError(bob.post(`/libraries/${shared}/connection/_authorize`), 404);
    await ann.put(`/libraries/${shared}/shares/${bob.username}`, { accessLevel: 1 });
    await expectError(bob.post(`/libraries/${shared}/connection/_authorize`), 403, /library:write/);
    await expectError(bob.delete(`/libraries/${shared}/connection`), 403, /library:write/);
  });
});

test('accounts of libraries are read with the libraries, by one statement', async ({
  service,
  ann,
  createLibrary,
  connect,
}) => {
  const names = ['Account one', 'Account two', 'Account three'];
  for (const name of names) await connect(await createLibrary(name), name);
  await createLibrary('Account none');
  const { result, statements } = await recordStatements(service, () =>
    ann.data('{ libraries(q: "Account", sort: "createdAt") { items { name account { accountId displayName } } } }'),
  );
  expect(result.libraries.items).toEqual([
    ...names.map((name) => ({ name, account: { accountId: name, displayName: name } })),
    { name: 'Account none', account: null },
  ]);
  expect(statements.filter(({ text }) => /\bconnection\b/.test(text))).toHaveLength(1);
});

describe('a callback', () => {
  test('works once, in a session of who asked, who can still use it after others tried', async ({
    service,
    ann,
    bob,
    anonymous,
    session,
    createLibrary,
  }) => {
    const id = await createLibrary('Once');
    const { url } = await ann.creates(`/libraries/${id}/connection/_authorize`, {});
    const callback = await authorizeInBrowser(new BrowserSession(), url, 'once');
    await expectError(openCallback(anonymous, callback), 403, /Log in as the user who started this/);
    await expectError(openCallback(ann, callback), 403, /Log in as the user who started this/);
    await expectError(openCallback(await service.login(bob.username), callback), 403, /Another user started this/);
    const page = await new BrowserSession().open(callback);
    expect([page.status, page.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8']);
    expect(page.text).toContain('Nothing was connected');
    await expectError(ann.get(`/libraries/${id}/connection`), 404);

    // Browsers navigate there from the provider.
    const crossSite = session.with({ 'sec-fetch-site': 'cross-site' });
    expect((await openCallback(crossSite, callback)).status).toBe(302);
    await expectError(openCallback(session, callback), 400, /already used/);
  });

  test('with a wrong, late or missing state changes nothing', async ({
    service,
    ann,
    session,
    server,
    createLibrary,
  }) => {
    const id = await createLibrary('State');
    const { url } = await ann.creates(`/libraries/${id}/connection/_authorize`, {});
    const callback = await authorizeInBrowser(new BrowserSession(), url, 'state');
    for (const query of ['', '?code=x', `?code=x&state=${'x'.repeat(43)}`])
      await expectError(session.get(`/oauth/callback${query}`), 400, /unknown/);
    await systemQuery(service, `update dws.oauth_state set expires_at = now() where library_id = $1`, id);
    await expectError(openCallback(session, callback), 400, /more than ten minutes/);
    expect(server.paths).not.toContain('/token');
    await expectError(ann.get(`/libraries/${id}/connection`), 404);
  });

  test('with an error of the provider is a 400 that quotes it', async ({ ann, session, createLibrary }) => {
    const id = await createLibrary('Denied');
    const { url } = await ann.creates(`/libraries/${id}/connection/_authorize`, {});
    const state = new URL(url).searchParams.get('state');
    const answer = session.get(`/oauth/callback?error=access_denied&error_description=No%0Athanks&state=${state}`);
    await expectError(answer, 400, /refused the authorization: access_denied: No thanks/);
    await expectError(ann.get(`/libraries/${id}/connection`), 404);
  });

  test('whose code the provider refuses is a 500 and keeps the connection', async ({
    service,
    session,
    createLibrary,
    connect,
  }) => {
    const id = await createLibrary('Code');
    await connect(id);
    const before = await connectionOf(service, id);
    const { url } = (await session.post(`/libraries/${id}/connection/_authorize`)).body;
    const state = new URL(url).searchParams.get('state');
    await expectError(
      session.get(`/oauth/callback?code=forged&state=${state}`),
      500,
      /refused the code: invalid_grant/,
    );
    expect(await connectionOf(service, id)).toEqual(before);
  });

  test('is a conflict once the integration has changed, and refused once the right is gone', async ({
    admin,
    ann,
    bob,
    service,
    session,
    server,
    createLibrary,
  }) => {
    const id = await createLibrary('Changed');
    const { url } = await ann.creates(`/libraries/${id}/connection/_authorize`, {});
    const callback = await authorizeInBrowser(new BrowserSession(), url, 'changed');
    const { id: other } = await admin.creates('/integrations', { ...server.integration(), scope: 'openid files' });
    await ann.put(`/libraries/${id}/integration`, { integrationId: other });
    await expectError(openCallback(session, callback), 409, /has changed since the authorization started/);

    const second = await createLibrary('Given');
    const started = await ann.creates(`/libraries/${second}/connection/_authorize`, {});
    const late = await authorizeInBrowser(new BrowserSession(), started.url, 'given');
    await ann.put(`/libraries/${second}/owner`, { ownerId: `user:${bob.id}` });
    await expectError(openCallback(session, late), 404);
    expect(server.paths).not.toContain('/token');
    expect(await systemQuery(service, `select from dws.connection where library_id = any($1)`, [id, second])).toEqual(
      [],
    );
  });
});
