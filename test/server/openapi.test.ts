import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import {
  getNullableType,
  GraphQLID,
  isEnumType,
  isInputObjectType,
  isObjectType,
  type GraphQLObjectType,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import type { Endpoint } from '../../rest-bridge/bridge.ts';
import { describe as describeRow, operationId } from '../../rest-bridge/openapi-names.ts';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { endpointsOf, openapiOf } from '../../src/server/graphql/sdl.ts';
import { createApiDocument, type Schema } from '../conformance/openapi-document.ts';

/* Properties of the OpenAPI document that readers and generators of clients need. test/conformance tests its correctness. */

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters: { in: string; name: string; schema: Schema; example?: unknown }[];
  requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> };
  responses: Record<string, { content?: Record<string, { schema?: Schema; example?: unknown }> }>;
}

const schema = await createSchema();
const endpoints = endpointsOf(schema);
const document = JSON.parse(JSON.stringify(openapiOf(endpoints))) as Schema;
const operations = Object.values(document['paths'] as Record<string, Record<string, Operation>>).flatMap((methods) =>
  Object.values(methods),
);
const find = (id: string): Operation => operations.find(({ operationId }) => operationId === id)!;
const contentsOf = ({ requestBody, responses }: Operation) => [
  ...Object.entries(requestBody?.content ?? {}),
  ...Object.values(responses).flatMap(({ content }) => Object.entries(content ?? {})),
];

test('operations are named after their GraphQL fields', () => {
  expect(operations.filter(({ operationId }) => !/^[a-z][A-Za-z]+$/.test(operationId))).toEqual([]);
  const ids = new Set(operations.map(({ operationId }) => operationId));
  expect(ids.size).toBe(operations.length);
  expect([...ids]).toEqual(
    expect.arrayContaining([
      'login',
      'listDatasets',
      'getDataset',
      'createDataset',
      'getDatasetOwner',
      'listDatasetShares',
      'shareDataset',
      'listDatasetRows',
      'searchDatasetRows',
      'refreshDataset',
      'followOperation',
      'listSavedQueries',
    ]),
  );
});

test('each operation has a summary of one line, which its description does not repeat', () => {
  const isWrong = ({ summary, description }: Operation) =>
    !/^[A-Z][^\n]{4,99}$/.test(summary) ||
    summary.endsWith('.') ||
    description === summary ||
    description === `${summary}.`;
  expect(operations.filter(isWrong)).toEqual([]);
  expect(find('listDatasetShares')).toMatchObject({ summary: 'Lists the shares of a dataset' });
  expect(find('getAppOwner')).toMatchObject({ summary: 'Returns the owner of an app' });
  expect(find('getAppOwner')).not.toHaveProperty('description');
  expect(find('listAuditEvents')).toMatchObject({
    summary: 'Lists the audit log of the tenant, latest first',
    description: expect.stringMatching(/^Lists the audit log of the tenant, latest first: every mutation/),
  });
});

test('descriptions are about REST, and say only what the response has and the summary has not', () => {
  const sentences = operations.flatMap(({ operationId, summary, description, responses }) =>
    `${summary}. ${description ?? ''}`
      .split(/(?<=\.)\s+/)
      .map((text) => ({ operationId, summary, text, isEmpty: '204' in responses && !('200' in responses) })),
  );
  expect(sentences.length).toBeGreaterThan(300);
  const idsOf = (isWrong: (sentence: (typeof sentences)[number]) => boolean) =>
    sentences.filter(isWrong).map(({ operationId }) => operationId);
  expect(idsOf(({ text }) => /\bGraphQL\b|\bREST\b/.test(text))).toEqual([]);
  expect(idsOf(({ text, isEmpty }) => isEmpty && text.startsWith('Returns '))).toEqual([]);
  expect(idsOf(({ text }) => /^Returns the `\w+` argument/.test(text))).toEqual([]);
  expect(idsOf(({ text }) => text.startsWith('Null '))).toEqual([]);
  expect(idsOf(({ text }) => /\bmay\.$/.test(text))).toEqual([]);
  expect(find('getDatasetDraft').description).toBe(
    'The caller’s draft of the dataset. Fails with `NOT_FOUND` when there is none.',
  );
  expect(find('deleteSuite').description).toBe('Only its creator and superusers can delete it.');
  expect(find('revokeSuperuser').description).toBe('Requires a session.');
  expect(find('exportDataset')).not.toHaveProperty('description');
  for (const id of ['getTagPermissions', 'getTeamPermissions', 'getDatasetSnapshot'])
    expect(find(id)).not.toHaveProperty('description');
});

