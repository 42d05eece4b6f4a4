import { beforeAll, describe, expect, test } from 'vitest';
import { Client } from '../support/client.ts';
import { expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { recordRoundTrips } from '../support/round-trips.ts';
import { startService, type Service } from '../support/service.ts';
import { recordStatements } from '../support/statement-log.ts';
import { createTeam, readFeed } from '../support/team-fixture.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';

/* Who may use feed and comments of a team: every route and field, by every caller. */

let service: Service;
let admin: Client;
let team: string;
let commentId: string;
let activityId: string;
const callers: Record<string, Client> = {};

beforeAll(async () => {
  service = await startService();
  admin = callers['a superuser who is not a member'] = await service.user('admin', { superuser: true });
  const founder = await service.user('founder', { superuser: true });
  callers['a member'] = await service.user('member');
  callers['an admin of the team'] = await service.user('lead');
  callers['a user outside the team'] = await service.user('outsider');
  callers['a token that only reads'] = await service.user('readonly', { superuser: true, scopes: ['read'] });
  callers['a superuser of another tenant'] = await service.user('stranger', { tenant: 'other', superuser: true });
  callers['a caller without credentials'] = new Client(service.url);
  team = await createTeam(founder, 'Participants', callers['a member']);
  await founder.put(`/teams/${team}/members/lead`, { role: 'admin' });
  await founder.delete(`/teams/${team}/members/founder`);
  commentId = (await admin.creates(`/teams/${team}/comments`, { message: 'Stay' })).id;
  activityId = (await readFeed(admin, team))[0]!.id;
  return () => service.close();
});

/** The routes with a valid body each, and what they return to callers who participate. */
const ROUTES = (id: string): [string, string, object | undefined, number][] => [
  ['GET', `/api/teams/${id}/feed`, undefined, 200],
  ['POST', `/api/teams/${id}/_markFeedViewed`, { activityIds: [activityId] }, 200],
  ['GET', `/api/teams/${id}/comments`, undefined, 200],
  ['POST', `/api/teams/${id}/comments`, { message: 'Hello' }, 201],
  ['GET', `/api/teams/${id}/comments/${commentId}`, undefined, 200],
];
/** The same in GraphQL. */
const DOCUMENTS = (id: string): [string, boolean][] => [
  [`{ team(id: "${id}") { name feed { items { id } } } }`, false],
  [`mutation { markFeedViewed(id: "${id}", activityIds: ["${activityId}"]) { viewed } }`, true],
  [`{ team(id: "${id}") { name comments { items { id } } } }`, false],
  [`mutation { createTeamComment(teamId: "${id}", input: { message: "Hello" }) { id } }`, true],
  [`{ team(id: "${id}") { name comment(id: "${commentId}") { id } } }`, false],
];
const PARTICIPANTS = ['a superuser who is not a member', 'a member', 'an admin of the team'];
const LACKS = 'You lack the permission team:participate';

describe('feed and comments', () => {
  test.for(PARTICIPANTS)('are for %s', async (name) => {
    for (const [method, path, body, status] of ROUTES(team))
      await expectStatus(callers[name]!.request(method, path, body), status, `${method} ${path}`);
    for (const [document] of DOCUMENTS(team)) await callers[name]!.data(document);
  });

  test('are 403 for a user outside the team, who reads the rest of the team', async () => {
    const outsider = callers['a user outside the team']!;
    for (const [method, path, body] of ROUTES(team))
      await expectError(outsider.request(method, path, body), 403, LACKS);
    await expectError(outsider.delete(`/teams/${team}/comments/${commentId}`), 403, LACKS);
    for (const [document, isMutation] of DOCUMENTS(team)) {
      const result = outsider.gql(document);
      await expectGraphqlError(result, 'FORBIDDEN', LACKS);
      if (!isMutation) expect((await result).data.team).toMatchObject({ name: 'Participants' });
    }
    const { data, errors } = await outsider.gql('{ teams { items { name feed { total } } } }');
    expect(data).toEqual({ teams: { items: [{ name: 'Participants', feed: null }] } });
    expect(errors).toMatchObject([{ path: ['teams', 'items', 0, 'feed'], extensions: { code: 'FORBIDDEN' } }]);
  });

  test('are 404 for a superuser of another tenant, and below an unknown team', async () => {
    for (const [client, id] of [
      [callers['a superuser of another tenant']!, team],
      [admin, UNKNOWN_ID],
      [admin, 'unknown-team'],
    ] as const) {
      const message = `There is no team ${id}`;
      for (const [method, path, body] of ROUTES(id))
        await expectError(client.request(method, path, body), 404, message);
      await expectError(client.delete(`/teams/${id}/comments/${commentId}`), 404, message);
      for (const [document] of DOCUMENTS(id)) await expectGraphqlError(client.gql(document), 'NOT_FOUND', message);
    }
  });

  test('are 401 without credentials', async () => {
    const anonymous = callers['a caller without credentials']!;
    for (const [method, path, body] of ROUTES(team)) await expectStatus(anonymous.request(method, path, body), 401);
    await expectStatus(anonymous.delete(`/teams/${team}/comments/${commentId}`), 401);
    for (const [document] of DOCUMENTS(team)) await expectGraphqlError(anonymous.gql(document), 'UNAUTHENTICATED');
  });

  test('are not changed by a token that only reads', async () => {
    const reader = callers['a token that only reads']!;
    const refusal = 'This token lacks the scope write';
    for (const [method, path, body, status] of ROUTES(team))
      if (method === 'GET') await expectStatus(reader.request(method, path), status);
      else await expectError(reader.request(method, path, body), 403, refusal);
    await expectError(reader.delete(`/teams/${team}/comments/${commentId}`), 403, refusal);
    for (const [document, isMutation] of DOCUMENTS(team))
      if (isMutation) await expectGraphqlError(reader.gql(document), 'FORBIDDEN', refusal);
      else await reader.data(document);
  });

  test('are lost immediately by a member who leaves, in every process, with the right to delete own comments', async () => {
    const leaver = await service.user('leaver');
    const ownTeam = await createTeam(admin, 'Left', leaver);
    const otherProcess = await startService({ ROLE: 'web' }, { databaseUrl: service.databaseUrl });
    const there = new Client(otherProcess.url, leaver.headers, leaver);
    const own = await leaver.creates(`/teams/${ownTeam}/comments`, { message: 'Mine' });
    await expectStatus(there.get(`/teams/${ownTeam}/feed`), 200);
    await expectStatus(leaver.delete(`/teams/${ownTeam}/members/leaver`), 204);
    await expectError(leaver.get(`/teams/${ownTeam}/feed`), 403, LACKS);
    await expectError(leaver.get(`/teams/${ownTeam}/comments`), 403, LACKS);
    await expectError(leaver.delete(`/teams/${ownTeam}/comments/${own.id}`), 403, LACKS);
    await expect.poll(async () => (await there.get(`/teams/${ownTeam}/feed`)).status).toBe(403);
    await expectError(there.get(`/teams/${ownTeam}/comments/${own.id}`), 403, LACKS);
    expect((await leaver.gql(`{ node(id: "${own.id}") { id } }`)).data).toEqual({ node: null });
    await otherProcess.close();
  });
});

describe('the cost', () => {
  test('of a list of teams with feeds and comments is three statements, however many teams there are', async () => {
    const statementsOf = async (limit: number): Promise<number> => {
      const { result, statements } = await recordStatements(service, () =>
        admin.data(`{
          teams(limit: ${limit}, sort: "createdAt") {
            items { name feed(limit: 2) { items { type viewed user { username } } } comments { items { user { username } } } }
          }
        }`),
      );
      expect(result.teams.items).toHaveLength(limit);
      return statements.length;
    };
    for (const name of ['A', 'B', 'C', 'D']) await createTeam(admin, name);
    expect(await statementsOf(1)).toBe(3);
    expect(await statementsOf(5)).toBe(3);
  });

  test('of a change is at most four round trips', async () => {
    const trips = async (work: () => Promise<unknown>) => (await recordRoundTrips(work)).length;
    let id = '';
    expect(
      await trips(async () => {
        ({ id } = await admin.creates(`/teams/${team}/comments`, { message: 'Measured' }));
      }),
    ).toBeLessThanOrEqual(4);
    const item = (await readFeed(admin, team, '?limit=1'))[0]!.id;
    expect(
      await trips(() => admin.post(`/teams/${team}/_markFeedViewed`, { activityIds: [item] })),
    ).toBeLessThanOrEqual(4);
    expect(await trips(() => admin.delete(`/teams/${team}/comments/${id}`))).toBeLessThanOrEqual(4);
  });
});
