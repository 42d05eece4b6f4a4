import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { FIXTURES, letWrite } from '../conformance/fixtures.ts';
import { test as base } from '../support/fixture.ts';
import { startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createForm } from '../support/upload-form.ts';
import { deployAppWith, grantApp } from './echo-app.ts';

const test = base.extend<{ service: Service }>({
  service: [
    async ({}, use) => {
      const service = await startService({ OUTBOUND_ALLOW: '127.0.0.1' });
      await use(service);
      await service.close();
    },
    { scope: 'file' },
  ],
});

const FILES = {
  'server/read.js': `export const config = { timeout: 120000 };
    export const post = async ({ fetch, request: { body } }) => {
      await fetch('/api/me');
      const statuses = [];
      for (const path of body.paths)
        statuses.push(await fetch(path).then(({ status }) => status, ({ code }) => code));
      return statuses;
    };`,
};

/** Routes that only read. Routes of handlers of apps have rules of their own. */
const GETS = [...readFileSync('schema/routes.txt', 'utf8').matchAll(/^GET (\/api\S*)/gm)]
  .map(([, path]) => path!)
  .filter((path) => !/\/(?:view|_hook|hooks)\//.test(path) && !path.endsWith('/events'));

/** Tables that no tenant reads, and tables with records of any run: audit, compute time, mark, last use of credentials. */
const NOTED = ['migration', 'audit_event', 'usage_event', 'usage_day', 'app_log', 'api_token', 'session', 'app_grant'];

/** Returns a digest of each table. */
async function digestTables(service: Service): Promise<Record<string, string>> {
  const tables = await systemQuery<{ name: string }>(
    service,
    `select relname as name from pg_class
    where relnamespace = 'dws'::regnamespace and relkind in ('r', 'p') and relname <> all($1) order by 1`,
    NOTED,
  );
  const digests = await Promise.all(
    tables.map(async ({ name }) => {
      const sql = `select md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as digest from dws."${name}" t`;
      const [row] = await systemQuery<{ digest: string }>(service, sql);
      return [name, row!.digest] as const;
    }),
  );
  return Object.fromEntries(digests);
}

test(
  'reads of a run with read alone change nothing and connect to nothing',
  { timeout: 300_000 },
  async ({ service, admin, ann }) => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const app = await deployAppWith(admin, 'Reads', FILES, { scopes: ['read', 'keep', 'send'] });
    await grantApp(service, admin, ann, app, ['read']);
    const ids: Record<string, string[]> = {};
    for (const [kind, { create }] of Object.entries(FIXTURES)) ids[kind] = [await create(admin, `Read ${kind}`)];
    const { id: datasourceId } = await admin.creates('/datasources', {
      name: 'Of the author',
      type: 'postgres',
      config: { host: '127.0.0.1', port, database: 'd', user: 'u' },
      secrets: { password: 'p' },
    });
    ids['datasources']!.push(datasourceId);
    ids['queries']!.push(
      (await admin.creates('/queries', { name: 'Author’s', datasourceId, query: 'select 1 as a' })).id,
    );
    ids['datasets']!.push((await admin.post('/datasets/_upload', createForm('a,b\nfoo,1\n', 'read.csv'))).body.id);
    for (const kind of ['datasources', 'queries', 'datasets', 'toolkits', 'jobs', 'reports', 'templates', 'libraries'])
      for (const id of ids[kind]!) await letWrite(admin, kind, id, 'ann');
    const paths = GETS.flatMap((path) => {
      const kind = path.split('/')[2]!;
      return (ids[kind] ?? ['x']).map(
        (id) =>
          path.replace(/\{[^}]+\}/, id).replaceAll(/\{[^}]+\}/g, 'ann') +
          (path.endsWith('search') ? '?q=foo' : path.endsWith('export') ? '?format=csv' : ''),
      );
    });
    const run = async () => (await ann.post(`/apps/${app}/view/read`, { paths })).body;
    const before = await digestTables(service);
    const statuses = await run();
    expect(statuses.filter((status: number) => status === 200).length).toBeGreaterThan(100);
    expect(statuses).not.toContain(500);
    expect(await digestTables(service)).toEqual(before);
    expect(connections).toBe(0);
    await grantApp(service, admin, ann, app, ['read', 'keep', 'send']);
    await run();
    expect(connections).toBeGreaterThan(0);
    server.close();
  },
);

test('a request to another host ends before the run reads, unless the host may get what it reads', async ({
  service,
  admin,
  ann,
}) => {
  const waiting = new Set<ServerResponse>();
  const server = createHttpServer((request, response) => {
    if (request.url === '/slow') {
      waiting.add(response.once('close', () => waiting.delete(response)));
      return;
    }
    if (request.url === '/answer') for (const slow of waiting) slow.end();
    response.end(String(waiting.size));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const handler = `export const config = { timeout: 10000 };
    export const post = async ({ fetch }) => {
      const slow = fetch('http://${host}/slow').then(() => 'answered', ({ code }) => code);
      while (await fetch('http://${host}/waiting').then((response) => response.text()) !== '1');
      await fetch('/api/me');
      const after = await fetch('http://${host}/answer').then(() => 'answered', ({ code }) => code);
      return [await slow, after];
    };`;
  const access = { scopes: ['read', 'send'], hosts: [host] };
  const app = await deployAppWith(admin, 'Slow', { 'server/x.js': handler }, access);
  const run = async () => (await ann.post(`/apps/${app}/view/x`)).body;
  await grantApp(service, admin, ann, app, ['read']);
  expect(await run()).toEqual(['CONSENT_REQUIRED', 'CONSENT_REQUIRED']);
  await expect.poll(() => waiting.size).toBe(0);
  await grantApp(service, admin, ann, app, ['read', 'send'], [host]);
  expect(await run()).toEqual(['answered', 'answered']);
  expect((await admin.post(`/apps/${app}/view/x`)).body).toEqual(['answered', 'answered']);
  server.close();
});

test('a query is described for a run that may keep and send what it has read, in both APIs', async ({
  service,
  admin,
  ann,
}) => {
  const app = await deployAppWith(admin, 'Describes', FILES, { scopes: ['read', 'keep', 'send'] });
  const source = (await admin.post('/datasources/_upload', createForm('a,b\n1,2\n', 'described.csv'))).body;
  await letWrite(admin, 'datasources', source.id, 'ann');
  const input = { name: 'Described', datasourceId: source.id, query: 'select a from data' };
  const { id } = await admin.creates('/queries', input);
  await letWrite(admin, 'queries', id, 'ann');
  const known = async () => {
    const rest = (await admin.get('/queries?limit=1000')).body._embedded['svc:query'];
    const { savedQueries } = await admin.data('{ savedQueries(limit: 1000) { items { id fields { name } } } }');
    return [rest, savedQueries.items].map((items: { id: string; fields: { name: string }[] }[]) =>
      items.find((item) => item.id === id)!.fields.map(({ name }) => name),
    );
  };
  for (const [scopes, fields] of [
    [['read'], []],
    [['read', 'keep'], []],
    [['read', 'send'], []],
    [['read', 'keep', 'send'], ['a']],
  ] as const) {
    await grantApp(service, admin, ann, app, [...scopes]);
    expect((await ann.post(`/apps/${app}/view/read`, { paths: [`/api/queries/${id}`] })).body).toEqual([200]);
    expect([scopes, await known()]).toEqual([scopes, [fields, fields]]);
  }
});
