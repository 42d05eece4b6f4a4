import { describe, expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { createProfile, test } from '../support/usage-profile-fixture.ts';

const NONE = { profileId: null, profile: null };
const LACKING = 'You lack the permission billing:manage';

const createTeam = async (admin: Client, name: string, ...members: string[]): Promise<string> => {
  const { id } = await admin.creates('/teams', { name });
  for (const member of members)
    await expectStatus(admin.put(`/teams/${id}/members/${member}`, { role: 'member' }), 200);
  return id;
};

describe.for(['team', 'user'] as const)('the profile of a %s', (kind) => {
  const pathFor = async (admin: Client): Promise<string> =>
    kind === 'team' ? `/teams/${await createTeam(admin, 'Assigned')}` : '/users/ann';

  test('is assigned and taken away', async ({ admin, billing, ann }) => {
    expect(ann.username).toBe('ann');
    const path = `${await pathFor(admin)}/ai/profile`;
    const { id, name, slug } = await createProfile(admin, { creditCapPerMonth: 7, allowedModelTiers: ['strategic'] });
    expect((await billing.get(path)).body).toEqual(NONE);
    const assigned = {
      profileId: id,
      profile: { id, name, slug, creditCapPerMonth: 7, allowedModelTiers: ['strategic'] },
    };
    expect(await billing.put(path, { profileId: id })).toMatchObject({ status: 200, body: assigned });
    expect((await billing.get(path)).body).toEqual(assigned);
    await expectBody(billing.put(path, assigned), 200, assigned);
    expect((await billing.put(path, { profileId: null })).body).toEqual(NONE);
    expect((await billing.get(path)).body).toEqual(NONE);
  });

  test('must be known, of the tenant, and named', async ({ admin, billing, stranger, ann }) => {
    expect(ann.username).toBe('ann');
    const path = `${await pathFor(admin)}/ai/profile`;
    const { id: foreign } = await createProfile(stranger);
    for (const profileId of [UNKNOWN_ID, foreign, 'no-such-profile'])
      await expectError(billing.put(path, { profileId }), 404, `There is no usage profile ${profileId}`);
    await expectError(billing.put(path, {}), 400, 'profileId is required');
    await expectError(billing.put(path, { profileId: 5 }), 400, /profileId/);
    await expectError(billing.put(path, { profileId: null, other: 1 }), 400, /other/);
    expect((await billing.get(path)).body).toEqual(NONE);
  });

  test('is for billing:manage, after the look-up', async ({
    admin,
    billing,
    writer,
    ann,
    bob,
    stranger,
    anonymous,
  }) => {
    const path = await pathFor(admin);
    const unknown = path.replace(/[^/]+$/, kind === 'team' ? UNKNOWN_ID : 'nobody');
    const missing = `There is no ${kind} ${unknown.split('/').at(-1)}`;
    for (const client of [writer, ann, bob]) {
      await expectError(client.get(`${path}/ai/profile`), 403, LACKING);
      await expectError(client.put(`${path}/ai/profile`, { profileId: UNKNOWN_ID }), 403, LACKING);
      await expectError(client.get(`${unknown}/ai/profile`), 404, missing);
      await expectError(client.put(`${unknown}/ai/profile`, { profileId: null }), 404, missing);
    }
    await expectStatus(admin.get(`${path}/ai/profile`), 200);
    await expectError(billing.get(`${unknown}/ai/profile`), 404, missing);
    await expectStatus(stranger.get(`${path}/ai/profile`), 404);
    await expectStatus(stranger.put(`${path}/ai/profile`, { profileId: null }), 404);
    await expectStatus(anonymous.get(`${path}/ai/profile`), 401);
    await expectStatus(anonymous.put(`${path}/ai/profile`, { profileId: null }), 401);
  });
});

test('a profile is not deleted while it is assigned', async ({ service, admin }) => {
  await service.user('racer');
  for (let round = 0; round < 8; round += 1) {
    const { id } = await createProfile(admin);
    const [assigned, deleted] = await Promise.all([
      admin.put('/users/racer/ai/profile', { profileId: id }),
      admin.delete(`/usage-profiles/${id}`),
    ]);
    expect([
      [200, 409],
      [404, 200],
    ]).toContainEqual([assigned.status, deleted.status]);
    await admin.put('/users/racer/ai/profile', { profileId: null });
  }
});

describe('in GraphQL', () => {
  test('teams and users are assigned profiles', async ({ admin, billing, ann }) => {
    const team = await createTeam(admin, 'Graph');
    const { id } = await createProfile(admin, { creditCapPerMonth: 3 });
    const document = `mutation { setTeamUsageProfile(id: "${team}", profileId: "${id}") {
      profileId profile { creditCapPerMonth isUnlimited naturalId teams { id } }
    } setUserUsageProfile(username: "ann", profileId: "${id}") { profileId profile { users { username } } } }`;
    const { setTeamUsageProfile, setUserUsageProfile } = await billing.data(document);
    expect(setTeamUsageProfile).toMatchObject({
      profileId: id,
      profile: { creditCapPerMonth: 3, isUnlimited: false, teams: [{ id: team }] },
    });
    expect(setUserUsageProfile).toEqual({ profileId: id, profile: { users: [{ username: ann.username }] } });
    const read = `{ team(id: "${team}") { usageProfileId usageProfile { slug } usageProfileAssignment { profileId } } }`;
    expect((await billing.data(read)).team).toMatchObject({
      usageProfileId: id,
      usageProfile: { slug: expect.stringMatching(/^profile-/) },
      usageProfileAssignment: { profileId: id },
    });
    const { usageProfile } = await admin.data(
      `{ usageProfile(id: "${id}") { teams { name } users { username usageProfileAssignment { profile { id } } } } }`,
    );
    expect(usageProfile).toEqual({
      teams: [{ name: 'Graph' }],
      users: [{ username: 'ann', usageProfileAssignment: { profile: { id } } }],
    });
    await billing.data('mutation { setUserUsageProfile(username: "ann", profileId: null) { profileId } }');
    expect((await admin.data(`{ usageProfile(id: "${id}") { users { id } } }`)).usageProfile.users).toEqual([]);
  });

  test('others see the id of a team, but not the profile', async ({ admin, ann }) => {
    const team = await createTeam(admin, 'Seen', 'ann');
    const { id } = await createProfile(admin);
    await admin.put(`/teams/${team}/ai/profile`, { profileId: id });
    await expectBody(ann.get(`/teams/${team}`), 200, { usageProfileId: id });
    expect(await ann.data(`{ team(id: "${team}") { usageProfileId usageProfile { id } } }`)).toEqual({
      team: { usageProfileId: id, usageProfile: null },
    });
    const assignment = `{ team(id: "${team}") { usageProfileAssignment { profileId } } }`;
    await expectGraphqlError(ann.gql(assignment), 'FORBIDDEN', LACKING);
    const own = '{ me { usageProfileAssignment { profileId } } }';
    await expectGraphqlError(ann.gql(own), 'FORBIDDEN', LACKING);
    const change = `mutation { setTeamUsageProfile(id: "${team}", profileId: null) { profileId } }`;
    await expectGraphqlError(ann.gql(change), 'FORBIDDEN', LACKING);
  });

  test('no update of a team changes it', async ({ admin }) => {
    const team = await createTeam(admin, 'Kept');
    const { id } = await createProfile(admin);
    await admin.put(`/teams/${team}/ai/profile`, { profileId: id });
    await expectBody(admin.put(`/teams/${team}`, { name: 'Renamed', usageProfileId: null }), 200, {
      name: 'Renamed',
      usageProfileId: id,
    });
  });
});

describe('the usage of the caller', () => {
  const profileOf = async (client: Client) => (await client.get('/me/usage')).body.profile;

  test('has the profile that applies: own, else the profiles of the teams, else the default', async ({
    service,
    admin,
  }) => {
    const cara = await service.user('cara');
    const next = new Date();
    const resetsAt = new Date(Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1)).toISOString();
    expect((await cara.get('/me/usage')).body).toEqual({
      profile: {
        source: 'default',
        profiles: [{ name: 'Standard', slug: 'standard' }],
        creditCapPerMonth: 1000,
        isUnlimited: false,
        allowedModelTiers: ['everyday', 'advanced'],
      },
      used: 0,
      reserved: 0,
      cap: 1000,
      remaining: 1000,
      agents: [],
      resetsAt,
    });
    const [small, large] = [
      await createProfile(admin, { creditCapPerMonth: 10, allowedModelTiers: ['strategic'] }),
      await createProfile(admin, { creditCapPerMonth: 20, allowedModelTiers: ['everyday'] }),
    ];
    const assign = (team: string, profileId: string | null) => admin.put(`/teams/${team}/ai/profile`, { profileId });
    const [first, second] = [await createTeam(admin, 'One', 'cara'), await createTeam(admin, 'Two', 'cara')];
    await createTeam(admin, 'Without a profile', 'cara');
    const foreign = await createTeam(admin, 'Of others');
    await assign(foreign, (await admin.get('/usage-profiles/premium')).body.id);
    expect(await profileOf(cara)).toMatchObject({ source: 'default' });
    await assign(first, small.id);
    expect(await profileOf(cara)).toMatchObject({ source: 'team', creditCapPerMonth: 10 });
    await assign(second, large.id);
    expect(await profileOf(cara)).toEqual({
      source: 'team',
      profiles: [small, large].map(({ name, slug }) => ({ name, slug })),
      creditCapPerMonth: 20,
      isUnlimited: false,
      allowedModelTiers: ['everyday', 'strategic'],
    });
    await assign(second, small.id);
    expect(await profileOf(cara)).toMatchObject({ creditCapPerMonth: 10, profiles: [{ slug: small.slug }] });
    await admin.put('/users/cara/ai/profile', { profileId: 'premium' });
    expect(await profileOf(cara)).toMatchObject({ source: 'own', creditCapPerMonth: null, isUnlimited: true });
    expect((await cara.get('/me/usage')).body).toMatchObject({ cap: null, remaining: null });
    await admin.put('/users/cara/ai/profile', { profileId: large.id });
    expect(await profileOf(cara)).toMatchObject({ source: 'own', creditCapPerMonth: 20 });
    await admin.put('/users/cara/ai/profile', { profileId: null });
    await admin.delete(`/teams/${first}/members/cara`);
    await admin.delete(`/teams/${second}`);
    expect(await profileOf(cara)).toMatchObject({ source: 'default' });
  });

  test('needs credentials only', async ({ service, anonymous }) => {
    await expectStatus(anonymous.get('/me/usage'), 401);
    const dora = await service.user('dora', { permissions: [] });
    const { myUsage } = await dora.data('{ myUsage { used cap remaining profile { source allowedModelTiers } } }');
    expect(myUsage).toEqual({
      used: 0,
      cap: 1000,
      remaining: 1000,
      profile: { source: 'DEFAULT', allowedModelTiers: ['EVERYDAY', 'ADVANCED'] },
    });
  });
});
