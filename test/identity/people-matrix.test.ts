import { beforeAll, describe, expect, test } from 'vitest';
import type { Endpoint } from '../../rest-bridge/bridge.ts';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { endpointsOf } from '../../src/server/graphql/sdl.ts';
import { bodyOf, queryOf } from '../conformance/calls.ts';
import { pictureForm } from '../support/avatar-fixture.ts';
import {
  CALLERS,
  createProviderInput,
  PROVIDER_DOMAIN,
  startPeopleWorld,
  type PeopleWorld,
  type Targets,
} from '../support/people-world.ts';
import { pngOf, RED } from '../support/picture-files.ts';
import { PASSWORD } from '../support/service.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';

/*
 * Who may call the routes about people: every route of these groups has a line, so that a new one fails here until its
 * line is added. Each call is valid and has targets of its own.
 */

/** The first segments of the paths about people. */
const GROUPS = [
  'users',
  'users-list',
  'users-content',
  'top-menu-templates',
  'me',
  'teams',
  'session',
  'sessions',
  'tokens',
  'login',
  'logout',
  'password-reset',
  'identity-providers',
  'outbox',
  'notifications',
];

/**
 * Status by route and caller. `stranger` is a superuser of another tenant. `outsider`, `member` and `editor` are users of
 * the tenant: without a team, member of the team of the path, with `users:edit`. `readOnly` is a token with the scope
 * `read` of another superuser; the others have sessions. `:username` is another user, `:domain` the domain of an
 * identity provider, `:appId` no app, `:id` a team, or a session, token, notification or comment of `member`, or an
 * identity provider.
 */
const TABLE = `
                                            anonymous stranger outsider member editor superuser readOnly
GET    /login                               200       200      200      200    200    200       200
GET    /login/:domain                       302       302      302      302    302    302       302
GET    /login/:domain/callback              401       401      401      401    401    401       401
GET    /login/:domain/callback/:tenant      401       401      401      401    401    401       401
POST   /login                               200       200      200      200    200    200       200
POST   /login/:domain                       200       200      200      200    200    200       200
POST   /logout                              204       204      204      204    204    204       204
GET    /session                             401       200      200      200    200    200       200
GET    /sessions                            401       200      200      200    200    200       200
DELETE /sessions/:id                        401       404      404      204    404    404       403
GET    /tokens                              401       200      200      200    200    200       200
POST   /tokens                              401       201      201      201    201    201       403
DELETE /tokens/:id                          401       404      404      204    404    404       403
POST   /password-reset                      204       204      204      204    204    204       204
POST   /password-reset/:token               410       410      410      410    410    410       410
GET    /me                                  401       200      200      200    200    200       200
PUT    /me                                  401       200      200      200    200    200       403
PUT    /me/password                         401       204      204      204    204    204       403
GET    /me/favorites                        401       200      200      200    200    200       200
GET    /me/app-grants                       401       200      200      200    200    200       200
PUT    /me/app-grants/:appId                401       404      404      404    404    404       403
DELETE /me/app-grants/:appId                401       404      404      404    404    404       403
GET    /me/usage                            401       200      200      200    200    200       200
GET    /top-menu-templates                  401       200      200      200    200    200       200
GET    /users                               401       200      200      200    200    200       200
GET    /users-list                          401       200      200      200    200    200       200
GET    /users-content                       401       200      200      200    200    200       200
POST   /users                               401       201      403      403    403    201       403
GET    /users/:username                     401       404      200      200    200    200       200
PUT    /users/:username                     401       404      403      403    200    200       403
DELETE /users/:username                     401       404      403      403    403    204       403
PUT    /users/:username/theme               401       404      403      403    200    200       403
GET    /users/:username/avatar              200       200      200      200    200    200       200
GET    /users/:username/avatar-full         401       404      200      200    200    200       200
PUT    /users/:username/avatar              401       404      403      403    200    200       403
DELETE /users/:username/avatar              401       404      403      403    204    204       403
POST   /users/:username/_upload/:uploadId/avatar-upload 401 404 403     403    200    200       403
GET    /users/:username/memberships         401       404      200      200    200    200       200
GET    /users/:username/global-permissions  401       404      403      403    403    200       200
PUT    /users/:username/global-permissions  401       404      403      403    403    200       403
GET    /users/:username/superuser           401       404      403      403    403    200       200
PUT    /users/:username/superuser           401       404      403      403    403    200       403
DELETE /users/:username/superuser           401       404      403      403    403    204       403
GET    /users/:username/ai/profile          401       404      403      403    403    200       200
PUT    /users/:username/ai/profile          401       404      403      403    403    200       403
GET    /teams                               401       200      200      200    200    200       200
POST   /teams                               401       201      403      403    403    201       403
GET    /teams/:id                           401       404      200      200    200    200       200
PUT    /teams/:id                           401       404      403      403    403    200       403
DELETE /teams/:id                           401       404      403      403    403    204       403
GET    /teams/:id/permissions               401       404      200      200    200    200       200
GET    /teams/:id/members                   401       404      200      200    200    200       200
GET    /teams/:id/members/:username         401       404      200      200    200    200       200
PUT    /teams/:id/members/:username         401       404      403      403    403    200       403
DELETE /teams/:id/members/:username         401       404      403      403    403    204       403
GET    /teams/:id/feed                      401       404      403      200    403    200       200
POST   /teams/:id/_markFeedViewed           401       404      403      200    403    200       403
GET    /teams/:id/comments                  401       404      403      200    403    200       200
POST   /teams/:teamId/comments              401       404      403      201    403    201       403
GET    /teams/:teamId/comments/:id          401       404      403      200    403    200       200
DELETE /teams/:teamId/comments/:id          401       404      403      204    403    204       403
GET    /teams/:id/ai/profile                401       404      403      403    403    200       200
PUT    /teams/:id/ai/profile                401       404      403      403    403    200       403
GET    /identity-providers                  401       200      403      403    403    200       403
POST   /identity-providers                  401       201      403      403    403    201       403
GET    /identity-providers/:id              401       404      403      403    403    200       403
PUT    /identity-providers/:id              401       404      403      403    403    200       403
DELETE /identity-providers/:id              401       404      403      403    403    204       403
GET    /outbox                              401       200      403      403    403    200       200
GET    /notifications                       401       200      200      200    200    200       200
PUT    /notifications/:id                   401       404      404      200    404    404       403
`;

