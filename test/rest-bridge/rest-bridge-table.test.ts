import Fastify from 'fastify';
import { describe, expect, test } from 'vitest';
import { compileRows } from '../../rest-bridge/bridge.ts';
import { registerRest } from '../../rest-bridge/fastify.ts';
import { kind, permissions } from '../../rest-bridge/kind.ts';
import { collection, resource, value } from '../../rest-bridge/present.ts';
import { create, del, get, plain, post, put, type Row } from '../../rest-bridge/route.ts';
import { routesList } from '../../rest-bridge/routes-list.ts';
import { createTestSchema } from './fixture-schema.ts';
import { datasetShape, permissionOf, rows, visualShape } from './fixture.ts';

const schema = createTestSchema();
const compile = (...table: Row[]) => compileRows(schema, table, { permissionOf });
const register = (...table: Row[]) =>
  registerRest(Fastify(), { schema, endpoints: compile(...table), contextFor: () => ({}) });

/** Returns the message of the error that compiling these rows throws; empty when it throws none. */
function compileError(...table: Row[]): string {
  try {
    compile(...table);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('the table of rows', () => {
  test('the error of an invalid row is one line that names the row', () => {
    expect(compileError(get('/x', 'datsets', value()))).toBe(
      'GET /x: Cannot query field "datsets" on type "Query". Did you mean "datasets" or "dataset"?',
    );
    expect(compileError(get('/x/:id', 'dataset', value('id nmae')))).toBe(
      'GET /x/:id: Cannot query field "nmae" on type "Dataset". Did you mean "name"?',
    );
    expect(compileError(get('/x/:id', 'dataset.filters', value()))).toMatch(
      /^GET \/x\/:id: Cannot query field "filters" on type "Dataset"/,
    );
    expect(compileError(get('/x', 'dataset.visuals', value('id')))).toBe(
      'GET /x: Field "dataset" argument "id" of type "ID!" is required, but it was not provided.',
    );
    expect(compileError(get('/x/:id/:what', 'dataset', value('id')))).toBe(
      'GET /x/:id/:what: the path parameter "what" fits no argument of dataset',
    );
    expect(compileError(post('/x/:id/:visualId', 'shareDataset', value('created')))).toBe('');
    expect(compileError(put('/x/:principalId/:other', 'shareDataset', value('created')))).toBe(
      'PUT /x/:principalId/:other: ' +
        'the path parameters come in another order than the arguments of shareDataset: name them alike',
    );
    expect(compileError(get('/x', null))).toBe('GET /x: names neither a GraphQL field nor a handler');
    expect(compileError(get('/x/:a', 'dataset', value('id')), get('/x/:b', 'dataset', value('id')))).toBe(
      'GET /x/:b: there are two rows for this route',
    );
  });

  test('all invalid rows are reported together, before any route is registered', () => {
    expect(
      compileError(get('/a', 'words', value('x')), get('/b', 'none', value()), get('/c', 'words', value())).split('\n'),
    ).toHaveLength(2);
    expect(() => register(get('/a', 'none', value()))).toThrow('GET /a: Cannot query field "none"');
  });

  test.each<[Row, string]>([
    [plain('GET', '/x/:id/permissions', 'dataset.permissions'), 'its field is not a root field'],
    [plain('GET', '/x', 'fails'), 'its field has arguments other than the parameters of the path'],
    [plain('GET', '/x', 'nothing'), 'its field may be null'],
    [plain('POST', '/x/:id', 'startOperation'), 'its type has enums, whose values differ in REST'],
    [plain('POST', '/x/:id', 'updateDataset'), 'Dataset.visuals has arguments: select fields by their names'],
    [plain('GET', '/x', 'root'), 'Folder contains itself: select its fields by their names'],
  ])('a plain row that sofa-api cannot serve is an error: %j', (row, problem) => {
    expect(() => register(row)).toThrow(problem);
  });

  test('path parameters are bound by segment, by name, and in order', () => {
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

  test('kind() returns the rows of a kind', () => {
    const toLine = ({ method, path, field }: Row) => `${method} ${path} ${field}`;
    expect(kind('usage-profiles', 'usage-profile', datasetShape, { aspects: [permissions] }).map(toLine)).toEqual([
      'GET /usage-profiles usageProfiles',
      'POST /usage-profiles createUsageProfile',
      'GET /usage-profiles/:id usageProfile',
      'PUT /usage-profiles/:id updateUsageProfile',
      'DELETE /usage-profiles/:id deleteUsageProfile',
      'GET /usage-profiles/:id/permissions usageProfile.permissions',
    ]);
    expect(
      kind('queries', 'query', datasetShape, { names: { field: 'savedQuery', listField: 'savedQueries' } }).map(toLine),
    ).toEqual(
      expect.arrayContaining([
        'GET /queries/:id/owner savedQuery',
        'PUT /queries/:id/owner setSavedQueryOwner',
        'GET /queries/:id/shares savedQuery.shares',
        'PUT /queries/:id/shares/:principalId shareSavedQuery',
      ]),
    );
    const queries = kind('queries', 'query', datasetShape, {
      names: { field: 'savedQuery', listField: 'savedQueries' },
      without: ['delete', 'list'],
      rows: { create: { status: 200 } },
      aspects: [permissions, ({ path, field }) => [get(`${path}/:id/owner`, `${field}.owner`, value('id'))]],
    });
    expect(queries.map(toLine)).toEqual([
      'POST /queries createSavedQuery',
      'GET /queries/:id savedQuery',
      'PUT /queries/:id updateSavedQuery',
      'GET /queries/:id/permissions savedQuery.permissions',
      'GET /queries/:id/owner savedQuery.owner',
    ]);
    expect(queries[0]!.options.status).toBe(200);
  });

  test('links may read fields that are not selected, and are then selected', () => {
    const minimal = resource<{ slug: string }>('id', ({ slug }) => ({ self: `/datasets/${slug}` }));
    const [list, one] = compile(
      get('/a', 'datasets', collection('dataset', minimal)),
      get('/a/:id', 'dataset', minimal),
    );
    expect(list!.presentation!.selection).toBe('items { id slug } start count total');
    expect(one!.presentation!.selection).toBe('id slug version');
  });

  test('routes.txt lists field and permission of every route, including rows without a field', () => {
    const text = routesList(compile(...rows));
    expect(text.split('\n')).toHaveLength(rows.length + 2);
    expect(text).toContain('\nGET /api/datasets/{id}/visuals -> Query.dataset.visuals, dataset:read\n');
    expect(text).toContain('\nPUT /api/datasets/{id} -> Mutation.updateDataset, dataset:write\n');
    expect(text).toContain('\nGET /api/files/{path} -> none, public\n');
    expect(text).toContain('\nGET /api/ticks -> Subscription.ticks, authenticated\n');
  });
});

test('create has the status 201, del has no presenter', () => {
  expect(create('/a', 'x').options.status).toBe(201);
  expect(del('/a', 'x').presenter).toBeUndefined();
});
