import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Kind, parse, print, type OperationDefinitionNode } from 'graphql';
import { describe, expect, vi } from 'vitest';
import type { Viewer } from '../../src/core/viewer.ts';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { FieldUsageCounter } from '../../src/services/client/field-usage.ts';
import type { Client } from '../support/client.ts';
import { dws } from '../support/command.ts';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { test as base } from '../support/fixture.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

const CURRENT = readFileSync('schema/schema.graphql', 'utf8');
const CURRENT_DOCUMENT = parse(CURRENT);

/** Returns the schema of the service with the definition of a type changed. */
const change = (name: string, edit: (type: any) => any): string =>
  print({
    ...CURRENT_DOCUMENT,
    definitions: CURRENT_DOCUMENT.definitions.map((one) =>
      'name' in one && one.name?.value === name ? (edit(one) as typeof one) : one,
    ),
  });
const without = (name: string, part: 'fields' | 'values', ...members: string[]): string =>
  change(name, (type) => ({ ...type, [part]: type[part].filter((one: any) => !members.includes(one.name.value)) }));
/** A schema without a field that is used and one that is not. */
const WITHOUT_FIELDS = without('User', 'fields', 'username', 'displayName');

const CHECK = `query ($schema: String!) { schemaCheck(schema: $schema) {
  breaking breakingUsed dangerous
  changes { criticality type description coordinate isUsed requests lastSeenAt clients { name version requests lastSeenAt } }
} }`;

/** Counts requests for documents, as two clients. */
async function useSchema(service: Service, admin: Client): Promise<void> {
  const [user] = await systemQuery<{ tenant_id: string }>(
    service,
    'select tenant_id from dws.app_user where id = $1',
    admin.id,
  );
  const counter = new FieldUsageCounter(service.platform, await createSchema());
  const count = (text: string, client: string, version?: string) => {
    const document = parse(text);
    const viewer = { tenantId: user!.tenant_id, authMethod: 'token', client } as Viewer;
    counter.count(document, document.definitions[0] as OperationDefinitionNode, viewer, { version });
  };
  for (let request = 0; request < 3; request++) count('{ me { username } }', 'web', '1');
  count('query Other { me { username } }', 'web', '1');
  count('{ me { username } }', 'mobile');
  count('mutation { createToken(input: { name: "a", scopes: [READ] }) { id } }', 'build');
  count('mutation ($i: CreateTokenInput!) { createToken(input: $i) { id } }', 'web', '2');
  await counter.close();
}

const test = base.extend<{ used: void }>({
  used: [
    async ({ service, admin }, use) => {
      await useSchema(service, admin);
      await use();
    },
    { scope: 'file', auto: true },
  ],
});

const find = (changes: any[], coordinate: string, type: string) =>
  changes.find((one) => one.coordinate === coordinate && one.type === type);

