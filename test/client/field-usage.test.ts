import { createHash } from 'node:crypto';
import { parse, type OperationDefinitionNode } from 'graphql';
import { describe, expect } from 'vitest';
import type { Viewer } from '../../src/core/viewer.ts';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { coordinatesOf } from '../../src/services/client/coordinates.ts';
import { sweepFieldUsage } from '../../src/services/client/field-usage-report.ts';
import { FieldUsageCounter } from '../../src/services/client/field-usage.ts';
import { Client } from '../support/client.ts';
import { expectError, expectGraphqlError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { withService } from '../support/upload-form.ts';
import { runOnSocket } from './run-on-socket.ts';

const schema = await createSchema();
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const TAGS = 'query Tags { tags(limit: 1) { total } }';

const FIELDS = 'coordinate client clientVersion document operationName requests firstSeenAt lastSeenAt';
const usageOf = async (admin: Client, document: string): Promise<any[]> =>
  (
    await admin.data(`query ($d: String) { fieldUsage(document: $d, limit: 1000) { items { ${FIELDS} } } }`, {
      d: document,
    })
  ).fieldUsage.items;

/** Creates a further counter, which writes when the test calls it. */
const counterOf = (service: Service) => new FieldUsageCounter(service.platform, schema);
const documentOf = (text: string) => {
  const document = parse(text);
  return { document, operation: document.definitions[0] as OperationDefinitionNode };
};
async function viewerOf(service: Service, userId: string, more: Partial<Viewer> = {}): Promise<Viewer> {
  const [row] = await systemQuery<{ tenant_id: string }>(
    service,
    'select tenant_id from dws.app_user where id = $1',
    userId,
  );
  return { tenantId: row!.tenant_id, userId, authMethod: 'token', ...more } as Viewer;
}

describe('the coordinates of an operation', () => {
  const of = (text: string, name?: string): string[] => {
    const document = parse(text);
    const operations = document.definitions.filter((one) => one.kind === 'OperationDefinition');
    return coordinatesOf(schema, document, operations.find((one) => one.name?.value === name) ?? operations[0]!);
  };

  test('are fields with their types, arguments and directives, in fragments that it spreads', () => {
    const text = `
      query One { tags(limit: 1) { ...Page __typename } } fragment Page on TagPage { total @include(if: true) }
      query Two { me { username } } fragment Unused on User { id }`;
    expect(of(text, 'One')).toEqual([
      '@include',
      '@include(if:)',
      'Int',
      'Query',
      'Query.tags',
      'Query.tags(limit:)',
      'TagPage',
      'TagPage.total',
    ]);
    expect(of(text, 'Two')).toEqual(['Query', 'Query.me', 'String', 'User', 'User.username']);
  });

  test('are fields and enum values of literals, and of variables the types', () => {
    const literal = of('mutation { createToken(input: { name: "a", scopes: [READ] }) { id } }');
    expect(literal).toEqual(expect.arrayContaining(['CreateTokenInput.name', 'TokenScope.READ']));
    expect(literal).not.toContain('CreateTokenInput');
    const variable = of('mutation ($i: CreateTokenInput!) { createToken(input: $i) { id } }');
    expect(variable).toEqual(expect.arrayContaining(['CreateTokenInput', 'TokenScope', 'DateTime']));
    expect(variable).not.toContain('CreateTokenInput.name');
  });
});

/** Closes the server of a service, which writes what it counted, and calls `read` with the URL of a new one. */
async function afterRestart(service: Service, read: (url: string) => Promise<void>): Promise<void> {
  await service.app.close();
  const second = await startService({}, { databaseUrl: service.databaseUrl });
  try {
    await read(second.url);
  } finally {
    await second.close();
  }
}

describe('the use of the schema', () => {
  test('is counted by client and version of the headers, over HTTP', async () => {
    await withService({}, async (service) => {
      const admin = await service.user('admin', { superuser: true });
      const ann = await service.user('ann');
      const web = ann.with({ 'apollographql-client-name': 'web', 'apollographql-client-version': '1.2' });
      const mobile = ann.with({ 'graphql-client-name': 'mobile' });
      for (const client of [web, web, mobile, ann]) await client.data(TAGS);
      // Not valid, and of REST.
      await ann.gql('query Tags { tags(limit: 1) { total unknown } }');
      await ann.get('/tags');
      await afterRestart(service, async (url) => {
        const reader = new Client(url, admin.headers);
        const ofLimit = ({ coordinate }: { coordinate: string }) => coordinate === 'Query.tags(limit:)';
        const rows = (await usageOf(reader, sha256(TAGS))).filter(ofLimit);
        expect(rows.map(({ client, clientVersion, requests }) => [client, clientVersion, requests])).toEqual([
          [null, null, 1],
          ['mobile', null, 1],
          ['web', '1.2', 2],
        ]);
        expect(rows[2]).toMatchObject({ document: sha256(TAGS), operationName: 'Tags' });
        expect((await reader.get('/field-usage?limit=1000')).body._embedded['svc:field-usage'].filter(ofLimit)).toEqual(
          rows,
        );
        const query = `coordinate=${encodeURIComponent('Query.tags(limit:)')}`;
        const { body } = await reader.get(`/field-usage?${query}&client=web`);
        expect(body).toMatchObject({ total: 1, _embedded: { 'svc:field-usage': [rows[2]] } });
        expect((await reader.get(`/field-usage?${query}&limit=1&start=1`)).body).toMatchObject({ total: 3, count: 1 });
        expect((await reader.get(`/field-usage?${query}&to=2026-01-01`)).body.total).toBe(0);
        const plain = new Client(url, ann.headers);
        await expectError(plain.get('/field-usage'), 403, 'You lack the permission tenant:superuser');
        await expectGraphqlError(plain.gql('{ fieldUsage { total } }'), 'FORBIDDEN');
      });
    });
  });

  test('is counted by the client of a token, whatever its headers say, over sockets too', async () => {
    await withService({}, async (service) => {
      const admin = await service.user('admin', { superuser: true });
      await service.user('ann');
      const { token } = await (await service.login('ann')).creates('/tokens', { name: 'app', client: 'app' });
      const headers = { authorization: `Bearer ${token}`, 'apollographql-client-name': 'web' };
      await new Client(service.url, headers).data(TAGS);
      expect(await runOnSocket(service.url, headers, { query: TAGS })).toMatchObject({ data: { tags: { total: 0 } } });
      await afterRestart(service, async (url) => {
        const rows = await usageOf(new Client(url, admin.headers), sha256(TAGS));
        const ofField = rows.filter(({ coordinate }) => coordinate === 'TagPage.total');
        expect(ofField).toMatchObject([{ client: 'app', requests: 2 }]);
      });
    });
  });

  test('adds up over writes and processes', async ({ service, admin }) => {
    const viewer = await viewerOf(service, admin.id, { client: 'sums' });
    const text = 'query Sums { me { id } }';
    const { document, operation } = documentOf(text);
    const counters = [counterOf(service), counterOf(service)];
    for (const requests of [1, 2, 3]) {
      for (const counter of counters)
        for (let request = 0; request < requests; request++) counter.count(document, operation, viewer, {});
      await Promise.all(counters.map((counter) => counter.write()));
    }
    for (const counter of counters) await counter.close();
    const rows = await usageOf(admin, sha256(text));
    expect(rows.map(({ coordinate, client, requests }) => [coordinate, client, requests])).toEqual([
      ['ID', 'sums', 12],
      ['Query', 'sums', 12],
      ['Query.me', 'sums', 12],
      ['User', 'sums', 12],
      ['User.id', 'sums', 12],
    ]);
  });

  test('has bounded memory: of a tenant, 2,000 operations and clients between two writes', async ({
    service,
    admin,
  }) => {
    const viewer = await viewerOf(service, admin.id);
    const text = 'query Many { me { slug: id } }';
    const { document, operation } = documentOf(text);
    const counter = counterOf(service);
    for (let version = 0; version < 3000; version++)
      counter.count(document, operation, viewer, { version: `${version}` });
    await counter.close();
    const [stored] = await systemQuery(
      service,
      'select count(*)::int as rows, max(length(version)) as longest from dws.field_usage where document = $1',
      sha256(text),
    );
    expect(stored).toEqual({ rows: 2000, longest: 4 });
  });

  test('is stored for 90 days', async ({ service, admin }) => {
    const viewer = await viewerOf(service, admin.id);
    const text = 'query Old { me { id } }';
    const { document, operation } = documentOf(text);
    const counter = counterOf(service);
    counter.count(document, operation, viewer, {});
    await counter.close();
    const age = (days: number) =>
      systemQuery(service, `update dws.field_usage set day = current_date - ${days} where document = $1`, sha256(text));
    const sweep = () => sweepFieldUsage(service.platform.system.query.bind(service.platform.system));
    await age(90);
    await sweep();
    expect(await usageOf(admin, sha256(text))).toHaveLength(5);
    await age(91);
    await sweep();
    expect(await usageOf(admin, sha256(text))).toEqual([]);
    const coordinates = 'select from dws.field_usage_document where document = $1';
    expect(await systemQuery(service, coordinates, sha256(text))).toEqual([]);
  });
});
