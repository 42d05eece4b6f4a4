import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Endpoint } from '../../rest-bridge/bridge.ts';
import { isGlobalPermission } from '../../src/core/permissions.ts';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { endpointsOf } from '../../src/server/graphql/sdl.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { expectError } from '../support/expect.ts';
import { recordStatements } from '../support/statement-log.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { createForm } from '../support/upload-form.ts';
import { bodyOf, kindOf, pathOf, queryOf, sentTo } from './calls.ts';
import { privateOf, startConformanceClients, type ConformanceClients } from './conformance-clients.ts';
import { FIXTURES, READABLE_BY_ALL } from './fixtures.ts';
import { isDeniedToReaders } from './permission-kinds.ts';

/*
 * Rules for every route. The tests are generated from the route table, so they include new routes.
 * Root fields of GraphQL: conformance-graphql.test.ts.
 */

const schema = await createSchema();
const endpoints = endpointsOf(schema);
const rows = endpoints.map((endpoint) => [`${endpoint.row.method} ${endpoint.row.path}`, endpoint] as const);
const guarded = rows.filter(([, endpoint]) => !endpoint.public);
const rowsWhere = (isWanted: (endpoint: Endpoint) => boolean) => guarded.filter(([, endpoint]) => isWanted(endpoint));

let clients: ConformanceClients;
let admin: Client;

beforeAll(async () => {
  clients = await startConformanceClients();
  ({ admin } = clients);
  return () => clients.service.close();
});

const readsForms = ({ row }: Endpoint) => row.options.consumes === 'multipart';
const privatePath = (endpoint: Endpoint) => `/api${pathOf(endpoint, privateOf(clients, kindOf(endpoint)))}`;

/** Sends a valid request with `first` as the first path parameter. */
const send = (client: Client, endpoint: Endpoint, first: string) =>
  client.request(endpoint.row.method, `/api${pathOf(endpoint, first)}${queryOf(endpoint)}`, sentTo(endpoint));

