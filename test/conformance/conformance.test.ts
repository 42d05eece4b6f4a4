import { readFileSync } from 'node:fs';
import type { GraphQLField } from 'graphql';
import { beforeAll, describe, expect, test as plain } from 'vitest';
import { permissionOf, rootTypes } from '../../resolvers/support/guard.ts';
import type { Endpoint } from '../../rest-bridge/bridge.ts';
import { isGlobalPermission, LEVEL, levelAllows, type ResourcePermission } from '../../src/core/permissions.ts';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { endpointsOf } from '../../src/server/graphql/sdl.ts';
import { Client } from '../support/client.ts';
import { startService, type Service } from '../support/service.ts';
import { bodyOf, documentOf, kindOf, pathOf, queryOf, UNKNOWN } from './calls.ts';
import { FIXTURES, READABLE_BY_ALL } from './fixtures.ts';

/*
 * What holds for every route and every root field, whichever they are: this suite reads the route table and the schema, so that what is added is tested.
 * Statuses of contract section 4 and permissions of section 3.
 */

const schema = await createSchema();
const endpoints = endpointsOf(schema);
const rows = endpoints.map((endpoint) => [`${endpoint.row.method} ${endpoint.row.path}`, endpoint] as const);

let service: Service;
let admin: Client,
  reader: Client,
  stranger: Client,
  powerless: Client,
  readOnly: Client,
  expired: Client,
  disabled: Client;
const made: Record<string, { private: string; shared: string }> = {};

beforeAll(async () => {
  service = await startService();
  admin = await service.user('admin', { superuser: true });
  stranger = await service.user('stranger', { tenant: 'other', superuser: true });
  reader = await service.user('reader');
  powerless = await service.user('powerless', { permissions: [] });
  readOnly = await service.user('readonly', { superuser: true, scopes: ['read'] });
  expired = await service.user('expired', { superuser: true });
  disabled = await service.user('disabled', { superuser: true });
  await service.platform.system.query({
    text: `update dws.app_user set enabled = false where id = $1`,
    values: [disabled.id],
  });
  await service.platform.system.query({
    text: `update dws.api_token set expires_at = now() - interval '1 second' where user_id = $1`,
    values: [expired.id],
  });

  const team = await admin.creates('/teams', { name: 'Readers' });
  await admin.put(`/teams/${team.id}/members/reader`, { role: 'member' });
  for (const [kind, fixture] of Object.entries(FIXTURES)) {
    made[kind] = {
      private: await fixture.create(admin, `private ${kind}`),
      shared: READABLE_BY_ALL.has(kind) ? '' : await fixture.create(admin, `shared ${kind}`, `team:${team.id}`),
    };
  }
  return () => service.close();
}, 120_000);

/** What a row that reads forms is sent. */
function formOf(): FormData {
  const form = new FormData();
  form.append('file', new Blob(['a,b\n1,2\n'], { type: 'text/csv' }), 'a.csv');
  return form;
}

const send = (client: Client, endpoint: Endpoint, first: string) =>
  client.request(
    endpoint.row.method,
    `/api${pathOf(endpoint, first)}${queryOf(endpoint)}`,
    endpoint.row.options.consumes === 'multipart' ? formOf() : bodyOf(endpoint),
  );
const firstOf = (endpoint: Endpoint): string => made[kindOf(endpoint) ?? '']?.private ?? UNKNOWN;
const guarded = rows.filter(([, endpoint]) => !endpoint.public);

describe('every route that is not public', () => {
  for (const [name, endpoint] of guarded) {
    plain(`${name} answers 401 without credentials, with an expired token and to a disabled user`, async () => {
      for (const nobody of [new Client(service.url), expired, disabled]) {
        const answer = await send(nobody, endpoint, firstOf(endpoint));
        expect(answer).toMatchObject({
          status: 401,
          body: { statusCode: 401, error: 'Unauthorized', message: 'Missing authentication', code: 'UNAUTHENTICATED' },
        });
        expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      }
    });
  }
});

describe('every route below a resource', () => {
  for (const [name, endpoint] of guarded.filter(([, one]) => kindOf(one))) {
    plain(`${name} has a fixture`, () =>
      expect(Object.keys(FIXTURES).concat('sessions', 'tokens', 'progress', 'notifications')).toContain(
        kindOf(endpoint),
      ),
    );

    plain(`${name} answers 404 for an id that nothing has`, async () => {
      // What needs a session says so first: a token may not even ask.
      const answer = await send(admin, endpoint, UNKNOWN);
      expect(answer.status, JSON.stringify(answer.body)).toBe(endpoint.permission.includes('session') ? 403 : 404);
    });

    if (!FIXTURES[kindOf(endpoint)!]) continue;
    plain(`${name} answers 404 to a superuser of another tenant`, async () => {
      const answer = await send(stranger, endpoint, made[kindOf(endpoint)!]!.private);
      expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    });

    if (READABLE_BY_ALL.has(kindOf(endpoint)!)) continue;
    plain(`${name} answers 404 to a user of the tenant who may not read it`, async () => {
      const answer = await send(reader, endpoint, made[kindOf(endpoint)!]!.private);
      expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    });

    if (endpoint.row.method === 'GET' || !readersLack(endpoint.permission, kindOf(endpoint)!)) continue;
    plain(`${name} answers 403 naming the permission to a member who may only read it`, async () => {
      const answer = await send(reader, endpoint, made[kindOf(endpoint)!]!.shared);
      expect(answer, JSON.stringify(answer.body)).toMatchObject({
        status: 403,
        body: { code: 'FORBIDDEN', message: expect.stringMatching(/permission [\w-]+:\w+/) },
      });
    });
  }
});

