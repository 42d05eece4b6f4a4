import { readFileSync, rmSync } from 'node:fs';
import { buildSchema, isScalarType, isSpecifiedScalarType } from 'graphql';
import { beforeAll, describe, expect } from 'vitest';
import config from '../../examples/graphql/codegen.ts';
import { runExample } from '../support/run-example.ts';
import { PASSWORD } from '../support/service.ts';
import { test } from '../support/shop-fixture.ts';

const GENERATED = 'examples/graphql/generated';

/** Runs a script of examples/package.json. */
const runScript = (name: string, variables: Record<string, string> = {}) =>
  runExample(['npm', 'run', '--silent', name], variables);

describe('the GraphQL example', () => {
  beforeAll(() => rmSync(GENERATED, { recursive: true, force: true }));

  test('has a type for every scalar of the schema', () => {
    const schema = buildSchema(readFileSync('schema/schema.graphql', 'utf8'));
    const scalars = Object.values(schema.getTypeMap()).filter(
      (type) => isScalarType(type) && !isSpecifiedScalarType(type),
    );
    const { config: options } = config.generates['graphql/generated/'] as { config: Record<string, unknown> };
    expect(options).toMatchObject({ strictScalars: true });
    const known = Object.keys(options['scalars'] as object).filter((name) => name !== 'ID');
    expect(known).toEqual(scalars.map(({ name }) => name).toSorted());
  });

  test('generates its types from the file and from a running service alike, and fits them', async ({ service }) => {
    expect(await runScript('graphql:check')).toMatchObject({ code: 0, output: '' });
    const types = readFileSync(`${GENERATED}/graphql.ts`, 'utf8');
    expect(types).toMatch(/export type DatasetsQuery = /);
    expect(types).not.toMatch(/\bany\b(?=[;,)|>\]])/);
    const SCHEMA = `${service.url}/graphql/schema.graphql`;
    expect(await runScript('graphql:generate', { SCHEMA })).toMatchObject({ code: 0, output: '' });
    expect(readFileSync(`${GENERATED}/graphql.ts`, 'utf8')).toBe(types);
  });

  test('lists, refreshes with progress, and shows rows and errors', async ({ service, ann, shop, source }) => {
    const create = (name: string, query: string) =>
      ann.creates('/datasets', { name, datasourceId: source.id, query, refresh: true });
    await create('Amounts', 'select id, region, amount::float8 as amount from orders where id >= 18 order by id');
    await create('Orders', 'select id from orders');
    await create('Regions', 'select distinct region from orders');
    await shop.sql(`insert into orders (id, region, amount, ordered_on) values (21, 'EU', 210, '2026-01-22')`);

    const { code, output, errors } = await runScript('graphql', {
      DWS_URL: service.url,
      DWS_USERNAME: 'ann',
      DWS_PASSWORD: PASSWORD,
    });
    expect({ code, errors: errors.replace(/^npm warn.*\n/gm, '') }).toEqual({ code: 0, errors: '' });
    const lines = output.trimEnd().split('\n');
    const progress = lines.filter((line) => line.startsWith('Refresh: '));
    for (const line of progress.slice(0, -1))
      expect(line).toMatch(/^Refresh: (QUEUED|RUNNING)( \d+ %)?( Reading rows| Building the index| Publishing)?$/);
    expect(progress.at(-1)).toBe('Refresh: SUCCEEDED 100 %');
    expect(lines.filter((line) => !line.startsWith('Refresh: '))).toEqual([
      '2 of 3 datasets',
      '3 of 3 datasets',
      '  Amounts: 3 rows',
      '  Orders: 20 rows',
      '  Regions: 4 rows',
      'Amounts: 4 rows of id, region, amount',
      '  18, APAC, 180',
      '  19, , 190',
      '  20, EU, 200',
      'Found besides the missing one: Amounts',
      'Not found: second: There is no dataset no-such-dataset',
      'Invalid: name: name must not be empty',
      'Invalid: slug: slug must match ^[a-z0-9][a-z0-9-]*$',
      'Forbidden: This requires a session: log in instead of using a token',
    ]);
  });

  test('reports a wrong password and a service that is not there', async ({ service, ann }) => {
    const refused = await runScript('graphql', {
      DWS_URL: service.url,
      DWS_USERNAME: ann.username,
      DWS_PASSWORD: 'wrong',
    });
    expect(refused).toMatchObject({ code: 1, output: '' });
    expect(refused.errors).toMatch(/^Invalid username or password$/m);
    const unreachable = await runScript('graphql', { DWS_URL: 'http://127.0.0.1:9', DWS_PASSWORD: 'any' });
    expect(unreachable.errors).toMatch(/^The service cannot be reached: /m);
  });
});