function expectNotFound(response: ApiResponse): void {
  expect(response, JSON.stringify(response.body)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
}

describe('every route that is not public', () => {
  for (const [name, endpoint] of guarded) {
    test(`${name} is 401 without credentials, with an expired token and for a disabled user`, async () => {
      const { anonymous, expired, disabled } = clients;
      for (const client of [anonymous, expired, disabled]) {
        const response = await send(client, endpoint, privateOf(clients, kindOf(endpoint)));
        expect(response).toMatchObject({
          status: 401,
          body: { statusCode: 401, error: 'Unauthorized', message: 'Missing authentication', code: 'UNAUTHENTICATED' },
        });
        expect(response.headers.get('www-authenticate')).toBe('Bearer');
      }
    });
  }
});

describe('every route below a resource', () => {
  const OTHERS = [
    'sessions',
    'tokens',
    'progress',
    'notifications',
    'identity-providers',
    'usage-profiles',
    'images',
    'clients',
  ];
  /** They create the client in the path. */
  const CREATING = ['setClientMode', 'uploadClientDocuments'];
  const KINDS = [...Object.keys(FIXTURES), ...OTHERS];

  for (const [name, endpoint] of rowsWhere((one) => kindOf(one) !== undefined)) {
    const kind = kindOf(endpoint)!;
    test(`${name} has a fixture`, () => expect(KINDS).toContain(kind));

    if (CREATING.includes(String(endpoint.row.field))) continue;
    test(`${name} is 404 for an unknown id, of any length`, async () => {
      for (const id of [UNKNOWN_ID, 'x'.repeat(1000)]) {
        const { status, body } = await send(admin, endpoint, id);
        // A route that requires a session refuses tokens first.
        expect(status, JSON.stringify(body)).toBe(endpoint.permission.includes('session') ? 403 : 404);
      }
    });

    if (!FIXTURES[kind]) continue;
    test(`${name} is 404 for a superuser of another tenant`, async () => {
      expectNotFound(await send(clients.stranger, endpoint, clients.resources[kind]!.private));
    });

    if (READABLE_BY_ALL.has(kind)) continue;
    test(`${name} is 404 for a user without access`, async () => {
      expectNotFound(await send(clients.reader, endpoint, clients.resources[kind]!.private));
    });

    if (endpoint.row.method === 'GET' || !isDeniedToReaders(endpoint.permission, kind)) continue;
    test(`${name} is 403 with the name of the permission for a member who can only read`, async () => {
      const response = await send(clients.reader, endpoint, clients.resources[kind]!.shared);
      expect(response, JSON.stringify(response.body)).toMatchObject({
        status: 403,
        body: { code: 'FORBIDDEN', message: expect.stringMatching(/permission [\w-]+:\w+/) },
      });
    });
  }
});

describe('every route with a global permission', () => {
  for (const [name, endpoint] of rowsWhere(({ permission }) => isGlobalPermission(permission))) {
    test(`${name} is 403 without ${endpoint.permission}`, async () => {
      const response = await send(clients.powerless, endpoint, privateOf(clients, kindOf(endpoint)));
      await expectError(response, 403, `You lack the permission ${endpoint.permission}`);
    });
  }
});

describe('every route with a JSON body', () => {
  const takesJson = ({ row }: Endpoint) =>
    (row.method === 'POST' || row.method === 'PUT') && (row.options.consumes ?? 'json') === 'json';

  /** The settings of a template have keys of clients. */
  const takesAnyKey = ({ row }: Endpoint) => row.field === 'setTemplateSettings';

  for (const [name, endpoint] of rowsWhere(takesJson)) {
    const { method } = endpoint.row;

    if (!takesAnyKey(endpoint))
      test(`${name} refuses an unknown key by name`, async () => {
        const body = { ...bodyOf(endpoint), surprise: 1 };
        await expectError(admin.request(method, privatePath(endpoint), body), 400, /surprise/);
      });

    test(`${name} refuses a body that is not a JSON object`, async () => {
      for (const text of ['{', '[]', '"text"']) {
        const { status, body } = await admin.request(method, privatePath(endpoint), text, {
          'content-type': 'application/json',
        });
        expect({ status, code: body.code }, text).toEqual({ status: 400, code: 'BAD_USER_INPUT' });
      }
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      expect((await admin.request(method, privatePath(endpoint), 'a=1', form)).status).toBe(415);
    });
  }
});

describe('every route with a form', () => {
  /** Returns the path of a resource that takes the form: only an uploaded file can be replaced. */
  async function formPath(endpoint: Endpoint): Promise<string> {
    if (endpoint.row.field !== 'replaceDatasourceFile') return privatePath(endpoint);
    const { body } = await admin.post('/datasources/_upload', createForm('a,b\n1,2\n', 'form.csv'));
    return `/api${pathOf(endpoint, body.id)}`;
  }

  for (const [name, endpoint] of rowsWhere(readsForms)) {
    test(`${name} refuses an unknown part by name, and a body that is not a form`, async () => {
      const { method } = endpoint.row;
      const form = sentTo(endpoint) as FormData;
      form.append('surprise', '1');
      const path = await formPath(endpoint);
      await expectError(admin.request(method, path, form), 400, /surprise/);
      expect((await admin.request(method, path, {})).status).toBe(415);
    });
  }
});

describe('every route that reads', () => {
  for (const [name, endpoint] of rowsWhere(({ row }) => row.method === 'GET' && !row.options.handler)) {
    test(`${name} refuses an unknown query parameter by name`, async () => {
      await expectError(admin.request('GET', `${privatePath(endpoint)}?surprise=1`), 400, /surprise/);
    });
  }
});

describe('every list', () => {
  const isRootList = ({ row, presentation }: Endpoint) =>
    row.method === 'GET' && presentation?.collection !== undefined && !row.path.includes(':');

  for (const [name, endpoint] of rowsWhere(isRootList)) {
    test(`${name} runs at most one statement`, async () => {
      const reader = endpoint.permission.includes('session') ? await clients.service.login(admin.username) : admin;
      const { result, statements } = await recordStatements(clients.service, () =>
        reader.get(endpoint.row.path + queryOf(endpoint)),
      );
      expect(result).toMatchObject({ status: 200, body: { total: expect.any(Number) } });
      expect(statements.length, statements.map(({ text }) => text).join('\n')).toBeLessThanOrEqual(1);
    });
  }
});

describe('both APIs', () => {
  // The root only has links: in GraphQL that is introspection. Routes of apps are HTTP that their authors define.
  const isOfRest = ({ row }: Endpoint) => row.path === '' || row.options.runsApp !== undefined;
  for (const [name, { row, plan }] of rows.filter(([, endpoint]) => !isOfRest(endpoint))) {
    // REST has only functions of the schema.
    test(`${name} runs a GraphQL field`, () => {
      expect(plan, name).toBeDefined();
      expect(row.field).toBeTypeOf('string');
    });
  }
});

describe('the specified routes', () => {
  interface SpecifiedRoute {
    method: string;
    path: string;
    permission: string;
    success: number;
    public: boolean;
  }
  const specified = JSON.parse(readFileSync(new URL('./routes.json', import.meta.url), 'utf8')) as SpecifiedRoute[];
  /** Returns a route without the names of its parameters. */
  const shapeOf = (method: string, path: string) =>
    `${method} ${path.replace(/^\/api/, '').replace(/\{\w+\*?\}|:\w+\*?/g, '{}')}`;
  const present = new Map(endpoints.map((endpoint) => [shapeOf(endpoint.row.method, endpoint.row.path), endpoint]));

  for (const { method, path, public: isPublic } of specified) {
    test(`${method} ${path} exists, ${isPublic ? 'public' : 'for callers with credentials'}`, () => {
      expect(present.get(shapeOf(method, path))?.public).toBe(isPublic);
    });
  }
});