describe('every route with a global permission', () => {
  for (const [name, endpoint] of guarded.filter(([, one]) => isGlobalPermission(one.permission))) {
    plain(`${name} answers 403 to who lacks ${endpoint.permission}`, async () => {
      const answer = await send(powerless, endpoint, firstOf(endpoint));
      expect(answer).toMatchObject({
        status: 403,
        body: { message: `You lack the permission ${endpoint.permission}` },
      });
    });
  }
});

describe('every route that takes a body', () => {
  for (const [name, endpoint] of guarded.filter(
    ([, { row }]) => (row.method === 'POST' || row.method === 'PUT') && (row.options.consumes ?? 'json') === 'json',
  )) {
    plain(`${name} refuses an unknown key and names it`, async () => {
      const answer = await admin.request(endpoint.row.method, `/api${pathOf(endpoint, firstOf(endpoint))}`, {
        ...bodyOf(endpoint),
        surprise: 1,
      });
      expect(answer.body.message, JSON.stringify(answer.body)).toContain('surprise');
      expect(answer.status).toBe(400);
    });

    plain(`${name} refuses a body that is no JSON, and no object`, async () => {
      const path = `/api${pathOf(endpoint, firstOf(endpoint))}`;
      for (const body of ['{', '[]', '"text"']) {
        const answer = await admin.request(endpoint.row.method, path, body, { 'content-type': 'application/json' });
        expect(answer, `${body} -> ${JSON.stringify(answer.body)}`).toMatchObject({
          status: 400,
          body: { code: 'BAD_USER_INPUT' },
        });
      }
      expect(
        await admin.request(endpoint.row.method, path, 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }),
      ).toMatchObject({ status: 415 });
    });
  }
});

describe('every route that takes a form', () => {
  for (const [name, endpoint] of guarded.filter(([, { row }]) => row.options.consumes === 'multipart')) {
    plain(`${name} refuses an unknown part and names it, and what is no form`, async () => {
      const path = `/api${pathOf(endpoint, firstOf(endpoint))}`;
      const form = formOf();
      form.append('surprise', '1');
      expect(await admin.request(endpoint.row.method, path, form)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('surprise') },
      });
      expect(await admin.request(endpoint.row.method, path, {})).toMatchObject({ status: 415 });
    });
  }
});

describe('every route that reads', () => {
  for (const [name, endpoint] of guarded.filter(([, { row }]) => row.method === 'GET' && !row.options.handler)) {
    plain(`${name} refuses an unknown query parameter and names it`, async () => {
      const answer = await admin.get(`${pathOf(endpoint, firstOf(endpoint))}?surprise=1`);
      expect(answer, JSON.stringify(answer.body)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('surprise') },
      });
    });
  }
});

describe('every list', () => {
  for (const [name, endpoint] of guarded.filter(
    ([, { row, presentation }]) => row.method === 'GET' && presentation?.collection && !row.path.includes(':'),
  )) {
    plain(`${name} takes at most one statement, whatever it shows of each row`, async () => {
      const { database } = service.platform;
      const { query } = database;
      const statements: string[] = [];
      database.query = (tenantId, statement) => (statements.push(statement.text), query(tenantId, statement));
      try {
        expect(await admin.get(endpoint.row.path + queryOf(endpoint))).toMatchObject({
          status: 200,
          body: { total: expect.any(Number) },
        });
      } finally {
        database.query = query;
      }
      expect(statements.length, statements.join('\n')).toBeLessThanOrEqual(1);
    });
  }
});

describe('both doors', () => {
  for (const [name, { row, plan }] of rows) {
    plain(`what ${name} does, GraphQL does`, () => {
      // REST has nothing of its own: every row runs a field of the schema, own handlers only change how bytes travel.
      expect(plan, name).toBeDefined();
      expect(row.field).toBeTypeOf('string');
    });
  }
});

