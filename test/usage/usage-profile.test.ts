import { describe, expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError, expectInvalid, expectStatus } from '../support/expect.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { createProfile, profileBody, slugsOf, test } from '../support/usage-profile-fixture.ts';

const STANDARD = {
  name: 'Standard',
  slug: 'standard',
  creditCapPerMonth: 1000,
  allowedModelTiers: ['everyday', 'advanced'],
  isUnlimited: false,
  isDefault: true,
  system: true,
};
const PREMIUM = {
  name: 'Premium',
  slug: 'premium',
  creditCapPerMonth: null,
  allowedModelTiers: ['everyday', 'advanced', 'strategic'],
  isUnlimited: true,
  isDefault: false,
  system: true,
};

describe('usage profiles', () => {
  test('of a new tenant are Standard, the default, and Premium', async ({ stranger }) => {
    const body = await expectBody(stranger.get('/usage-profiles'), 200, { start: 0, count: 2, total: 2 });
    expect(body._links.self.href).toBe('/api/usage-profiles');
    const [standard, premium] = body._embedded['svc:usage-profile'];
    expect(standard).toMatchObject({ ...STANDARD, tenant: 'other', naturalId: 'other:standard' });
    expect(premium).toMatchObject(PREMIUM);
    expect(standard.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-/);
  });

  test('are listed with profiles of the system first, then by creation time', async ({ admin, writer }) => {
    const [second, first] = [profileBody({ name: 'Zebra' }), profileBody({ name: 'Aardvark' })];
    await writer.creates('/usage-profiles', second);
    await writer.creates('/usage-profiles', first);
    const slugs = slugsOf((await admin.get('/usage-profiles')).body);
    expect(slugs.slice(0, 2)).toEqual(['standard', 'premium']);
    expect(slugs.slice(-2)).toEqual([second.slug, first.slug]);
    expect(slugsOf((await admin.get('/usage-profiles?sort=-name&limit=1')).body)).toEqual([second.slug]);
    expect(slugsOf((await admin.get('/usage-profiles?q=aardv')).body)).toEqual([first.slug]);
    const { usageProfiles } = await admin.data('{ usageProfiles(limit: 2) { items { slug isUnlimited } } }');
    expect(usageProfiles.items).toEqual([
      { slug: 'standard', isUnlimited: false },
      { slug: 'premium', isUnlimited: true },
    ]);
  });

  test('have the values of their creation, in both APIs', async ({ admin, writer }) => {
    const body = profileBody({ creditCapPerMonth: 25, allowedModelTiers: ['strategic', 'everyday', 'strategic'] });
    const created = await writer.post('/usage-profiles', body);
    const expected = {
      ...body,
      allowedModelTiers: ['everyday', 'strategic'],
      isUnlimited: false,
      isDefault: false,
      system: false,
    };
    await expectBody(created, 200, expected);
    const { id } = created.body;
    const read = await expectBody(admin.get(`/usage-profiles/${id}`), 200, expected);
    expect(read._links['svc:usage-profile']).toEqual({ href: `/api/usage-profiles/${id}` });
    await expectBody(admin.get(`/usage-profiles/default:${body.slug}`), 200, { id });
    const document = `mutation ($input: CreateUsageProfileInput!) { createUsageProfile(input: $input) {
      creditCapPerMonth allowedModelTiers isUnlimited description
    } }`;
    const minimal = { ...profileBody(), description: '  Trimmed  ' };
    expect((await writer.data(document, { input: minimal })).createUsageProfile).toEqual({
      creditCapPerMonth: null,
      allowedModelTiers: [],
      isUnlimited: true,
      description: 'Trimmed',
    });
    const tiers = { ...profileBody(), allowedModelTiers: ['ADVANCED'] };
    expect((await writer.data(document, { input: tiers })).createUsageProfile.allowedModelTiers).toEqual(['ADVANCED']);
  });

  test.for([
    [{ name: '' }, 'name', /must not be empty/],
    [{ name: undefined }, 'name', /is required/],
    [{ description: '' }, 'description', 'description must not be empty'],
    [{ description: '  ' }, 'description', 'description must not be empty'],
    [{ description: null }, 'description', /description/],
    [{ slug: 'Upper' }, 'slug', 'slug must match ^[a-z][a-z0-9-]*$'],
    [{ slug: '1st' }, 'slug', 'slug must match ^[a-z][a-z0-9-]*$'],
    [{ slug: undefined }, 'slug', /is required/],
    [{ creditCapPerMonth: -1 }, 'creditCapPerMonth', /whole number from 0/],
    [{ creditCapPerMonth: 1.5 }, 'creditCapPerMonth', /creditCapPerMonth/],
    [{ creditCapPerMonth: 2 ** 31 }, 'creditCapPerMonth', /creditCapPerMonth/],
    [{ allowedModelTiers: ['cheap'] }, 'allowedModelTiers.0', /allowedModelTiers/],
    [{ allowedModelTiers: null }, 'allowedModelTiers', /allowedModelTiers/],
  ] as const)('are 400 for %j', async ([values, path, message], { writer }) => {
    await expectInvalid(writer.post('/usage-profiles', profileBody(values)), path, message);
  });

  test('have slugs that no other has', async ({ writer, stranger }) => {
    const { slug } = await createProfile(writer);
    await expectError(
      writer.post('/usage-profiles', profileBody({ slug })),
      409,
      `The slug "${slug}" is already in use`,
    );
    await expectError(writer.post('/usage-profiles', profileBody({ slug: 'standard' })), 409);
    await createProfile(stranger, { slug });
  });
});

