import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Endpoint } from '../../rest-bridge/bridge.ts';
import { describeRelations } from '../../rest-bridge/relations.ts';
import { shapeOf, toKebab } from '../../rest-bridge/words.ts';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { endpointsOf } from '../../src/server/graphql/sdl.ts';
import type { Client } from '../support/client.ts';
import { expectError } from '../support/expect.ts';
import { startService, type Service } from '../support/service.ts';
import { sentTo } from './calls.ts';
import { createResources, fillPath, type Resources } from './openapi-resources.ts';

/* Links of HAL, derived from the route table (docs/contract/apis.md#links). */

const endpoints = endpointsOf(await createSchema());
const gets = endpoints.filter(({ row }) => row.method === 'GET');
const templateOf = ({ row }: Endpoint): string => row.path.replace(/:(\w+)\*?/g, '{$1}');
const isRecord = ({ presentation, row }: Endpoint) =>
  presentation?.single === true && presentation.links !== undefined && !row.plain;

/** Paths of the pages, to which the root and `curies` lead. */
const PAGES = ['/api/docs', '/api/openapi.json', '/api/docs/relations/{rel}'];
/** Fields that end in `Id` and lead nowhere, with the reason. */
const NO_RESOURCE: Record<string, string> = {
  naturalId: 'is the record’s own',
  parentId: 'is linked as svc:parent or svc:parent-folder',
  entityId: 'is linked as svc:resource',
  editingId: 'is linked as svc:original',
  sourceId: 'is a free text that names the creator of a job',
  sourceDatasourceId: 'is linked as svc:datasource',
  targetDatasourceId: 'is linked as svc:target',
  datasetFilterId: 'is linked as svc:filter',
  clientId: 'names the service at a provider',
  providerId: 'is linked as svc:ai-provider',
  documentId: 'is a name in the manifest of a client',
  fileId: 'names a file at a provider',
  requestId: 'names a line of the log',
  sessionId: 'cannot be read alone',
  tokenId: 'cannot be read alone',
};
/** Routes below a record that are not linked, with the reason. */
const NOT_LINKED: Record<string, string> = {
  'POST /datasets/:/_refresh-internal': 'is for workers',
  'POST /datasets/:/_benchmark-internal': 'is for workers',
  'POST /dataset-field-report-access': 'requires a permission on the datasets in its body',
  'PUT /users/:/theme': 'requires a permission that the record of a user does not contain',
  'GET /oauth/callback': 'is where a provider sends browsers, with parameters',
  'GET /oauth/callback/:': 'is where an authorization server sends browsers, with parameters',
};

let service: Service;
let admin: Client;
let reader: Client;
let resources: Resources;

beforeAll(async () => {
  service = await startService();
  await service.user('admin', { superuser: true });
  admin = await service.login('admin');
  reader = await service.user('viewer', { permissions: [] });
  resources = await createResources(admin, 'linked');
  for (const kind of ['datasets', 'datasources', 'queries', 'reports', 'apps'])
    await admin.put(`/${kind}/${resources[`/${kind}/`]}/shares/${reader.id}`, { accessLevel: 1 });
});
afterAll(() => service.close());

/** Returns the path of a route with the ids of the resources. */
const pathOf = (endpoint: Endpoint): string => fillPath(templateOf(endpoint), resources);

interface Link {
  rel: string;
  href: string;
}
type Body = Record<string, unknown>;

/** Returns the links of a body and of embedded records. */
function linksIn(body: unknown): Link[] {
  if (Array.isArray(body)) return body.flatMap(linksIn);
  if (typeof body !== 'object' || body === null) return [];
  const { _links = {}, _embedded = {} } = body as { _links?: Record<string, Link | Link[]>; _embedded?: Body };
  const own = Object.entries(_links).flatMap(([rel, links]) => [links].flat().map(({ href }) => ({ rel, href })));
  return [...own, ...Object.values(_embedded).flatMap(linksIn)];
}
/** Returns the relations of the service in a body: of links, and of embedded records. */
function relationsIn(body: unknown): string[] {
  if (Array.isArray(body)) return body.flatMap(relationsIn);
  if (typeof body !== 'object' || body === null) return [];
  const { _links = {}, _embedded = {} } = body as { _links?: Body; _embedded?: Body };
  const own = [...Object.keys(_links), ...Object.keys(_embedded)].filter((rel) => rel.startsWith('svc:'));
  return [...own, ...Object.values(_embedded).flatMap(relationsIn)];
}
const described = describeRelations(endpoints);

