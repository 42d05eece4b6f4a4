import { describe, expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectInvalid, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { systemQuery } from '../support/system-query.ts';
import { createTeam, readFeed } from '../support/team-fixture.ts';

const COMMENTS = `query ($id: ID!, $limit: Int, $start: Int) {
  team(id: $id) {
    comments(limit: $limit, start: $start) {
      total hasNextPage items { id message userId user { username } teamId team { name } permissions { delete } }
    }
  }
}`;
const CREATE = `mutation ($teamId: ID!, $message: String!) {
  createTeamComment(teamId: $teamId, input: { message: $message }) { id message user { username } }
}`;
const DELETE = 'mutation ($teamId: ID!, $id: ID!) { deleteTeamComment(teamId: $teamId, id: $id) }';

const readComments = async (client: Client, team: string, query = '') =>
  (await client.get(`/teams/${team}/comments${query}`)).body._embedded['svc:comment'];
const comment = async (client: Client, team: string, message: string): Promise<string> =>
  (await client.creates(`/teams/${team}/comments`, { message })).id;

describe('a comment', () => {
  test('is created by a member and read by all members, in both APIs', async ({ admin, ann, bob }) => {
    const team = await createTeam(admin, 'Talkers', ann, bob);
    const created = await ann.post(`/teams/talkers/comments`, { message: 'Hello' });
    const record = await expectBody(created, 201, {});
    expect(record).toEqual({
      id: expect.any(String),
      message: 'Hello',
      userId: ann.id,
      teamId: team,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      permissions: { delete: true },
      _embedded: { 'svc:user': { username: 'ann', displayName: null } },
      _links: expect.objectContaining({
        self: { href: `/api/teams/${team}/comments/${record.id}` },
        'svc:team': { href: `/api/teams/${team}` },
        'svc:user': { href: `/api/users/${ann.id}` },
      }),
    });
    const location = created.headers.get('location')!;
    expect(location).toBe(record._links.self.href);
    await expectBody(bob.request('GET', location), 200, { id: record.id, permissions: { delete: false } });
    expect((await bob.data(CREATE, { teamId: team, message: 'Hi' })).createTeamComment).toEqual({
      id: expect.any(String),
      message: 'Hi',
      user: { username: 'bob' },
    });
    expect(await readComments(bob, team)).toMatchObject([
      { message: 'Hello', _embedded: { 'svc:user': { username: 'ann' } } },
      { message: 'Hi', _embedded: { 'svc:user': { username: 'bob' } } },
    ]);
    expect((await ann.data(COMMENTS, { id: team })).team.comments).toMatchObject({
      total: 2,
      items: [
        { id: record.id, userId: ann.id, user: { username: 'ann' }, permissions: { delete: true } },
        { message: 'Hi', teamId: team, team: { name: 'Talkers' }, permissions: { delete: false } },
      ],
    });
    expect(await ann.data(`{ team(id: "${team}") { comment(id: "${record.id}") { message } } }`)).toEqual({
      team: { comment: { message: 'Hello' } },
    });
  });

  test('is stored exactly as it is sent', async ({ admin, ann }) => {
    const team = await createTeam(admin, 'Exact', ann);
    for (const message of ['  padded \n', '\ttab\r\nline', 'e\u0301 \u00e9 \u{1f680}', '<b>&amp;</b>', '{{x}} $1 \\n'])
      await expectBody(ann.post(`/teams/${team}/comments`, { message }), 201, { message });
    const sent = ' by GraphQL ';
    expect((await ann.data(CREATE, { teamId: team, message: sent })).createTeamComment.message).toBe(sent);
  });

  test('has 1 to 10,000 code points that are not all white space', async ({ service, admin, ann }) => {
    const team = await createTeam(admin, 'Bounds', ann);
    const path = `/teams/${team}/comments`;
    const longest = '\u{1f680}'.repeat(10_000);
    const tooLong = 'must have at most 10000 characters';
    await expectBody(ann.post(path, { message: longest }), 201, { message: longest });
    await expectStatus(ann.post(path, { message: '.' }), 201);
    await expectInvalid(ann.post(path, { message: `${longest}.` }), 'message', `message ${tooLong}`);
    await expectGraphqlError(
      ann.gql(CREATE, { teamId: team, message: `${longest}.` }),
      'BAD_USER_INPUT',
      RegExp(tooLong),
    );
    for (const message of ['', ' ', ' \n\t\u00a0']) {
      await expectInvalid(ann.post(path, { message }), 'message', 'message must not be empty');
      await expectGraphqlError(ann.gql(CREATE, { teamId: team, message }), 'BAD_USER_INPUT', /must not be empty/);
    }
    for (const body of [
      {},
      { message: null },
      { message: 7 },
      { message: ['a'] },
      { message: 'a\u0000b' },
      { message: 'a\u001bb' },
    ])
      await expectError(ann.post(path, body), 400, /message/);
    await expectError(ann.post(path, { message: 'a', userId: admin.id }), 400, /userId/);
    expect(await systemQuery(service, 'select from dws.team_comment where team_id = $1', team)).toHaveLength(2);
  });

  test('is listed oldest first, in pages', async ({ admin, ann }) => {
    const team = await createTeam(admin, 'Listed', ann);
    for (const message of ['a', 'b', 'c']) await comment(ann, team, message);
    const all = await readComments(ann, team);
    expect(all.map(({ message }: { message: string }) => message)).toEqual(['a', 'b', 'c']);
    await expectBody(ann.get(`/teams/${team}/comments?limit=1&start=1`), 200, {
      start: 1,
      count: 1,
      total: 3,
      _embedded: { 'svc:comment': [{ message: 'b' }] },
    });
    expect((await ann.data(COMMENTS, { id: team, limit: 2 })).team.comments).toMatchObject({
      hasNextPage: true,
      items: [{ message: 'a' }, { message: 'b' }],
    });
  });

  test('is in the feed of its team, without its text', async ({ admin, ann }) => {
    const team = await createTeam(admin, 'Fed', ann);
    const id = await comment(ann, team, 'A private text');
    const [item] = await readFeed(admin, team);
    expect(item).toMatchObject({
      type: 'commentAdded',
      entityType: 'comment',
      entityId: id,
      userId: ann.id,
      message: 'ann commented in Fed',
      _links: { 'svc:resource': { href: `/api/teams/${team}/comments/${id}` } },
    });
    const byGraphql = `{ team(id: "${team}") { feed { items { type entity { ... on TeamComment { message } } } } } }`;
    expect((await ann.data(byGraphql)).team.feed.items[0]).toEqual({
      type: 'COMMENT_ADDED',
      entity: { message: 'A private text' },
    });
    await expectStatus(ann.delete(`/teams/${team}/comments/${id}`), 204);
    expect((await readFeed(admin, team)).map(({ type }) => type)).toEqual(['commentAdded', 'teamCreated']);
    expect((await ann.data(byGraphql)).team.feed.items[0]).toEqual({ type: 'COMMENT_ADDED', entity: null });
  });

  test('stays without its user when the user is deleted', async ({ service, admin, ann }) => {
    const passing = await service.user('passing');
    const team = await createTeam(admin, 'Remembering', ann, passing);
    const id = await comment(passing, team, 'I was here');
    await expectStatus(admin.delete('/users/passing'), 204);
    for (const record of [(await readComments(ann, team))[0], (await ann.get(`/teams/${team}/comments/${id}`)).body]) {
      expect(record).toMatchObject({ message: 'I was here', userId: null, _embedded: { 'svc:user': null } });
      expect(record._links).not.toHaveProperty('svc:user');
    }
    expect((await ann.data(COMMENTS, { id: team })).team.comments.items).toMatchObject([{ userId: null, user: null }]);
  });
});

describe('a comment is deleted', () => {
  test('by its writer, an admin of the team and a superuser, and by no one else', async ({
    service,
    admin,
    ann,
    bob,
  }) => {
    const lead = await service.user('lead');
    const team = await createTeam(admin, 'Deleters', ann, bob);
    await admin.put(`/teams/${team}/members/lead`, { role: 'admin' });
    const lacks = 'You lack the permission comment:delete';
    for (const [index, client] of [ann, lead, admin].entries()) {
      const id = await comment(ann, team, 'Delete me');
      const path = `/teams/${team}/comments/${id}`;
      await expectError(bob.delete(path), 403, lacks);
      await expectGraphqlError(bob.gql(DELETE, { teamId: team, id }), 'FORBIDDEN', lacks);
      if (index % 2) expect(await client.data(DELETE, { teamId: team, id })).toEqual({ deleteTeamComment: id });
      else await expectStatus(client.delete(path), 204);
      await expectError(client.get(path), 404, `There is no comment ${id}`);
      await expectError(client.delete(path), 404, `There is no comment ${id}`);
    }
    expect(await readComments(ann, team)).toEqual([]);
  });

  test('below its own team only, and obeys If-Match', async ({ admin, ann }) => {
    const team = await createTeam(admin, 'Right', ann);
    const other = await createTeam(admin, 'Wrong', ann);
    const id = await comment(ann, team, 'Stay');
    for (const [teamId, unknown] of [
      [other, id],
      [team, newId()],
      [team, 'no-uuid'],
    ] as const) {
      await expectError(ann.get(`/teams/${teamId}/comments/${unknown}`), 404, `There is no comment ${unknown}`);
      await expectError(ann.delete(`/teams/${teamId}/comments/${unknown}`), 404, `There is no comment ${unknown}`);
      await expectGraphqlError(ann.gql(DELETE, { teamId, id: unknown }), 'NOT_FOUND');
    }
    const path = `/teams/${team}/comments/${id}`;
    expect((await ann.get(path)).headers.get('etag')).toMatch(/^W\/"1-/);
    await expectStatus(ann.delete(path, { 'if-match': 'W/"2"' }), 412);
    await expectStatus(ann.delete(path, { 'if-match': (await ann.get(path)).headers.get('etag')! }), 204);
  });

  test('with its team', async ({ service, admin, ann }) => {
    const team = await createTeam(admin, 'Short-lived', ann);
    const id = await comment(ann, team, 'Soon gone');
    await expectStatus(admin.delete(`/teams/${team}`), 204);
    await expectStatus(ann.get(`/teams/${team}/comments/${id}`), 404);
    expect(await systemQuery(service, 'select from dws.team_comment where id = $1', id)).toEqual([]);
  });

  test('by the audit log as well, with its id', async ({ admin, ann }) => {
    const team = await createTeam(admin, 'Audited', ann);
    const id = await comment(ann, team, 'Audited');
    await ann.delete(`/teams/${team}/comments/${id}`);
    const actionsOf = async (resourceId: string) =>
      (await admin.get(`/audit?resourceId=${resourceId}`)).body._embedded['svc:audit-event'].map(
        ({ action, kind }: { action: string; kind: string }) => [action, kind],
      );
    expect(await actionsOf(id)).toEqual([['deleteTeamComment', 'comment']]);
    expect((await actionsOf(team))[0]).toEqual(['createTeamComment', 'team']);
  });
});
