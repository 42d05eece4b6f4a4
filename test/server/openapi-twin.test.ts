import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { openApi32 } from '../../rest-bridge/openapi.ts';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { endpointsOf, openapiOf } from '../../src/server/graphql/sdl.ts';

interface Operation {
  operationId: string;
  parameters: { in: string; name: string }[];
  requestBody?: object;
  responses: Record<string, { links?: Record<string, { parameters: object }> }>;
}
interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
}

const endpoints = endpointsOf(await createSchema());
const document = JSON.parse(JSON.stringify(openapiOf(endpoints))) as Document;
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
const find = (id: string): Operation => operations.find(({ operationId }) => operationId === id)!;

describe('links of creations', () => {
  test('lead from a new record to the operation that reads it', () => {
    const links = operations.flatMap(({ operationId: id, responses }) => {
      const found = responses['201']?.links;
      return found ? [[id, ...Object.entries(found).flatMap(([to, { parameters }]) => [to, parameters])] as const] : [];
    });
    expect(links.length).toBeGreaterThan(20);
    expect(links).toContainEqual(['createTag', 'getTag', { id: '$response.body#/id' }]);
    for (const [, to, parameters] of links) {
      const names = find(to as string).parameters.filter((one) => one.in === 'path');
      expect([to, Object.keys(parameters as object)]).toEqual([to, names.map(({ name }) => name)]);
    }
  });
});

describe('the OpenAPI 3.2 document', () => {
  const twin = openApi32(document as object as Record<string, unknown>, endpoints) as unknown as Document;

  test('has the operations with QUERY, and is the same otherwise', () => {
    const { query, ...rest } = twin.paths['/api/datasets/{id}/data']!;
    expect(query).toMatchObject({
      operationId: 'searchDatasetRowsByQuery',
      requestBody: find('searchDatasetRows').requestBody,
      responses: { 200: { headers: { ETag: {} } }, 304: {} },
    });
    const paths = { ...twin.paths, '/api/datasets/{id}/data': rest };
    expect({ ...twin, paths }).toEqual({ ...document, openapi: '3.2.0' });
  });

  test('has no problem that Redocly finds', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'dws-openapi-')), 'openapi.json');
    writeFileSync(file, JSON.stringify(twin));
    const cli = 'node_modules/@redocly/cli/bin/cli.js';
    const linted = await promisify(execFile)(process.execPath, [cli, 'lint', '--config', 'redocly.yaml', file]).then(
      () => '',
      ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
    );
    expect(linted).toBe('');
  });
});