test('each operation belongs to one described theme', () => {
  const names = (document['tags'] as { name: string; description: string }[]).map(({ name }) => name);
  expect(names).toEqual([
    'Entry point',
    'Sessions',
    'People',
    'Datasets',
    'Rows',
    'Snapshots and drafts',
    'Visuals',
    'Reports',
    'Jobs',
    'Templates',
    'Libraries',
    'Toolkits',
    'AI',
    'Assistants',
    'Apps',
    'Data sources',
    'Folders and tags',
    'Operations',
    'Administration',
    'Usage',
  ]);
  expect(operations.filter(({ tags }) => tags.length !== 1 || !names.includes(tags[0]!))).toEqual([]);
});

test('each JSON object that is sent or received has a name', () => {
  const unnamed = operations.flatMap((operation) =>
    contentsOf(operation)
      .filter(
        ([, { schema }]) => !schema || (!('$ref' in schema) && !['string', 'array'].includes(schema['type'] as string)),
      )
      .map(([mediaType]) => `${operation.operationId} ${mediaType}`),
  );
  expect(unnamed).toEqual([]);
  expect(
    Object.keys(document['components'].schemas as object).filter((name) => !/^[A-Z][A-Za-z]+$/.test(name)),
  ).toEqual([]);
});

test('a schema called after an enum or an input type of GraphQL is that type', () => {
  const isOther = ([name, component]: [string, Schema]): boolean => {
    const type = schema.getType(name);
    return isEnumType(type)
      ? !('enum' in component)
      : isInputObjectType(type) && component['additionalProperties'] !== false;
  };
  expect(Object.entries(document['components'].schemas as Record<string, Schema>).filter(isOther)).toEqual([]);
});

test('schemas that differ by kind are named after their kind, each of them', () => {
  const names = Object.keys(document['components'].schemas as object);
  const kinds = ['Dataset', 'Datasource', 'SavedQuery', 'Report', 'App'];
  const byKind = names.filter((name) => names.includes(`Datasource${name}`) && names.includes(`Report${name}`));
  expect(byKind).toEqual([]);
  for (const part of ['Share', 'ShareCollection', 'TagAssignment', 'TagAssignmentCollection', 'ActivityCollection'])
    expect(names).toEqual(expect.arrayContaining(kinds.map((kind) => `${kind}${part}`)));
  expect(names).toContain('ReferenceCollection');
});

test('ids in responses are UUIDs, except for ids of principals, drivers, accounts and parts', () => {
  const others = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !['Mutation', 'Subscription'].includes(type.name))
    .flatMap((type) =>
      Object.values((type as GraphQLObjectType).getFields())
        .filter(({ type: fieldType, extensions }) => getNullableType(fieldType) === GraphQLID && !extensions['isUuid'])
        .map(({ name }) => `${type.name}.${name}`),
    );
  const isPrincipalOrNaturalId = /\.(ownerId|principalId|qualifiedId|naturalId)$/;
  expect(others.filter((field) => !isPrincipalOrNaturalId.test(field)).toSorted()).toEqual([
    'AuditEvent.resourceId',
    'BlockData.id',
    'DriveAccount.accountId',
    'JobActionDriver.id',
    'JobDriver.id',
    'LinkType.id',
    'MenuItem.id',
    'MenuTemplate.id',
    'Principal.id',
    'RefreshBreak.key',
    'TemplateDriver.id',
    'TemplateHandlerDescription.id',
    'ToolkitDriver.id',
    'ToolkitTemplate.id',
    'VisualTemplate.id',
  ]);
});

test('files, images and streams have a schema', () => {
  const schemasOf = (id: string) =>
    Object.fromEntries(Object.entries(find(id).responses['200']!.content!).map(([type, { schema }]) => [type, schema]));
  expect(schemasOf('followOperation')).toEqual({ 'text/event-stream': { type: 'string' } });
  expect(schemasOf('getDatasetVisualImage')).toEqual({ 'image/svg+xml': { type: 'string', format: 'binary' } });
  expect(schemasOf('exportDataset')).toMatchObject({
    'text/csv': { type: 'string' },
    'application/vnd.apache.parquet': { type: 'string', format: 'binary' },
  });
});

test('parameters are optional or required, but never null, and have their defaults and bounds', () => {
  const nullable = operations.flatMap(({ operationId, parameters }) =>
    parameters
      .filter(({ schema }) => 'anyOf' in schema || Array.isArray(schema['type']))
      .map(({ name }) => `${operationId} ${name}`),
  );
  expect(nullable).toEqual([]);
  expect(find('listDatasetRows').parameters).toContainEqual(
    expect.objectContaining({
      name: 'limit',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 10_000, default: 100 },
    }),
  );
  expect(find('loginToDomain').parameters).toEqual([
    expect.objectContaining({
      name: 'domain',
      in: 'path',
      required: true,
      schema: expect.objectContaining({ type: 'string' }),
    }),
  ]);
});