describe('an update', () => {
  test('changes what it names, and nothing else', async ({ writer }) => {
    const profile = await createProfile(writer, { creditCapPerMonth: 5, allowedModelTiers: ['everyday'] });
    const path = `/usage-profiles/${profile.id}`;
    await expectBody(writer.put(path, { creditCapPerMonth: 0 }), 200, {
      name: profile.name,
      creditCapPerMonth: 0,
      isUnlimited: false,
      allowedModelTiers: ['everyday'],
    });
    await expectBody(writer.put(path, { creditCapPerMonth: null, description: 'New' }), 200, {
      creditCapPerMonth: null,
      isUnlimited: true,
      description: 'New',
    });
    await expectBody(writer.put(path, { allowedModelTiers: [] }), 200, { allowedModelTiers: [], description: 'New' });
  });

  test('takes back the response, but no other slug', async ({ admin, writer }) => {
    const profile = await createProfile(writer);
    const path = `/usage-profiles/${profile.id}`;
    for (const client of [admin, writer]) {
      const { body } = await client.put(path, {});
      await expectBody(client.put(path, { ...body, name: 'Renamed' }), 200, { name: 'Renamed', slug: profile.slug });
      const refused = client.put(path, { slug: 'other-slug' });
      await expectError(refused, 400, '"slug" cannot be changed');
    }
    await expectError(admin.put(path, { id: UNKNOWN_ID }), 400, '"id" cannot be changed');
    const document = `mutation { updateUsageProfile(id: "${profile.id}", input: { slug: "other-slug" }) { id } }`;
    await expectGraphqlError(writer.gql(document), 'BAD_USER_INPUT', '"slug" cannot be changed');
  });

  test('refuses a description that is not a real value', async ({ writer }) => {
    const { id } = await createProfile(writer);
    for (const description of ['', ' ', null])
      await expectStatus(writer.put(`/usage-profiles/${id}`, { description }), 400, JSON.stringify(description));
  });

  test('changes profiles of the system, except for the slug', async ({ stranger }) => {
    const path = '/usage-profiles/premium';
    await expectBody(stranger.put(path, { name: 'Best', creditCapPerMonth: 9 }), 200, {
      name: 'Best',
      creditCapPerMonth: 9,
      system: true,
    });
    await expectError(stranger.put(path, { slug: 'best' }), 400, '"slug" cannot be changed');
    await expectBody(stranger.put(path, { name: 'Premium', creditCapPerMonth: null }), 200, PREMIUM);
  });

  test('checks If-Match', async ({ admin, writer }) => {
    const { id } = await createProfile(writer);
    const path = `/usage-profiles/${id}`;
    const etag = (await admin.get(path)).headers.get('etag')!;
    await expectStatus(writer.put(path, { name: 'First' }, { 'if-match': etag }), 200);
    await expectStatus(writer.put(path, { name: 'Second' }, { 'if-match': etag }), 412);
    await expectStatus(writer.delete(path, { 'if-match': etag }), 412);
  });
});

describe('the default', () => {
  const defaultsOf = async (client: { data: (document: string) => Promise<any> }): Promise<string[]> => {
    const { usageProfiles } = await client.data('{ usageProfiles { items { slug isDefault } } }');
    return usageProfiles.items.filter((one: { isDefault: boolean }) => one.isDefault).map((one: any) => one.slug);
  };

  test('is moved by isDefault: true, and never unset', async ({ stranger }) => {
    const profile = await createProfile(stranger);
    const path = `/usage-profiles/${profile.id}`;
    await expectBody(stranger.put(path, { isDefault: false }), 200, { isDefault: false });
    await expectBody(stranger.put(path, { isDefault: true }), 200, { isDefault: true });
    expect(await defaultsOf(stranger)).toEqual([profile.slug]);
    await expectInvalid(stranger.put(path, { isDefault: false }), 'isDefault', /must not be false for the default/);
    await expectError(stranger.delete(path), 409, 'The usage profile is the default of the tenant');
    await expectBody(stranger.put(path, { isDefault: true, name: 'Still' }), 200, { isDefault: true, name: 'Still' });
    const next = await createProfile(stranger, { isDefault: true });
    expect(await defaultsOf(stranger)).toEqual([next.slug]);
    await expectStatus(stranger.put('/usage-profiles/standard', { isDefault: true }), 200);
    expect(await defaultsOf(stranger)).toEqual(['standard']);
  });

  test('is one, however many move it concurrently', async ({ stranger }) => {
    const made = await Promise.all(Array.from({ length: 4 }, () => createProfile(stranger)));
    const moves = [...made, ...made].map(({ id }) => stranger.put(`/usage-profiles/${id}`, { isDefault: true }));
    moves.push(stranger.post('/usage-profiles', profileBody({ isDefault: true })));
    for (const { status } of await Promise.all(moves)) expect(status).toBe(200);
    expect(await defaultsOf(stranger)).toHaveLength(1);
    await expectStatus(stranger.put('/usage-profiles/standard', { isDefault: true }), 200);
  });
});

