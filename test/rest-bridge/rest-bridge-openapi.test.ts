import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { compileRows } from '../../rest-bridge/bridge.ts';
import { openApi } from '../../rest-bridge/openapi.ts';
import { createTestSchema } from './fixture-schema.ts';
import { permissionOf, rows, startTestBridge } from './fixture.ts';

/** A 32-bit integer, as GraphQL has it. */
const INT = { type: 'integer', minimum: -2147483648, maximum: 2147483647 };

const INFO = { title: 'Small', version: '1' };
/** Rows that run the field of an earlier row, after which that one is called. */
const REPEATED = ['/datasets/:id/_touch', '/datasets/:id/icon'];
const documented = rows.filter(({ path }) => !REPEATED.includes(path));

describe('the OpenAPI document', () => {
  const document = openApi(compileRows(createTestSchema(), documented, { permissionOf }), INFO);
  /** Returns the part of the document at a path. */
  const at = (...path: (string | number)[]) =>
    path.reduce<unknown>((inner, key) => (inner as Record<string, unknown>)[key], document);

  test('names operation, field and permission of every row', () => {
    expect(
      Object.values(at('paths') as Record<string, object>).flatMap((methods) => Object.keys(methods)),
    ).toHaveLength(documented.length);
    expect(at('paths', '/api/datasets/{id}', 'put')).toMatchObject({
      operationId: 'updateDataset',
      'x-graphql-operation': 'Mutation.updateDataset',
      'x-permission': 'dataset:write',
      tags: ['Datasets'],
    });
    expect(at('paths', '/api/words', 'get')).toMatchObject({ security: [], 'x-permission': 'public' });
  });

  test('an operation id of two rows is an error that names both', () => {
    expect(() => openApi(compileRows(createTestSchema(), rows, { permissionOf }), INFO)).toThrow(
      'POST /datasets/:id/_touch: has the operation id updateDataset of /datasets/:id',
    );
  });

  test('has REST names and values in parameters and bodies', () => {
    expect(at('paths', '/api/datasets', 'get', 'parameters')).toContainEqual({
      name: 'limit',
      in: 'query',
      required: false,
      schema: { ...INT, default: 30 },
    });
    expect(at('paths', '/api/echo', 'get', 'parameters')).toContainEqual({
      name: 'number',
      in: 'query',
      required: false,
      schema: INT,
    });
    expect(at('paths', '/api/datasets', 'post', 'requestBody')).toMatchObject({
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/DatasetInput' } } },
    });
    expect(at('components', 'schemas', 'DatasetInput')).toEqual({
      type: 'object',
      properties: { name: { type: 'string' }, description: { type: ['string', 'null'] } },
      required: ['name'],
      additionalProperties: false,
    });
    expect(at('components', 'schemas', 'Component')).toEqual({
      type: 'string',
      enum: ['bar-chart', 'table'],
      description: 'What a visual draws.',
    });
    expect(at('components', 'schemas', 'AccessLevel')).toEqual({ type: 'integer', enum: [1, 2] });
    const copyBody = at('paths', '/api/datasets/{id}/copy', 'post', 'requestBody', 'content', 'application/json');
    expect(copyBody).toEqual({
      schema: { $ref: '#/components/schemas/CopyDatasetBody' },
      example: { name: 'My order lines' },
    });
    expect(at('components', 'schemas', 'CopyDatasetBody')).toMatchObject({
      properties: { name: { type: 'string' }, progress: { type: ['string', 'null'] }, id: { readOnly: true } },
      required: ['name'],
      additionalProperties: false,
    });
  });

  test('a PUT lists the keys that may be sent back, apart from those that it takes', () => {
    const { schema } = at('paths', '/api/datasets/{id}', 'put', 'requestBody', 'content', 'application/json') as {
      schema: { $ref: string };
    };
    const { properties, additionalProperties } = at(...schema.$ref.slice(2).split('/')) as {
      properties: Record<string, { readOnly?: boolean }>;
      additionalProperties: boolean;
    };
    const isTaken = (name: string) => properties[name]!.readOnly !== true;
    expect(Object.keys(properties).filter(isTaken)).toEqual(['name', 'description']);
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(['_links', '_embedded', 'id', 'records']));
    expect(additionalProperties).toBe(false);
  });

  test('a response lists each status that it may have, and what is embedded', () => {
    expect(Object.keys(at('paths', '/api/datasets/{id}/shares/{principalId}', 'put', 'responses') as object)).toEqual([
      '200',
      '201',
      '4XX',
      '5XX',
    ]);
    expect(at('paths', '/api/datasets/{id}', 'get', 'responses')).toHaveProperty('304');
  });

  test('one path has one set of parameter names', () => {
    expect(at('paths', '/api/datasets/{id}/visuals', 'post', 'parameters')).toEqual([
      { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
    ]);
    expect(at('paths')).not.toHaveProperty('/api/datasets/{datasetId}/visuals');
  });

  test('describes the responses', () => {
    expect(at('components', 'schemas', 'Dataset', 'properties')).toMatchObject({
      name: { type: 'string', description: 'Display name.' },
      createdAt: { type: 'string', format: 'date-time' },
      _links: { properties: { self: { $ref: '#/components/schemas/HalLink' } } },
    });
    expect(at('components', 'schemas', 'Dataset', 'properties')).not.toHaveProperty('version');
    expect(
      at('components', 'schemas', 'DatasetCollection', 'properties', '_embedded', 'properties', 'svc:dataset'),
    ).toEqual({ type: 'array', items: { $ref: '#/components/schemas/Dataset' } });
    expect(at('components', 'schemas', 'DataCollection', 'properties', 'next')).toEqual({ type: ['string', 'null'] });
    const refreshSchema = (status: string) =>
      at('paths', '/api/datasets/{id}/_refresh', 'post', 'responses', status, 'content', 'application/json', 'schema');
    expect(refreshSchema('202')).toEqual({ $ref: '#/components/schemas/Operation' });
    expect(refreshSchema('200')).toEqual({ $ref: '#/components/schemas/RefreshResult' });
    expect(at('components', 'schemas', 'RefreshResult')).toMatchObject({
      type: 'object',
      required: ['id', 'records', 'success'],
    });
    expect(at('paths', '/api/datasets/{id}', 'delete', 'responses', '204')).toEqual({ description: 'Success.' });
  });

  test('every schema compiles, every reference resolves, and real responses are valid', async () => {
    const text = JSON.stringify(document);
    for (const [, pointer] of text.matchAll(/"\$ref":"#\/([^"]+)"/g))
      expect([pointer, at(...pointer!.split('/'))]).not.toContain(undefined);
    const ajv = new Ajv2020({ strict: false });
    (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
    ajv.addSchema({ $id: 'doc', components: at('components') as object });
    const validate = (name: string, body: unknown) => {
      const check = ajv.getSchema(`doc#/components/schemas/${name}`)!;
      return check(body) || check.errors;
    };
    const compiled = Object.keys(at('components', 'schemas') as object).filter(
      (name) => typeof ajv.getSchema(`doc#/components/schemas/${name}`) === 'function',
    );
    expect(compiled).toEqual(Object.keys(at('components', 'schemas') as object));
    const { app } = await startTestBridge();
    expect(validate('Dataset', (await app.inject('/api/datasets/1')).json())).toBe(true);
    expect(validate('DatasetCollection', (await app.inject('/api/datasets')).json())).toBe(true);
    expect(validate('VisualCollection', (await app.inject('/api/datasets/1/visuals')).json())).toBe(true);
    expect(validate('ErrorResponse', (await app.inject('/api/nowhere')).json())).toBe(true);
    await app.close();
  });
});
