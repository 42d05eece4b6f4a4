import { hash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { permissionOf } from '../../resolvers/support/guard.ts';
import { IGNORES_KEY, RESERVES_KEY } from '../../resolvers/support/idempotency-exceptions.ts';
import type { Endpoint } from '../../rest-bridge/bridge.ts';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { endpointsOf, openapiOf } from '../../src/server/graphql/sdl.ts';
import { Client, type ApiResponse } from '../support/client.ts';
import { startService, type Service } from '../support/service.ts';
import { FIXTURES } from './fixtures.ts';

const schema = await createSchema();
const endpoints = endpointsOf(schema);
const nameOf = ({ row }: Endpoint) => `${row.method} ${row.path}`;
const posts = endpoints.filter(({ row }) => row.method === 'POST');

/** Returns why a POST ignores `Idempotency-Key`; undefined if it runs once for each key. */
function reasonOf({ row, plan }: Endpoint): string | undefined {
  if (row.options.runsApp) return 'the handler of the app gets the header';
  if (plan?.operation !== 'mutation') return 'it runs a query';
  return IGNORES_KEY[plan.chain[0]!.name];
}

/** A client that sends each POST with a key of its path and body. */
class KeyedClient extends Client {
  readonly replayed: boolean[] = [];

  override async request(...[method, path, body, headers]: Parameters<Client['request']>): Promise<ApiResponse> {
    if (method !== 'POST') return super.request(method, path, body, headers);
    const key = hash('sha256', `${path} ${JSON.stringify(body)}`);
    const response = await super.request(method, path, body, { ...headers, 'idempotency-key': key });
    this.replayed.push(response.headers.get('idempotency-replayed') === 'true');
    return response;
  }
}

describe('`Idempotency-Key`', () => {
  for (const endpoint of posts)
    test(`of ${nameOf(endpoint)} is honoured, or ignored for a reason`, () => {
      expect(endpoint.runsOnce).toBe(reasonOf(endpoint) === undefined);
    });

  test('is ignored by these routes only', () => {
    expect(
      posts
        .filter(({ runsOnce }) => !runsOnce)
        .map(nameOf)
        .toSorted(),
    ).toEqual([
      'POST /apps/:id/_hook/:path*',
      'POST /apps/:id/view/:path*',
      'POST /datasets/:id/_aggregate',
      'POST /datasets/:id/_run',
      'POST /datasets/:id/_search',
      'POST /datasets/_previewUpload',
      'POST /datasources/:id/_query',
      'POST /datasources/:id/_test',
      'POST /hooks/:token/:path*',
      'POST /jobs/:jobId/actions/:jobActionId/_preview',
      'POST /login',
      'POST /login/:domain',
      'POST /logout',
      'POST /password-reset',
      'POST /password-reset/:token',
      'POST /queries/:id/_run',
      'POST /schema/_check',
      'POST /templates/:templateId/_check',
      'POST /toolkit-parse-config',
      'POST /usage/quote',
    ]);
    expect(endpoints.filter(({ row, runsOnce }) => runsOnce && row.method !== 'POST')).toEqual([]);
  });

  test('is a parameter of exactly the routes that honour it in the OpenAPI document', () => {
    const { paths } = openapiOf(endpoints) as { paths: Record<string, Record<string, any>> };
    const documented = Object.values(paths).flatMap((operations) =>
      Object.values(operations)
        .filter(({ parameters }) => parameters.some(({ name }: { name: string }) => name === 'Idempotency-Key'))
        .map((operation) => operation['x-graphql-operation']),
    );
    const honoured = endpoints.filter(({ runsOnce }) => runsOnce);
    expect(documented.toSorted()).toEqual(honoured.map(({ row }) => `Mutation.${row.field}`).toSorted());
  });

  test('is ignored only by mutations that exist, and by all public ones', () => {
    const mutations = Object.values(schema.getMutationType()!.getFields());
    const listed = [...Object.keys(IGNORES_KEY), ...Object.keys(RESERVES_KEY)];
    expect(mutations.map(({ name }) => name)).toEqual(expect.arrayContaining(listed));
    expect(new Set(listed).size).toBe(listed.length);
    const isPublic = mutations.filter((field) => permissionOf(field) === 'public').map(({ name }) => name);
    expect(isPublic.filter((name) => !Object.hasOwn(IGNORES_KEY, name))).toEqual([]);
  });
});

describe('a repetition of the calls that create a resource', () => {
  let service: Service;
  let admin: KeyedClient;
  beforeAll(async () => {
    service = await startService();
    const { url, headers, id, username } = await service.user('admin', { superuser: true });
    admin = new KeyedClient(url, headers, { id, username });
    return () => service.close();
  });

  for (const [kind, { create }] of Object.entries(FIXTURES))
    test(`${kind} returns the same resource`, async () => {
      const first = await create(admin, `repeated ${kind}`);
      admin.replayed.splice(0);
      expect(await create(admin, `repeated ${kind}`)).toBe(first);
      expect(admin.replayed.length).toBeGreaterThan(0);
      expect(admin.replayed).not.toContain(false);
    });
});
