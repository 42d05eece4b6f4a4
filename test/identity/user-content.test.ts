import { describe, expect } from 'vitest';
import { OWNED_KINDS } from '../../entities/owned-kinds.ts';
import { FIXTURES, OWNED_PATHS, singularOf } from '../conformance/fixtures.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { recordStatements } from '../support/statement-log.ts';
import { systemQuery } from '../support/system-query.ts';

interface Content {
  userId: string;
  username: string;
  displayName: string | null;
  counts: Record<string, number>;
  total: number;
}

const contentOf = async (client: Client, { id }: Client): Promise<Content> => {
  const { body } = await client.get('/users-content');
  return body.find(({ userId }: Content) => userId === id);
};

const KINDS = OWNED_KINDS.map(({ kind }) => kind);
const ZEROS = Object.fromEntries(KINDS.map((kind) => [kind, 0]));

describe('the content of users', () => {
  test('has every kind of every user, zeros too, sorted by username', async ({ service, ann, bob, admin }) => {
    const disabled = await service.user('Aaron');
    await admin.put('/users/aaron', { enabled: false, displayName: 'Aaron A.' });
    const { status, body } = await ann.get('/users-content');
    expect(status).toBe(200);
    expect(body.slice(0, 2)).toEqual([
      { userId: disabled.id, username: 'Aaron', displayName: 'Aaron A.', counts: ZEROS, total: 0 },
      { userId: admin.id, username: 'admin', displayName: null, counts: ZEROS, total: 0 },
    ]);
    expect(body.map(({ userId }: Content) => userId)).toEqual([disabled.id, admin.id, ann.id, bob.id]);
    for (const { counts } of body) expect(Object.keys(counts)).toEqual(KINDS);
  });

  test('counts what the lists of the owner contain, of each kind', async ({ service, admin }) => {
    const owner = await service.user('owner');
    for (const [index, kind] of OWNED_PATHS.entries())
      for (let n = 0; n <= index; n += 1) await FIXTURES[kind]!.create(admin, `${kind} ${n}`, `user:${owner.id}`);
    const lists = await Promise.all(
      OWNED_PATHS.map(async (kind) => [
        singularOf(kind),
        (await admin.get(`/${kind}?ownerId=${owner.id}&limit=1`)).body.total as number,
      ]),
    );
    const counts = Object.fromEntries(lists) as Record<string, number>;
    expect(Object.keys(counts).toSorted()).toEqual(KINDS.toSorted());
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(0);
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
    expect(await contentOf(owner, owner)).toMatchObject({ counts, total });
  });

  test('leaves out drafts, snapshots and what teams own', async ({ service, admin }) => {
    const drafter = await service.user('drafter');
    const before = await contentOf(drafter, drafter);
    const id = await FIXTURES['datasets']!.create(admin, 'drafted', `user:${drafter.id}`);
    const after = await contentOf(drafter, drafter);
    expect(after.counts['dataset']).toBe(before.counts['dataset']! + 1);

    await expectStatus(drafter.post(`/datasets/${id}/_edit`), 200);
    await systemQuery(
      service,
      `insert into dws.dataset
      select (jsonb_populate_record(d, jsonb_build_object(
        'id', gen_random_uuid(), 'slug', 'snapshot', 'parent_id', d.id, 'is_snapshot', true))).*
      from dws.dataset d where id = $1`,
      id,
    );
    const team = await admin.creates('/teams', { name: 'Owners' });
    await admin.put(`/teams/${team.id}/members/drafter`, { role: 'admin' });
    await FIXTURES['reports']!.create(admin, 'of the team', `team:${team.id}`);
    expect(await contentOf(drafter, drafter)).toEqual(after);
  });

  test('counts what the caller cannot read, of the tenant only', async ({ service, admin, ann, stranger }) => {
    const hermit = await service.user('hermit');
    const id = await FIXTURES['reports']!.create(admin, 'hidden', `user:${hermit.id}`);
    await expectStatus(ann.get(`/reports/${id}`), 404);
    expect(await contentOf(ann, hermit)).toMatchObject({ counts: { ...ZEROS, report: 1 }, total: 1 });
    await expectBody(stranger.get('/users-content'), 200, [{ userId: stranger.id, total: 0 }]);
  });

  test('is the same in GraphQL, and for users with credentials only', async ({ ann, anonymous }) => {
    const { usersContent } = await ann.data('{ usersContent { userId username displayName counts total } }');
    expect(usersContent).toEqual((await ann.get('/users-content')).body);
    await expectStatus(anonymous.get('/users-content'), 401);
    await expectGraphqlError(anonymous.gql('{ usersContent { total } }'), 'UNAUTHENTICATED');
    await expectStatus(ann.get('/users-content?limit=2'), 400);
  });

  test('is counted in one statement', async ({ service, ann }) => {
    const { statements } = await recordStatements(service, () => expectStatus(ann.get('/users-content'), 200));
    expect(statements).toHaveLength(1);
  });

  test('has the users for their ids in GraphQL', async ({ ann }) => {
    const { usersContent } = await ann.data('{ usersContent { userId user { id loginAttempts } } }');
    for (const { userId, user } of usersContent)
      expect(user).toEqual({ id: userId, loginAttempts: userId === ann.id ? 0 : null });
  });
});