test('each body has an example, as have filters and sorting, and examples are valid', async () => {
  const api = await createApiDocument();
  const isFile = (schema: Schema) => api.resolve(schema)['properties'] === undefined;
  const missing = operations.filter(({ requestBody }) =>
    Object.values(requestBody?.content ?? {}).some(({ schema, example }) => example === undefined && !isFile(schema)),
  );
  expect(missing.map(({ operationId }) => operationId)).toEqual([]);
  const examples = operations.flatMap((operation) => [
    ...contentsOf(operation).map(([, { schema, example }]) => [operation.operationId, schema, example] as const),
    ...operation.parameters.map(
      ({ name, schema, example }) => [`${operation.operationId} ${name}`, schema, example] as const,
    ),
  ]);
  const shown = examples.filter(([, , example]) => example !== undefined);
  expect(shown.length).toBeGreaterThan(150);
  expect(shown.filter(([, schema, example]) => !api.accepts(schema!, example)).map(([place]) => place)).toEqual([]);
  expect(find('listDatasetRows').parameters).toContainEqual(
    expect.objectContaining({ name: 'filter', example: '{"country": "France", "amount": {"$gte": 100}}' }),
  );
});

test('the document has what rows say about it, and rows do not repeat what follows from their fields', () => {
  const idsOf = (found: Endpoint[]) => found.map(operationId);
  const isLost = (endpoint: Endpoint) => {
    const { example, responseExample, parameterExamples } = endpoint.row.options;
    const { requestBody, responses, parameters } = find(operationId(endpoint));
    const responded = Object.values(responses).flatMap(({ content }) => Object.values(content ?? {}));
    const hasExample = (contents: { example?: unknown }[]) => contents.some((one) => one.example !== undefined);
    return (
      (example !== undefined && !hasExample(Object.values(requestBody?.content ?? {}))) ||
      (responseExample !== undefined && !hasExample(responded)) ||
      (parameterExamples !== undefined && !parameters.some(({ name }) => name in parameterExamples))
    );
  };
  expect(idsOf(endpoints.filter(isLost))).toEqual([]);
  const isRepeated = (endpoint: Endpoint) => {
    const { id, summary, ...options } = endpoint.row.options;
    const derived = { ...endpoint, row: { ...endpoint.row, options } };
    return (
      id === operationId(derived) ||
      (summary !== undefined && isDeepStrictEqual(describeRow(endpoint), describeRow(derived)))
    );
  };
  expect(idsOf(endpoints.filter(isRepeated))).toEqual([]);
});

describe('the examples', () => {
  const exampleOf = (contents: Record<string, { example?: unknown }> = {}) =>
    Object.values(contents)[0]?.example as Record<string, any>;
  const received = (id: string) => exampleOf(find(id).responses['200']!.content);
  const sent = (id: string) => exampleOf(find(id).requestBody!.content);

  test('query tables of the demo shop', () => {
    const queries = operations.flatMap(({ requestBody }) => exampleOf(requestBody?.content)?.['query'] ?? []);
    const read = queries.flatMap((query: string) =>
      [...query.matchAll(/(?:from|join) (\S+)/g)].map(([, table]) => table!),
    );
    expect(new Set(read)).toEqual(new Set(['order_items', 'orders', 'customers']));
    const shop = readFileSync('src/adapters/demo-source/demo-shop.ts', 'utf8');
    for (const table of read) expect(shop).toMatch(new RegExp(`create table ${table}\\b`));
  });

  test('of an aggregation have the columns and the number of groups that the request asks for', () => {
    const { groupBy, measures, limit } = sent('aggregateDataset') as Record<string, any>;
    const { columns, rows, total, truncated } = received('aggregateDataset') as Record<string, any>;
    const names = [...groupBy.map(({ field }: any) => field), ...measures.map(({ as }: any) => as)];
    expect(columns.map(({ name }: any) => name)).toEqual(names);
    expect(rows.map((row: unknown[]) => row.length)).toEqual(rows.map(() => names.length));
    expect(total).toBe(rows.length);
    expect(truncated).toBe(total > limit);
  });

  test('of responses print principals as bare ids, and have the links of their own route', () => {
    expect(JSON.stringify(operations.map(({ responses }) => responses))).not.toContain('"user:');
    expect(received('listDatasetRows')['_links']).toHaveProperty('svc:export');
    const searched = received('searchDatasetRows')['_links'];
    expect(Object.keys(searched)).toEqual(['up', 'curies']);
  });
});