const hrefsOf = (body: Body): string[] => linksIn({ ...body, _embedded: {} }).map(({ href }) => href);
const withoutTemplate = (href: string): string => href.replace(/\{\?.*\}$/, '');

describe('the table of routes', () => {
  const records = gets.filter(isRecord);
  const paths = new Set(endpoints.map(({ row }) => shapeOf(row.path)));
  /** Whether two segments are between a record and a route, and the first of them leads to nothing. */
  const isLinkedBySegments = (record: string, child: string) => {
    const [, above, last] = /^(\/[^/:]+)\/([^/:]+)$/.exec(child.slice(record.length)) ?? [];
    return last !== undefined && !paths.has(record + above);
  };

  test('links every route below a record', () => {
    const missing = records.flatMap(({ row: { path }, presentation }) => {
      const shape = shapeOf(path);
      const linked = [
        ...Object.values(presentation!.links!).map((link) => shapeOf(link ?? '')),
        ...presentation!.derived!.children.map(({ suffix }) => shapeOf(`${shape}${withoutTemplate(suffix)}`)),
        ...presentation!.derived!.fields.filter(({ key }) => key === 'ownerId').map(() => `${shape}/owner`),
      ];
      return endpoints
        .filter(({ row }) => {
          const child = shapeOf(row.path);
          return (
            child.startsWith(`${shape}/`) &&
            (/^\/[^/:]+$/.test(child.slice(shape.length)) || isLinkedBySegments(shape, child)) &&
            !linked.includes(child)
          );
        })
        .map(({ row }) => `${row.method} ${shapeOf(row.path)}`);
    });
    // `/me` prints the record of a user; what is below it is linked by the root.
    const below = [...new Set(missing)].filter((route) => !route.includes(' /me/') && !/^\w+ \/\w+\/_/.test(route));
    expect(below.filter((route) => !(route in NOT_LINKED))).toEqual([]);
    expect(records.length).toBeGreaterThan(30);
  });

  test('links the resources that the fields of a record name', () => {
    const missing = endpoints.flatMap(({ row, presentation }) => {
      const shown = presentation?.collection?.item ?? presentation?.unwraps?.inner ?? presentation;
      if (!shown?.links || !shown.derived) return [];
      const linked = new Set(shown.derived.fields.map(({ key }) => key));
      const relations = Object.keys(shown.links);
      return shown.keys
        .filter((key) => key.endsWith('Id') && !(key in NO_RESOURCE) && !linked.has(key))
        .filter((key) => !relations.includes(`svc:${toKebab(key.slice(0, -2))}`))
        .map((key) => `${row.method} ${row.path} ${key}`);
    });
    expect(missing).toEqual([]);
  });
});

describe('the root', () => {
  test('links every route without parameters to those who may use it', async () => {
    const { body } = await admin.get('');
    const hrefs = hrefsOf(body).map(withoutTemplate);
    const collections = new Set(gets.filter(({ presentation }) => presentation?.collection).map(({ row }) => row.path));
    const expected = endpoints
      .filter(({ row }) => row.path !== '' && !row.path.includes(':'))
      .filter(({ row }) => !(`${row.method} ${row.path}` in NOT_LINKED))
      .map(({ row }) => row.path)
      .filter((path) => !collections.has(path.slice(0, path.lastIndexOf('/'))));
    expect(hrefs).toEqual(expect.arrayContaining([...new Set(expected)].map((path) => `/api${path}`)));
    expect(body).toMatchObject({
      graphql: '/graphql',
      _links: {
        self: { href: '/api' },
        'svc:docs': { href: '/api/docs' },
        'svc:openapi': { href: '/api/openapi.json' },
        'svc:me': { href: '/api/me' },
        'svc:session': { href: '/api/session' },
        'svc:datasets': { href: '/api/datasets' },
        'svc:favorites': { href: '/api/me/favorites' },
        'svc:search': { href: '/api/search{?q}', templated: true },
        'svc:audit': { href: '/api/audit' },
        'svc:password': { href: '/api/me/password' },
        curies: [{ name: 'svc', href: '/api/docs/relations/{rel}', templated: true }],
      },
    });
  });

  test('is the same with a slash, has an ETag, and requires credentials', async () => {
    const { body, headers } = await admin.get('');
    expect((await admin.get('/')).body).toEqual(body);
    expect((await admin.get('', { 'if-none-match': headers.get('etag')! })).status).toBe(304);
    const anonymous = admin.with({ cookie: '' });
    await expectError(anonymous.get(''), 401, 'Missing authentication');
    await expectError(admin.get('?surprise=1'), 400, /surprise/);
  });

  test('omits what the caller may not use', async () => {
    const { body } = await reader.get('');
    for (const rel of ['svc:audit', 'svc:outbox', 'svc:password']) expect(body._links).not.toHaveProperty(rel);
    await expectError(reader.get('/audit'), 403);
    const lists = [await admin.get('/datasets?limit=1'), await reader.get('/datasets?limit=1')];
    expect(lists.map((list) => 'svc:upload' in list.body._links)).toEqual([true, false]);
    expect(lists[1]!.body._links).toMatchObject({ up: { href: '/api' } });
  });
});