const lines = TABLE.split('\n').slice(2).filter(Boolean);
const expectations = new Map(
  lines.map((line) => {
    const [method, path, ...statuses] = line.split(/\s+/);
    return [`${method} ${path}`, Object.fromEntries(CALLERS.map((name, index) => [name, Number(statuses[index])]))];
  }),
);

const endpoints = endpointsOf(await createSchema())
  .filter(({ row }) => GROUPS.includes(row.path.split('/')[1]!))
  .map((endpoint) => [`${endpoint.row.method} ${endpoint.row.path}`, endpoint] as const);

const pictureOf = async () => pictureForm(await pngOf(RED));

/** Bodies of routes whose generated body would not be valid. */
const BODIES: Record<string, (targets: Targets) => object | Promise<object>> = {
  'POST /users': ({ username }) => ({ username: `new-${username}`, password: PASSWORD }),
  'PUT /me/password': () => ({ currentPassword: PASSWORD, password: PASSWORD }),
  'POST /login': ({ username }) => ({ username, password: PASSWORD }),
  'POST /login/:domain': ({ username }) => ({ username, password: PASSWORD }),
  'PUT /users/:username/avatar': pictureOf,
  'POST /users/:username/_upload/:uploadId/avatar-upload': async () =>
    pictureForm(await pngOf(RED), { before: { chunk: '0', chunks: '1' } }),
  'PUT /me/app-grants/:appId': () => ({ scopes: [] }),
  'POST /teams/:id/_markFeedViewed': () => ({ activityIds: [] }),
  'PUT /users/:username/ai/profile': () => ({ profileId: null }),
  'PUT /teams/:id/ai/profile': () => ({ profileId: null }),
  'POST /identity-providers': ({ username }) => createProviderInput(`other-${username}`),
};

/** Returns the path of a route with its targets. */
function pathOf({ row }: Endpoint, targets: Targets): string {
  const group = row.path.split('/')[1]!;
  const ids: Record<string, string> = {
    sessions: targets.session,
    tokens: targets.token,
    notifications: targets.notification,
    teams: row.path.includes('/comments/') ? targets.comment : targets.team,
    'identity-providers': targets.identityProvider,
  };
  const values: Record<string, string | undefined> = {
    username: targets.username,
    id: ids[group],
    teamId: targets.team,
    uploadId: 'upload',
    appId: UNKNOWN_ID,
    domain: row.method === 'POST' ? 'local' : PROVIDER_DOMAIN,
    tenant: 'other',
    token: 'unknown',
  };
  return row.path.replace(/:(\w+)/g, (_, name: string) => {
    if (values[name] === undefined) throw new Error(`${row.path} has a parameter without a target: ${name}`);
    return values[name];
  });
}

let world: PeopleWorld;
beforeAll(async () => {
  world = await startPeopleWorld();
  return () => world.close();
});

describe('the matrix', () => {
  test('has a line for every route about people, and no other', () => {
    expect([...expectations.keys()].toSorted()).toEqual(endpoints.map(([name]) => name).toSorted());
    expect(lines.length).toBe(expectations.size);
  });
});

describe('each caller of', () => {
  test.each(endpoints)('%s gets the status of the matrix', async (name, endpoint) => {
    const statuses: Record<string, number> = {};
    for (const callerName of CALLERS) {
      const [targets, caller] = [await world.createTargets(), await world.caller(callerName)];
      const body = (await BODIES[name]?.(targets)) ?? bodyOf(endpoint);
      const path = `/api${pathOf(endpoint, targets)}${queryOf(endpoint)}`;
      statuses[callerName] = (await caller.request(endpoint.row.method, path, body)).status;
    }
    expect(statuses, `${name} ${Object.values(statuses).join(' ')}`).toEqual(expectations.get(name));
  });
});
