import { describe, expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectInvalid, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { recordRoundTrips } from '../support/round-trips.ts';
import { systemQuery } from '../support/system-query.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';

const SECRET = 'the secret of the client';
const PROVIDER = { name: 'Corp', issuer: 'https://login.corp.example', clientId: 'workspace', clientSecret: SECRET };
const SESSION_REQUIRED = 'This requires a session: log in instead of using a token';
const LIST = '/identity-providers';

let count = 0;
/** Values of a provider of a new domain. */
const values = (more: Record<string, unknown> = {}) => ({ domain: `corp${++count}.example`, ...PROVIDER, ...more });

/** Every field that a test reads by GraphQL. */
const FIELDS = `id domain name issuer clientId scope usernameClaim createUsers emailDomains teamIds enabled
  teams { name }`;

const worldTest = test.extend<{ root: Client; foreigner: Client }>({
  root: async ({ service, admin }, use) => use(await service.login(admin.username)),
  foreigner: async ({ service, stranger }, use) => use(await service.login(stranger.username, { tenant: 'other' })),
});

describe('an identity provider', () => {
  worldTest('has defaults, and its secret is in no response', async ({ root }) => {
    const input = values();
    const created = await root.post(LIST, input);
    expect(created.status).toBe(201);
    const { id } = created.body;
    expect(created.headers.get('location')).toBe(`/api/identity-providers/${id}`);
    const { clientSecret: _secret, ...visible } = input;
    const expected = {
      ...visible,
      id,
      scope: 'openid profile email',
      usernameClaim: 'preferred_username',
      createUsers: false,
      emailDomains: [],
      teamIds: [],
      enabled: true,
    };
    expect(created.body).toMatchObject(expected);
    expect((await root.get(`${LIST}/${id}`)).body).toMatchObject(expected);
    const { identityProvider } = await root.data(`{ identityProvider(id: "${id}") { ${FIELDS} } }`);
    expect(identityProvider).toEqual({ ...expected, teams: [] });
    const pages = [await root.get(`${LIST}?limit=1000`), await root.get(`${LIST}/${id}`), created];
    expect(JSON.stringify(pages)).not.toMatch(/secret/i);
  });

  worldTest('is created, updated and deleted in GraphQL like in REST', async ({ root }) => {
    const team = await root.creates('/teams', { name: 'Newcomers' });
    const { createIdentityProvider } = await root.data(
      `mutation ($input: CreateIdentityProviderInput!) { createIdentityProvider(input: $input) { ${FIELDS} } }`,
      { input: values({ emailDomains: ['Corp.Example', 'corp.example'], teamIds: [team.id, team.id] }) },
    );
    expect(createIdentityProvider).toMatchObject({
      emailDomains: ['corp.example'],
      teamIds: [team.id],
      teams: [{ name: 'Newcomers' }],
    });
    const { id } = createIdentityProvider;
    const changes = { name: 'Renamed', createUsers: true, scope: 'openid email', usernameClaim: 'upn', enabled: false };
    const { updateIdentityProvider } = await root.data(
      `mutation ($input: UpdateIdentityProviderInput!) { updateIdentityProvider(id: "${id}", input: $input) { ${FIELDS} } }`,
      { input: changes },
    );
    expect(updateIdentityProvider).toEqual({ ...createIdentityProvider, ...changes });
    const record = (await root.get(`${LIST}/${id}`)).body;
    await expectBody(root.put(`${LIST}/${id}`, { ...record, name: 'Again' }), 200, { ...changes, name: 'Again' });
    expect(await root.data(`mutation { deleteIdentityProvider(id: "${id}") }`)).toEqual({ deleteIdentityProvider: id });
    await expectStatus(root.get(`${LIST}/${id}`), 404);
    await expectStatus(root.delete(`${LIST}/${id}`), 404);
  });

  worldTest('is listed by name, searched and sorted', async ({ root }) => {
    for (const name of ['Zebra listed', 'Antelope listed']) await root.creates(LIST, values({ name }));
    const names = (body: any) => body._embedded['svc:identity-provider'].map((one: any) => one.name);
    expect(names((await root.get(`${LIST}?q=listed`)).body)).toEqual(['Antelope listed', 'Zebra listed']);
    expect(names((await root.get(`${LIST}?q=listed&sort=-name&limit=1`)).body)).toEqual(['Zebra listed']);
    const { identityProviders } = await root.data(`{ identityProviders(q: "listed") { total items { name } } }`);
    expect(identityProviders).toEqual({ total: 2, items: [{ name: 'Antelope listed' }, { name: 'Zebra listed' }] });
  });

  worldTest('is for superusers in a session only, in both APIs', async ({ root, admin, ann, anonymous, service }) => {
    const { id } = await root.creates(LIST, values());
    const member = await service.login(ann.username);
    const readOnly = await service.user(`reader${count}`, { superuser: true, scopes: ['read'] });
    const input = values();
    const calls: [document: string, rest: (client: Client) => ReturnType<Client['get']>][] = [
      [`{ identityProvider(id: "${id}") { id } }`, (client) => client.get(`${LIST}/${id}`)],
      ['{ identityProviders { total } }', (client) => client.get(LIST)],
      [
        `mutation { createIdentityProvider(input: { domain: "d", name: "n", issuer: "https://i.example", clientId: "c" }) { id } }`,
        (client) => client.post(LIST, input),
      ],
      [
        `mutation { updateIdentityProvider(id: "${id}", input: { name: "n" }) { id } }`,
        (client) => client.put(`${LIST}/${id}`, { name: 'n' }),
      ],
      [`mutation { deleteIdentityProvider(id: "${id}") }`, (client) => client.delete(`${LIST}/${id}`)],
    ];
    for (const [document, rest] of calls) {
      await expectError(rest(anonymous), 401, 'Missing authentication');
      await expectGraphqlError(anonymous.gql(document), 'UNAUTHENTICATED', 'Missing authentication');
      await expectError(rest(member), 403, 'You lack the permission tenant:superuser');
      await expectGraphqlError(member.gql(document), 'FORBIDDEN', 'You lack the permission tenant:superuser');
      await expectError(rest(admin), 403, SESSION_REQUIRED);
      await expectGraphqlError(admin.gql(document), 'FORBIDDEN', SESSION_REQUIRED);
      const isWrite = document.startsWith('mutation');
      await expectError(rest(readOnly), 403, isWrite ? 'This token lacks the scope write' : SESSION_REQUIRED);
    }
    const crossSite = root.with({ 'sec-fetch-site': 'cross-site' });
    await expectStatus(crossSite.delete(`${LIST}/${id}`), 403);
    await expectStatus(root.get(`${LIST}/${id}`), 200);
    expect((await admin.gql(`{ node(id: "${id}") { id } }`)).data.node).toBeNull();
    expect((await root.gql(`{ node(id: "${id}") { id } }`)).data.node).toEqual({ id });
  });

  worldTest('does not exist in another tenant', async ({ root, foreigner }) => {
    const { id } = await root.creates(LIST, values());
    for (const key of [id, UNKNOWN_ID, 'nonsense']) {
      await expectError(foreigner.get(`${LIST}/${key}`), 404, `There is no identity provider ${key}`);
      await expectError(foreigner.put(`${LIST}/${key}`, { name: 'x' }), 404, `There is no identity provider ${key}`);
      await expectError(foreigner.delete(`${LIST}/${key}`), 404, `There is no identity provider ${key}`);
      await expectGraphqlError(foreigner.gql(`mutation { deleteIdentityProvider(id: "${key}") }`), 'NOT_FOUND');
    }
    expect((await foreigner.get(LIST)).body.total).toBe(0);
    await expectStatus(root.get(`${LIST}/${id}`), 200);
  });

  worldTest('refuses values that cannot be right, by name, and stays as it was', async ({ root }) => {
    const { id } = await root.creates(LIST, values());
    const before = (await root.get(`${LIST}/${id}`)).body;
    const invalid: [key: string, ...bad: unknown[]][] = [
      ['domain', 'local', 'LOCAL', 'two words', '', '-x', null, 'x'.repeat(101)],
      ['name', '', ' ', null, 'x'.repeat(256)],
      [
        'issuer',
        'corp',
        'ftp://corp.example',
        'https://',
        'https://a b',
        'https://u:p@corp.example',
        'https://c/?q=1',
        'https://c/#x',
        null,
      ],
      ['clientId', '', null],
      ['clientSecret', '', 'x'.repeat(2001)],
      ['scope', '', 'profile', 'openid  email', 'openidx', null],
      ['usernameClaim', '', null],
      ['emailDomains', null, ['a@b'], [''], Array.from({ length: 101 }, (_, n) => `d${n}`)],
      ['teamIds', null, Array.from({ length: 101 }, () => UNKNOWN_ID)],
      ['createUsers', null],
      ['enabled', null],
    ];
    for (const [key, ...bad] of invalid)
      for (const value of bad) {
        const { status, body } = await root.put(`${LIST}/${id}`, { name: 'Changed', [key]: value });
        expect([status, body.validation?.[0].path[0]], `${key}: ${JSON.stringify(value)}`).toEqual([400, key]);
        expect(JSON.stringify(body)).not.toContain('u:p');
      }
    for (const team of [UNKNOWN_ID, 'nonsense'])
      await expectError(
        root.put(`${LIST}/${id}`, { name: 'Changed', teamIds: [team] }),
        404,
        `There is no team ${team}`,
      );
    for (const key of ['domain', 'name', 'issuer', 'clientId']) {
      const { [key]: _missing, ...others } = values() as Record<string, unknown>;
      await expectInvalid(root.post(LIST, others), key, /is required/);
    }
    await expectStatus(root.put(`${LIST}/${id}`, { sealedClientSecret: 'x' }), 400);
    expect((await root.get(`${LIST}/${id}`)).body).toEqual(before);
  });

  worldTest('that is enabled is the only one of its domain in the tenant', async ({ root, foreigner }) => {
    const input = values();
    const { id } = await root.creates(LIST, input);
    const taken = `The domain "${input.domain.toUpperCase()}" already has an enabled identity provider`;
    await expectError(root.post(LIST, { ...input, domain: input.domain.toUpperCase() }), 409, taken);
    const other = await root.creates(LIST, { ...input, enabled: false });
    await expectStatus(root.put(`${LIST}/${other.id}`, { enabled: true }), 409);
    const third = await root.creates(LIST, values());
    await expectStatus(root.put(`${LIST}/${third.id}`, { domain: input.domain }), 409);
    await foreigner.creates(LIST, input);
    await expectStatus(root.put(`${LIST}/${id}`, { enabled: false }), 200);
    await expectStatus(root.put(`${LIST}/${other.id}`, { enabled: true }), 200);

    const both = await Promise.all([1, 2].map(() => root.post(LIST, { ...input, domain: 'race.example' })));
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
  });

  worldTest(
    'locks out no superuser: one can always log in with a password',
    async ({ foreigner, service, stranger }) => {
      const domain = `last${++count}.example`;
      const boss = await service.user(`boss${count}`, { tenant: 'other', superuser: true });
      const assign = (assignments: string, id: string) =>
        systemQuery(service, `update dws.app_user set ${assignments} where id = $1`, id);
      const locked = `The domain "${domain}" has the last superuser who can log in with a password`;
      const last = 'The last enabled superuser cannot be removed, disabled or demoted';
      const disabled = await foreigner.creates(LIST, values({ domain, enabled: false }));
      const elsewhere = await foreigner.creates(LIST, values());
      try {
        await assign(`domain = '${domain.toUpperCase()}'`, stranger.id);
        for (const ofBoss of [
          'enabled = false',
          'enabled = true, superuser = false',
          `superuser = true, domain = '${domain}'`,
          `domain = '${elsewhere.domain}'`,
          `domain = 'ldap', password_hash = null`,
        ]) {
          await assign(ofBoss, boss.id);
          await expectError(foreigner.post(LIST, values({ domain })), 409, locked);
          await expectError(foreigner.put(`${LIST}/${disabled.id}`, { enabled: true }), 409, locked);
          await expectError(foreigner.put(`${LIST}/${elsewhere.id}`, { domain }), 409, locked);
          await expectGraphqlError(
            foreigner.gql(`mutation { updateIdentityProvider(id: "${disabled.id}", input: { enabled: true }) { id } }`),
            'CONFLICT',
            locked,
          );
          // Both can log in while they are in the domain whose provider is disabled.
          const moves = [{ domain: elsewhere.domain }, { domain: 'local' }, { enabled: false }];
          for (const change of ofBoss.includes(domain) ? [] : moves)
            await expectError(foreigner.put(`/users/${stranger.id}`, change), 409, last);
        }
        await assign(`domain = 'local'`, boss.id);
        await expectStatus(foreigner.put(`${LIST}/${disabled.id}`, { enabled: true }), 200);
        await expectStatus(foreigner.put(`/users/${stranger.id}`, { displayName: 'Stays' }), 200);
        await expectError(foreigner.put(`/users/${boss.id}`, { domain }), 409, last);
      } finally {
        await assign(`domain = 'local'`, stranger.id);
        await assign(`superuser = false`, boss.id);
        for (const { id } of [disabled, elsewhere]) await foreigner.delete(`${LIST}/${id}`);
      }
    },
  );

  worldTest('stores its secret encrypted, keeps, replaces and clears it', async ({ root, service }) => {
    const { id } = await root.creates(LIST, values());
    const stored = async (): Promise<string | null> => {
      const [row] = await systemQuery<{ sealed: string | null }>(
        service,
        'select sealed_client_secret as sealed from dws.identity_provider where id = $1',
        id,
      );
      expect(row!.sealed ?? '').not.toContain(SECRET);
      return row!.sealed === null ? null : service.platform.secrets.open(row!.sealed, 'a test');
    };
    expect(await stored()).toBe(SECRET);
    await root.put(`${LIST}/${id}`, { name: 'Kept' });
    expect(await stored()).toBe(SECRET);
    await expectInvalid(
      root.put(`${LIST}/${id}`, { issuer: 'https://elsewhere.example' }),
      'clientSecret',
      'clientSecret is required when issuer changes',
    );
    await expectStatus(root.put(`${LIST}/${id}`, { issuer: 'https://elsewhere.example', clientSecret: 'new' }), 200);
    expect(await stored()).toBe('new');
    await expectStatus(root.put(`${LIST}/${id}`, { clientSecret: null }), 200);
    expect(await stored()).toBeNull();
    await expectStatus(root.put(`${LIST}/${id}`, { issuer: 'https://third.example' }), 200);
  });

  worldTest('that has changed since it was read is not overwritten', async ({ root }) => {
    const { id } = await root.creates(LIST, values());
    const tag = (await root.get(`${LIST}/${id}`)).headers.get('etag')!;
    await expectStatus(root.put(`${LIST}/${id}`, { name: 'First' }, { 'if-match': tag }), 200);
    await expectStatus(root.put(`${LIST}/${id}`, { name: 'Second' }, { 'if-match': tag }), 412);
    await expectStatus(root.delete(`${LIST}/${id}`, { 'if-match': tag }), 412);
  });

  worldTest('is changed in at most four round trips', async ({ root }) => {
    const team = await root.creates('/teams', { name: 'Counted' });
    const all = { teamIds: [team.id], issuer: 'https://counted.example', clientSecret: 'new' };
    const { id } = await root.creates(LIST, values());
    for (const call of [
      () => root.creates(LIST, values(all)),
      () => root.put(`${LIST}/${id}`, all),
      () => root.delete(`${LIST}/${id}`),
    ]) {
      const trips = await recordRoundTrips(call);
      expect(trips.length, JSON.stringify(trips, null, 1)).toBeLessThanOrEqual(4);
    }
  });

  worldTest('is in the audit log with its id at each change', async ({ root, service }) => {
    const { id } = await root.creates(LIST, values());
    await root.put(`${LIST}/${id}`, { name: 'Audited' });
    await root.delete(`${LIST}/${id}`);
    const events = await systemQuery(
      service,
      `select action, kind, outcome from dws.audit_event where resource_id = $1 order by created_at`,
      id,
    );
    expect(events).toEqual(
      ['createIdentityProvider', 'updateIdentityProvider', 'deleteIdentityProvider'].map((action) => ({
        action,
        kind: 'identityProvider',
        outcome: 'succeeded',
      })),
    );
  });
});

worldTest(
  'the providers of the login page are public, by name, of one tenant, and only the enabled ones',
  async ({ root, foreigner, anonymous }) => {
    await foreigner.creates(LIST, values({ name: 'Foreign' }));
    for (const { id } of (await root.get(`${LIST}?limit=1000`)).body._embedded['svc:identity-provider'])
      await root.delete(`${LIST}/${id}`);
    await root.creates(LIST, values({ domain: 'b.example', name: 'Beta' }));
    await root.creates(LIST, values({ domain: 'a@example', name: 'alpha' }));
    await root.creates(LIST, values({ name: 'Disabled', enabled: false }));
    const expected = [
      { domain: 'a@example', name: 'alpha', href: '/api/login/a%40example?tenant=default' },
      { domain: 'b.example', name: 'Beta', href: '/api/login/b.example?tenant=default' },
    ];
    for (const query of ['', '?tenant=default', '?tenant=']) {
      const { status, body } = await anonymous.get(`/login${query}`);
      expect([status, body], query).toEqual([200, expected]);
    }
    expect(await anonymous.data('{ loginProviders { domain name href } }')).toEqual({ loginProviders: expected });
    const { body: others } = await anonymous.get('/login?tenant=other');
    expect(others.map(({ name }: { name: string }) => name)).toContain('Foreign');
    expect(JSON.stringify(others)).not.toContain('Beta');
    for (const tenant of ['unknown', 'No Slug'])
      expect((await anonymous.get(`/login?tenant=${tenant}`)).body).toEqual([]);
    await expectError(anonymous.get('/login?surprise=1'), 400, /surprise/);
  },
);