describe('every link', () => {
  const shapes = new Set([...endpoints.map(({ row }) => `/api${shapeOf(row.path)}`), ...PAGES]);
  const isKnown = (href: string) =>
    PAGES.includes(href) ||
    shapes.has(href) ||
    endpoints.some(({ row }) =>
      new RegExp(
        `^/api${row.path
          .replace('.', '\\.')
          .replace(/:\w+\*/, '.+')
          .replace(/:\w+/g, '[^/]+')}$`,
      ).test(withoutTemplate(href).replace(/\?.*$/, '')),
    );

  test.for(gets.filter(({ row }) => !row.options.handler).map((endpoint) => [endpoint.row.path, endpoint] as const))(
    'of %s leads to a route',
    async ([, endpoint]) => {
      for (const client of [admin, reader]) {
        const { body } = await client.get(`${pathOf(endpoint)}${endpoint.row.path === '/search' ? '?q=linked' : ''}`);
        expect(linksIn(body).filter(({ href }) => !isKnown(href))).toEqual([]);
        expect(relationsIn(body).filter((rel) => !described.has(rel))).toEqual([]);
      }
    },
  );

  test('to what can be read is not refused to the caller for lack of a permission', async () => {
    const readable = new Set(gets.map(({ row }) => `/api${shapeOf(row.path)}`));
    const session = await service.login(reader.username);
    for (const client of [admin, reader, session])
      for (const path of ['', '/me', `/users/${reader.username}`, '/users/admin']) {
        const hrefs = hrefsOf((await client.get(path)).body).filter((href) => !href.includes('{'));
        const followed = hrefs.filter((href) => readable.has(href.replace(/^(\/api\/users\/)[^/]+/, '$1:')));
        const statuses = await Promise.all(followed.map(async (href) => (await client.request('GET', href)).status));
        expect([path, followed.filter((_, index) => statuses[index] === 403)]).toEqual([path, []]);
        expect(followed.length).toBeGreaterThan(2);
      }
    expect(hrefsOf((await admin.get('/users/viewer')).body)).toContain('/api/users/viewer/superuser');
  });

  test('has a relation with a page that describes it', async () => {
    const page = await admin.with({ cookie: '' }).get('/docs/relations/refresh');
    expect(page).toMatchObject({ status: 200, body: expect.stringContaining('POST /api/datasets/{id}/_refresh') });
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    await expectError(admin.get('/docs/relations/unknown'), 404);
    for (const rel of [
      'owner',
      'creator',
      'resource',
      'record',
      'dataset-reference',
      'favorite',
      'commit-draft',
      'tag',
    ])
      expect([rel, described.get(`svc:${rel}`)?.length]).toEqual([rel, expect.toSatisfy((count) => count > 0)]);
  });
});

test('the page of each relation has a route, and says what it does', async () => {
  expect(described.size).toBeGreaterThan(80);
  for (const rel of described.keys()) {
    const page = (await admin.get(`/docs/relations/${rel.slice('svc:'.length)}`)).body as string;
    const summaries = [...page.matchAll(/<dt><code>.+<\/code><\/dt>\s*<dd>(.*)<\/dd>/g)].map(([, summary]) => summary);
    expect([rel, summaries]).toEqual([rel, expect.arrayContaining([expect.stringMatching(/^[A-Z]/)])]);
    expect([rel, summaries.filter((summary) => !/^[A-Z][^<]{4,}$/.test(summary!))]).toEqual([rel, []]);
  }
  const favorite = (await admin.get('/docs/relations/favorite')).body;
  expect(favorite).toContain('Returns whether a dataset is a favourite of the caller');
});