describe('a deletion', () => {
  test('removes a profile', async ({ admin, writer }) => {
    const [first, second] = [await createProfile(writer), await createProfile(writer)];
    expect(await writer.delete(`/usage-profiles/${first.id}`)).toMatchObject({ status: 200, body: { success: true } });
    await expectStatus(admin.get(`/usage-profiles/${first.id}`), 404);
    const document = `mutation { deleteUsageProfile(id: "${second.slug}") }`;
    expect(await writer.data(document)).toEqual({ deleteUsageProfile: second.slug });
    await expectError(writer.delete(`/usage-profiles/${second.id}`), 404, `There is no usage profile ${second.id}`);
  });

  test('is 409 for profiles of the system', async ({ writer }) => {
    await expectError(writer.delete('/usage-profiles/premium'), 409, 'Usage profiles of the system cannot be deleted');
    await expectError(writer.delete('/usage-profiles/standard'), 409);
    const document = 'mutation { deleteUsageProfile(id: "premium") }';
    await expectGraphqlError(writer.gql(document), 'CONFLICT', 'Usage profiles of the system cannot be deleted');
  });

  test('is 409 for those that are assigned, naming teams and users', async ({ admin, writer, ann, bob }) => {
    const { id } = await createProfile(writer);
    const team = await admin.creates('/teams', { name: 'Sales' });
    for (const path of [`/teams/${team.id}`, '/users/ann', '/users/bob'])
      await expectStatus(admin.put(`${path}/ai/profile`, { profileId: id }), 200);
    expect([ann.username, bob.username]).toEqual(['ann', 'bob']);
    const refused = () => writer.delete(`/usage-profiles/${id}`);
    await expectError(refused(), 409, 'The usage profile is assigned to team Sales, user ann, user bob');
    await admin.delete(`/teams/${team.id}`);
    await expectError(refused(), 409, 'The usage profile is assigned to user ann, user bob');
    for (const name of ['ann', 'bob']) await admin.put(`/users/${name}/ai/profile`, { profileId: null });
    await expectStatus(refused(), 200);
  });
});

describe('access', () => {
  test('to read them is for superusers, to change them for usage:write', async ({
    admin,
    writer,
    billing,
    ann,
    readOnly,
    anonymous,
  }) => {
    const { id } = await createProfile(admin);
    const path = `/usage-profiles/${id}`;
    for (const client of [writer, billing, ann])
      for (const read of ['/usage-profiles', path, `/usage-profiles/${UNKNOWN_ID}`])
        await expectError(client.get(read), 403, 'You lack the permission tenant:superuser');
    for (const client of [billing, ann]) {
      const lacking = 'You lack the permission usage:write';
      await expectError(client.post('/usage-profiles', profileBody()), 403, lacking);
      for (const one of [path, `/usage-profiles/${UNKNOWN_ID}`]) {
        await expectError(client.put(one, { name: 'New', id: UNKNOWN_ID }), 403, lacking);
        await expectError(client.delete(one), 403, lacking);
      }
      await expectGraphqlError(client.gql(`mutation { deleteUsageProfile(id: "${id}") }`), 'FORBIDDEN', lacking);
    }
    await expectStatus(readOnly.get(path), 200);
    await expectError(readOnly.put(path, { name: 'New' }), 403, 'This token lacks the scope write');
    for (const method of ['GET', 'PUT', 'DELETE'])
      await expectStatus(anonymous.request(method, `/api${path}`, method === 'PUT' ? {} : undefined), 401);
  });

  test('ends at the tenant, also as a node', async ({ admin, writer, billing, stranger }) => {
    const { id } = await createProfile(admin);
    const path = `/usage-profiles/${id}`;
    await expectError(stranger.get(path), 404, `There is no usage profile ${id}`);
    await expectError(stranger.put(path, { name: 'New' }), 404, `There is no usage profile ${id}`);
    await expectError(stranger.delete(path), 404, `There is no usage profile ${id}`);
    await expectError(writer.put(`/usage-profiles/${UNKNOWN_ID}`, { name: 'New' }), 404);
    await expectError(writer.delete(`/usage-profiles/${UNKNOWN_ID}`), 404);
    const node = `{ node(id: "${id}") { __typename ... on UsageProfile { system } } }`;
    expect(await admin.data(node)).toEqual({ node: { __typename: 'UsageProfile', system: false } });
    for (const client of [writer, billing, stranger])
      await expectGraphqlError(client.gql(node), 'NOT_FOUND', `There is no resource ${id}`);
  });
});