describe('every root field', () => {
  for (const [scope, type] of rootTypes(schema)) {
    for (const field of Object.values(type!.getFields())) {
      const permission = permissionOf(field);
      plain(`${type!.name}.${field.name} names its permission`, () => expect(permission).toBeTypeOf('string'));
      if (permission === 'public' || type!.name === 'Subscription') continue;

      plain(`${type!.name}.${field.name} refuses who has no credentials`, async () => {
        expect(await new Client(service.url).gql(documentOf(type!.name, field))).toMatchObject({
          status: 401,
          errors: [{ message: 'Missing authentication', extensions: { code: 'UNAUTHENTICATED', status: 401 } }],
        });
      });
      if (scope === 'write') {
        plain(`${type!.name}.${field.name} refuses a token that may only read`, async () => {
          expect(await readOnly.gql(documentOf(type!.name, field))).toMatchObject({
            errors: [{ message: 'This token lacks the scope write', extensions: { code: 'FORBIDDEN' } }],
          });
        });
      }
      if (permission && isGlobalPermission(permission)) {
        plain(`${type!.name}.${field.name} refuses who lacks ${permission}`, async () => {
          expect(await powerless.gql(documentOf(type!.name, field))).toMatchObject({
            errors: [
              { message: `You lack the permission ${permission}`, extensions: { code: 'FORBIDDEN', status: 403 } },
            ],
          });
        });
      }
    }
  }
});

describe('every root field about one resource', () => {
  for (const [, type] of rootTypes(schema)) {
    if (type!.name === 'Subscription') continue;
    for (const field of Object.values(type!.getFields())) {
      const kind = kindOfField(field);
      // Children name their parent first.
      const key = [`${permissionOf(field)!.split(':')[0]}Id`, 'id', 'username'].find((name) =>
        field.args.some((argument) => argument.name === name),
      );
      if (!kind || !key) continue;
      const name = `${type!.name}.${field.name}`;
      const permission = permissionOf(field)!;
      const ask = (client: Client, id: string) =>
        client.gql(documentOf(type!.name, field, { [key]: JSON.stringify(id) }));

      plain(
        `${name} does not find an id that nothing has, nor, for another tenant, one that something has`,
        async () => {
          for (const [client, id] of [
            [admin, UNKNOWN],
            [stranger, made[kind]!.private],
          ] as const) {
            expect(await ask(client, id)).toMatchObject({
              errors: [{ extensions: { code: 'NOT_FOUND', status: 404 } }],
            });
          }
        },
      );
      if (READABLE_BY_ALL.has(kind)) continue;
      plain(`${name} does not find what the caller may not read`, async () => {
        expect(await ask(reader, made[kind]!.private)).toMatchObject({
          errors: [{ extensions: { code: 'NOT_FOUND', status: 404 } }],
        });
      });
      if (!readersLack(permission, kind)) continue;
      plain(`${name} refuses a member who may only read, naming the permission`, async () => {
        expect(await ask(reader, made[kind]!.shared)).toMatchObject({
          errors: [
            { message: expect.stringMatching(/permission [\w-]+:\w+/), extensions: { code: 'FORBIDDEN', status: 403 } },
          ],
        });
      });
    }
  }
});

/** Whether a permission speaks of the resource of the path, and takes more than reading it. */
const readersLack = (permission: string, kind: string): boolean =>
  permission.includes(':') &&
  KIND_OF_WORD[permission.split(':')[0]!] === kind &&
  !levelAllows(LEVEL.view, permission as ResourcePermission);

const KIND_OF_WORD: Record<string, string> = {
  dataset: 'datasets',
  datasource: 'datasources',
  query: 'queries',
  report: 'reports',
  app: 'apps',
  folder: 'folders',
  suite: 'suites',
  team: 'teams',
  tag: 'tags',
  user: 'users',
  savedQuery: 'queries',
};

/** The kind of resource that a root field is about, by the word of its permission or, for reads, by its own name. */
function kindOfField(field: GraphQLField<unknown, unknown>): string | undefined {
  const [word = ''] = permissionOf(field)!.split(':');
  return KIND_OF_WORD[permissionOf(field) === 'authenticated' ? field.name : word];
}

describe('the specification’s route list', () => {
  interface SpecifiedRoute {
    method: string;
    path: string;
    permission: string;
    success: number;
    public: boolean;
  }
  const specified = JSON.parse(readFileSync(new URL('./routes.json', import.meta.url), 'utf8')) as SpecifiedRoute[];
  const shape = (method: string, path: string) =>
    `${method} ${path.replace(/^\/api/, '').replace(/\{\w+\*?\}|:\w+\*?/g, '{}')}`;
  const present = new Map(endpoints.map((endpoint) => [shape(endpoint.row.method, endpoint.row.path), endpoint]));
  const toCome = specified.filter(({ method, path }) => !present.has(shape(method, path)));

  plain(`of ${specified.length} routes ${toCome.length} are still to come, and none that was there is lost`, () => {
    // Lower this number with every step; it never rises.
    expect(toCome.length).toBeLessThanOrEqual(STILL_TO_COME);
  });

  for (const { method, path, public: open } of specified.filter((route) => !toCome.includes(route))) {
    plain(`${method} ${path} is ${open ? 'public' : 'for callers with credentials'}`, () => {
      expect(present.get(shape(method, path))!.public).toBe(open);
    });
  }
});

/** Routes of the specification that this version lacks. */
const STILL_TO_COME = 89;