test('children with one condition are one group, so that it is checked once for a record', () => {
  const { children, groups } = gets.find(({ row }) => row.path === '/datasets/:id')!.presentation!.derived!;
  expect(groups.flatMap((group) => group.children.map(({ rel }) => rel)).toSorted()).toEqual(
    children.map(({ rel }) => rel).toSorted(),
  );
  const groupOf = (rel: string) => groups.find((group) => group.children.some((child) => child.rel === rel));
  expect(groupOf('svc:preview-refresh')).toBe(groupOf('svc:refresh'));
  expect(groupOf('svc:favorite')).toBe(groupOf('svc:activity'));
  expect(groupOf('svc:copy')).not.toBe(groupOf('svc:refresh'));
});

describe('the links of a record', () => {
  const kinds = ['datasets', 'datasources', 'queries', 'reports', 'apps'];

  /** Returns the routes that change something directly below a kind, and may be refused for lack of a permission. */
  const actionsOf = (kind: string) =>
    endpoints.filter(
      ({ row }) =>
        row.method === 'POST' &&
        new RegExp(`^/${kind}/:\\w+/\\w+$`).test(row.path) &&
        !(`POST ${shapeOf(row.path)}` in NOT_LINKED) &&
        !gets.some((read) => shapeOf(read.row.path) === shapeOf(row.path)),
    );

  test.for(kinds)('of %s lead to all that their reader may use', async (kind) => {
    const path = `/${kind}/${resources[`/${kind}/`]}`;
    const links = { admin: (await admin.get(path)).body, reader: (await reader.get(path)).body };
    for (const action of actionsOf(kind)) {
      const href = `/api${pathOf(action)}`;
      const mayUse = action.permission === 'authenticated' || /:(read|copy)$/.test(action.permission);
      expect([href, hrefsOf(links.admin).includes(href)]).toEqual([href, true]);
      expect([href, hrefsOf(links.reader).includes(href)]).toEqual([href, mayUse]);
      if (!mayUse) await expectError(reader.post(pathOf(action), sentTo(action)), 403);
    }
    const readable = hrefsOf(links.reader).filter(
      (href) => !href.includes('{') && gets.some(({ row }) => `/api${shapeOf(row.path)}` === toShape(href)),
    );
    const refused: string[] = [];
    for (const href of readable) {
      const { status } = await reader.request('GET', href);
      if (status !== 200) refused.push(`${href.split('/').at(-1)} ${status}`);
    }
    // A draft and the favorite of a query are the caller's own: a PUT creates them.
    expect(refused).toEqual({ datasets: ['draft 404'], queries: ['favorite 404'] }[kind] ?? []);
    expect(readable.length).toBeGreaterThan(5);
  });

  const toShape = (href: string) => href.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, ':').replace(/\?.*$/, '');

  test('of drafts and snapshots lead to what they have', async () => {
    const id = resources['/datasets/'];
    const snapshot = await admin.creates(`/datasets/${id}/snapshots`, { name: 'Linked' });
    const draft = (await admin.get(`/datasets/${id}/draft`)).body;
    const relations = async (path: string) => Object.keys((await admin.get(path)).body._links);
    const ofSnapshot = await relations(`/datasets/${snapshot.id}`);
    const ofDraft = await relations(`/datasets/${draft.id}`);
    expect(ofSnapshot).toEqual(expect.arrayContaining(['svc:data', 'svc:visuals', 'svc:copy', 'svc:parent']));
    expect(ofDraft).toEqual(expect.arrayContaining(['svc:data', 'svc:commit-draft', 'svc:refresh', 'svc:parent']));
    for (const rel of ['svc:refresh', 'svc:run', 'svc:benchmark', 'svc:sync-fields', 'svc:edit', 'svc:draft'])
      expect(ofSnapshot).not.toContain(rel);
    for (const rel of ['svc:copy', 'svc:snapshots', 'svc:edit', 'svc:draft']) expect(ofDraft).not.toContain(rel);
    expect(await relations(`/datasets/${id}/snapshots/${snapshot.id}`)).toContain('svc:promote');
  });

  test('in a list are only the links of the fields', async () => {
    const { body } = await admin.get(`/datasets?limit=100`);
    const item = body._embedded['svc:dataset'].find(({ id }: { id: string }) => id === resources['/datasets/']);
    expect(Object.keys(item._links)).toEqual(['self', 'svc:data', 'svc:permissions', 'svc:datasource', 'svc:owner']);
  });

  test('of a token that only reads omit what changes', async () => {
    const { body } = await (
      await service.user('readonly', { superuser: true, scopes: ['read'] })
    ).get(`/datasets/${resources['/datasets/']}`);
    expect(body.permissions.refresh).toBe(true);
    expect(body._links).toHaveProperty('svc:visuals');
    expect(body._links).not.toHaveProperty('svc:refresh');
  });
});