describe('the check of a schema', () => {
  test('finds no change of the schema of the service', async ({ admin }) => {
    const none = { breaking: 0, breakingUsed: 0, dangerous: 0, changes: [] };
    await expectBody(admin.post('/schema/_check', { schema: CURRENT }), 200, none);
  });

  test('returns who used what breaks, when and how often, in both APIs', async ({ admin }) => {
    const { body } = await admin.post('/schema/_check', { schema: WITHOUT_FIELDS });
    expect(body).toMatchObject({ breaking: 2, breakingUsed: 1, dangerous: 0 });
    const username = find(body.changes, 'User.username', 'FIELD_REMOVED');
    expect(username).toEqual({
      criticality: 'BREAKING',
      type: 'FIELD_REMOVED',
      description: 'User.username was removed.',
      coordinate: 'User.username',
      isUsed: true,
      requests: 5,
      lastSeenAt: expect.stringMatching(/^\d{4}-.*Z$/),
      clients: [
        { name: 'mobile', version: null, requests: 1, firstSeenAt: expect.any(String), lastSeenAt: expect.any(String) },
        { name: 'web', version: '1', requests: 4, firstSeenAt: expect.any(String), lastSeenAt: expect.any(String) },
      ],
    });
    const unused = { isUsed: false, requests: 0, lastSeenAt: null, clients: [] };
    expect(find(body.changes, 'User.displayName', 'FIELD_REMOVED')).toMatchObject(unused);
    const { schemaCheck } = await admin.data(CHECK, { schema: WITHOUT_FIELDS });
    expect(find(schemaCheck.changes, 'User.username', 'FIELD_REMOVED').requests).toBe(5);
  });

  test('finds @oneOf put on an input, and input fields in literals and variables', async ({ admin }) => {
    const oneOf = change('CreateTokenInput', (type) => ({
      ...type,
      directives: [{ kind: Kind.DIRECTIVE, name: { kind: Kind.NAME, value: 'oneOf' } }],
      fields: type.fields.map((field: any) => ({
        ...field,
        type: field.type.kind === Kind.NON_NULL_TYPE ? field.type.type : field.type,
      })),
    }));
    const { body } = await admin.post('/schema/_check', { schema: oneOf });
    const found = find(body.changes, 'CreateTokenInput', 'ONE_OF_ADDED');
    expect(found).toMatchObject({
      criticality: 'BREAKING',
      description: 'CreateTokenInput is @oneOf now.',
      requests: 2,
    });
    expect(found.clients.map(({ name }: { name: string }) => name)).toEqual(['build', 'web']);
    const withoutValue = without('TokenScope', 'values', 'READ');
    const { changes } = (await admin.post('/schema/_check', { schema: withoutValue })).body;
    expect(find(changes, 'TokenScope.READ', 'VALUE_REMOVED_FROM_ENUM')).toMatchObject({ isUsed: true, requests: 2 });
  });

  test('shows names of clients to superusers only, of their tenant', async ({ ann, stranger, anonymous }) => {
    const ofAnn = (await ann.post('/schema/_check', { schema: WITHOUT_FIELDS })).body;
    expect(find(ofAnn.changes, 'User.username', 'FIELD_REMOVED')).toMatchObject({ requests: 5, clients: null });
    const elsewhere = (await stranger.post('/schema/_check', { schema: WITHOUT_FIELDS })).body;
    expect(elsewhere.breakingUsed).toBe(0);
    await expectStatus(anonymous.post('/schema/_check', { schema: CURRENT }), 401);
  });

  test('refuses what is not a schema, or too long', async ({ admin }) => {
    const check = (schema: string) => admin.post('/schema/_check', { schema });
    await expectError(check('type Query {'), 400, /^schema is not valid: Syntax Error/);
    await expectError(check('type Query { a: Unknown }'), 400, /Unknown type "Unknown"/);
    await expectError(check('type A { a: Int }'), 400, /Query root type must be provided/);
    await expectError(check(`type Query { a(x: Int = ${'['.repeat(100_000)}): Int }`), 400, /nests too deeply/);
    await expectError(check(`# ${'x'.repeat(2 << 20)}`), 413, 'schema must have at most 2 MiB');
    const longest = `# ${'x'.repeat((2 << 20) - 100)}\ntype Query { a: Int }`;
    await expectStatus(check(longest), 200);
  });

  test('does not delay other requests', async ({ admin, ann }) => {
    const types = Array.from({ length: 20_000 }, (_, n) => `type T${n} { field: Int }`).join('\n');
    let isDone = false;
    const checked = admin.post('/schema/_check', { schema: `type Query { a: Int }\n${types}` }).finally(() => {
      isDone = true;
    });
    let served = 0;
    while (!isDone) {
      await ann.get('/me');
      served++;
      await setTimeout(1);
    }
    expect((await checked).status).toBe(200);
    expect(served).toBeGreaterThan(3);
  });
});

test('`dws schema check <file>` prints the changes, and fails if a part breaks that clients use', async ({
  service,
  admin,
}) => {
  const folder = mkdtempSync(join(tmpdir(), 'dws-schema-'));
  const run = (schema: string, ...more: string[]) => {
    const file = join(folder, 'new.graphql');
    writeFileSync(file, schema);
    return dws(
      { DWS_TOKEN: admin.headers['authorization']!.slice('Bearer '.length) },
      'schema',
      'check',
      file,
      ...more,
    );
  };
  try {
    const broken = await run(WITHOUT_FIELDS, '--url', service.url);
    expect(broken.out.find((line) => line.includes('User.username was removed.'))).toMatch(
      /^BREAKING\t5 requests, last 20/,
    );
    expect(broken.out).toContainEqual(expect.stringMatching(/^\tweb 1: 4 requests, last 20/));
    expect(broken.out.find((line) => line.includes('User.displayName'))).toMatch(/^BREAKING\tunused\t/);
    expect({ code: broken.code, err: broken.err }).toEqual({
      code: 1,
      err: [expect.stringMatching(/^Breaking changes of parts that clients use: \d+$/)],
    });
    const unused = without('User', 'fields', 'displayName');
    expect(await run(unused, '--url', service.url)).toMatchObject({ code: 0, err: [] });
    expect(await run('type Query {', '--url', service.url)).toMatchObject({
      code: 1,
      err: [expect.stringContaining('400: schema is not valid')],
    });
    expect(await run(CURRENT)).toMatchObject({ code: 1, err: ['Name the service by --url'] });
    const missing = await dws({}, 'schema', 'check', join(folder, 'none.graphql'), '--url', service.url);
    expect(missing).toMatchObject({ code: 1, err: [expect.stringContaining('cannot be read: ENOENT')] });
  } finally {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  }
});
