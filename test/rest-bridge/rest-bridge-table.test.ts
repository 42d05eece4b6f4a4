import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import Fastify from 'fastify';
import { describe, expect, test } from 'vitest';
import { compileRows } from '../../rest-bridge/bridge.ts';
import { registerRest } from '../../rest-bridge/fastify.ts';
import { openApi } from '../../rest-bridge/openapi.ts';
import { collection, resource, value } from '../../rest-bridge/present.ts';
import { create, del, get, kind, permissions, plain, post, put, type Row } from '../../rest-bridge/route.ts';
import { routesList } from '../../rest-bridge/routes-list.ts';
import { datasetShape, permissionOf, rows, smallSchema, smallWorld, visualShape } from './fixture.ts';

const schema = smallSchema();
const compile = (...table: Row[]) => compileRows(schema, table, { permissionOf });
const slip = (...table: Row[]): string => {
  try {
    compile(...table);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('the table of rows', () => {
  test('a slip is one sentence that names the row', () => {
    expect(slip(get('/x', 'datsets', value()))).toBe(
      'GET /x: Cannot query field "datsets" on type "Query". Did you mean "datasets" or "dataset"?',
    );
    expect(slip(get('/x/:id', 'dataset', value('id nmae')))).toBe(
      'GET /x/:id: Cannot query field "nmae" on type "Dataset". Did you mean "name"?',
    );
    expect(slip(get('/x/:id', 'dataset.filters', value()))).toMatch(
      /^GET \/x\/:id: Cannot query field "filters" on type "Dataset"/,
    );
    expect(slip(get('/x', 'dataset.visuals', value('id')))).toBe(
      'GET /x: Field "dataset" argument "id" of type "ID!" is required, but it was not provided.',
    );
    expect(slip(get('/x/:id/:what', 'dataset', value('id')))).toBe(
      'GET /x/:id/:what: the path parameter "what" fits no argument of dataset',
    );
    expect(slip(post('/x/:id/:visualId', 'shareDataset', value('created')))).toBe('');
    expect(slip(put('/x/:principalId/:other', 'shareDataset', value('created')))).toBe(
      'PUT /x/:principalId/:other: the path parameters come in another order than the arguments of shareDataset: name them alike',
    );
    expect(slip(get('/x', null))).toBe('GET /x: names neither a GraphQL field nor a handler');
    expect(slip(get('/x/:a', 'dataset', value('id')), get('/x/:b', 'dataset', value('id')))).toBe(
      'GET /x/:b: there are two rows for this route',
    );
  });

  test('all slips are told at once, before anything is mounted', () => {
    expect(
      slip(get('/a', 'words', value('x')), get('/b', 'none', value()), get('/c', 'words', value())).split('\n'),
    ).toHaveLength(2);
    expect(() =>
      registerRest(Fastify(), { schema, rows: [get('/a', 'none', value())], permissionOf, contextFor: () => ({}) }),
    ).toThrow('GET /a: Cannot query field "none"');
  });

  test('sofa-api’s own /webhook can never be reached', () => {
    expect(() =>
      registerRest(Fastify(), {
        schema,
        rows: [plain('GET', '/webhook', 'words')],
        permissionOf,
        contextFor: () => ({}),
      }),
    ).toThrow('sofa-api keeps /webhook for itself');
  });

  test('path parameters find their arguments by segment, by name, and in order', () => {
    const bound = (row: Row) =>
      Object.fromEntries([...compile(row)[0]!.plan!.bound].map(([parameter, slot]) => [parameter, slot.variable]));
    expect(bound(get('/datasets/:datasetId/visuals/:id', 'dataset.visual', visualShape))).toEqual({
      datasetId: 'dataset_id',
      id: 'id',
    });
    expect(bound(get('/datasets/:id/visuals/:visual', 'dataset.visual', visualShape))).toEqual({
      id: 'dataset_id',
      visual: 'id',
    });
    expect(bound(get('/datasets/:id/shares/:who', 'dataset.share', value('created')))).toEqual({
      id: 'dataset_id',
      who: 'principalId',
    });
    expect(
      bound(
        put('/datasets/:set/shares/:who', 'shareDataset', value('created'), {
          rename: { set: 'id', who: 'principalId' },
        }),
      ),
    ).toEqual({ set: 'id', who: 'principalId' });
  });

  test('a kind is one line', () => {
    const line = ({ method, path, field }: Row) => `${method} ${path} ${field}`;
    expect(kind('usage-profiles', 'usage-profile', datasetShape, { aspects: [permissions] }).map(line)).toEqual([
      'GET /usage-profiles usageProfiles',
      'POST /usage-profiles createUsageProfile',
      'GET /usage-profiles/:id usageProfile',
      'PUT /usage-profiles/:id updateUsageProfile',
      'DELETE /usage-profiles/:id deleteUsageProfile',
      'GET /usage-profiles/:id/permissions usageProfile.permissions',
    ]);
    expect(
      kind('queries', 'query', datasetShape, { names: { one: 'savedQuery', many: 'savedQueries' } }).map(line),
    ).toEqual(
      expect.arrayContaining([
        'GET /queries/:id/owner savedQuery',
        'PUT /queries/:id/owner setSavedQueryOwner',
        'GET /queries/:id/shares savedQuery.shares',
        'PUT /queries/:id/shares/:principalId shareSavedQuery',
      ]),
    );
    const queries = kind('queries', 'query', datasetShape, {
      names: { one: 'savedQuery', many: 'savedQueries' },
      without: ['delete', 'list'],
      rows: { create: { status: 200 } },
      aspects: [permissions, ({ path, one }) => [get(`${path}/:id/owner`, `${one}.owner`, value('id'))]],
    });
    expect(queries.map(line)).toEqual([
      'POST /queries createSavedQuery',
      'GET /queries/:id savedQuery',
      'PUT /queries/:id updateSavedQuery',
      'GET /queries/:id/permissions savedQuery.permissions',
      'GET /queries/:id/owner savedQuery.owner',
    ]);
    expect(queries[0]!.options.status).toBe(200);
  });

  test('links may read fields that are not selected, and a list may be presented with less', () => {
    const bare = resource<{ slug: string }>('id', ({ slug }) => ({ self: `/datasets/${slug}` }));
    const [list, one] = compile(get('/a', 'datasets', collection('dataset', bare)), get('/a/:id', 'dataset', bare));
    expect(list!.presentation!.selection).toBe('items { id slug } start count total');
    expect(one!.presentation!.selection).toBe('id slug version');
  });

  test('routes.txt says field and permission of every route, adapters included', () => {
    const text = routesList(compile(...rows));
    expect(text.split('\n')).toHaveLength(rows.length + 2);
    expect(text).toContain('\nGET /api/datasets/{id}/visuals -> Query.dataset.visuals, dataset:read\n');
    expect(text).toContain('\nPUT /api/datasets/{id} -> Mutation.updateDataset, dataset:write\n');
    expect(text).toContain('\nGET /api/files/{path} -> none, public\n');
    expect(text).toContain('\nGET /api/ticks -> Subscription.ticks, authenticated\n');
  });
});

describe('the OpenAPI document', () => {
  const document = openApi(compile(...rows), { title: 'Small', version: '1' });
  const at = (...path: (string | number)[]) =>
    path.reduce<unknown>((inner, key) => (inner as Record<string, unknown>)[key], document);

  test('names operation, field and permission of every row', () => {
    expect(
      Object.values(at('paths') as Record<string, object>).flatMap((methods) => Object.keys(methods)),
    ).toHaveLength(rows.length);
    expect(at('paths', '/api/datasets/{id}', 'put')).toMatchObject({
      operationId: 'put_datasets_id',
      'x-graphql-operation': 'Mutation.updateDataset',
      'x-permission': 'dataset:write',
      tags: ['datasets'],
    });
    expect(at('paths', '/api/words', 'get')).toMatchObject({ security: [], 'x-permission': 'public' });
  });

  test('types parameters and bodies in REST’s words', () => {
    expect(at('paths', '/api/datasets', 'get', 'parameters')).toContainEqual({
      name: 'limit',
      in: 'query',
      required: false,
      schema: { type: ['integer', 'null'], default: 30 },
    });
    expect(at('paths', '/api/echo', 'get', 'parameters')).toContainEqual({
      name: 'number',
      in: 'query',
      required: false,
      schema: { type: ['integer', 'null'] },
    });
    expect(at('paths', '/api/datasets', 'post', 'requestBody')).toEqual({
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/DatasetInput' } } },
    });
    expect(at('components', 'schemas', 'DatasetInput')).toEqual({
      type: 'object',
      properties: { name: { type: 'string' }, description: { type: ['string', 'null'] } },
      required: ['name'],
    });
    expect(at('components', 'schemas', 'Component')).toEqual({
      type: 'string',
      enum: ['bar-chart', 'table'],
      description: 'What a visual draws.',
    });
    expect(at('components', 'schemas', 'AccessLevel')).toEqual({ enum: [1, 2] });
    expect(
      at(
        'paths',
        '/api/datasets/{id}/copy',
        'post',
        'requestBody',
        'content',
        'application/json',
        'schema',
        'allOf',
        1,
        'properties',
      ),
    ).toEqual({ progress: { type: ['string', 'null'] } });
  });

  test('one path has one set of parameter names', () => {
    expect(at('paths', '/api/datasets/{id}/visuals', 'post', 'parameters')).toEqual([
      { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
    ]);
    expect(at('paths')).not.toHaveProperty('/api/datasets/{datasetId}/visuals');
  });

  test('describes what is answered', () => {
    expect(at('components', 'schemas', 'Dataset', 'properties')).toMatchObject({
      name: { type: 'string', description: 'What people call it.' },
      createdAt: { type: 'string', format: 'date-time' },
      _links: { properties: { self: { $ref: '#/components/schemas/HalLink' } } },
    });
    expect(at('components', 'schemas', 'Dataset', 'properties')).not.toHaveProperty('version');
    expect(
      at('components', 'schemas', 'DatasetCollection', 'properties', '_embedded', 'properties', 'svc:dataset'),
    ).toEqual({ type: 'array', items: { $ref: '#/components/schemas/Dataset' } });
    expect(at('components', 'schemas', 'DataCollection', 'properties', 'next')).toEqual({ type: ['string', 'null'] });
    expect(
      at('paths', '/api/datasets/{id}/_refresh', 'post', 'responses', '202', 'content', 'application/json', 'schema'),
    ).toEqual({ $ref: '#/components/schemas/Operation' });
    expect(
      at('paths', '/api/datasets/{id}/_refresh', 'post', 'responses', '200', 'content', 'application/json', 'schema'),
    ).toMatchObject({ type: ['object', 'null'], required: ['id', 'records', 'success'] });
    expect(at('paths', '/api/datasets/{id}', 'delete', 'responses', '204')).toEqual({ description: 'Success' });
  });

  test('every schema compiles, every reference leads somewhere, and real answers fit', async () => {
    const text = JSON.stringify(document);
    for (const [, pointer] of text.matchAll(/"\$ref":"#\/([^"]+)"/g))
      expect([pointer, at(...pointer!.split('/'))]).not.toContain(undefined);
    const ajv = new Ajv2020({ strict: false });
    (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
    ajv.addSchema({ $id: 'doc', components: at('components') as object });
    const fits = (pointer: string, answer: unknown) => {
      const check = ajv.getSchema(`doc#/components/schemas/${pointer}`)!;
      return check(answer) || check.errors;
    };
    const compiled = Object.keys(at('components', 'schemas') as object).filter(
      (name) => typeof ajv.getSchema(`doc#/components/schemas/${name}`) === 'function',
    );
    expect(compiled).toEqual(Object.keys(at('components', 'schemas') as object));
    const { app } = await smallWorld();
    expect(fits('Dataset', (await app.inject('/api/datasets/1')).json())).toBe(true);
    expect(fits('DatasetCollection', (await app.inject('/api/datasets')).json())).toBe(true);
    expect(fits('VisualCollection', (await app.inject('/api/datasets/1/visuals')).json())).toBe(true);
    expect(fits('ErrorAnswer', (await app.inject('/api/nowhere')).json())).toBe(true);
    await app.close();
  });
});

test('create and delete are presets of their verbs', () => {
  expect(create('/a', 'x').options.status).toBe(201);
  expect(del('/a', 'x').presenter).toBeUndefined();
});
