import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execute, parse } from 'graphql';
import { beforeAll, expect, test } from 'vitest';
import { discoverEntities } from '../../src/adapters/database/entity-metadata.ts';
import { RowReader } from '../../src/adapters/database/row-reader.ts';
import type { Query, Statement } from '../../src/core/database.ts';
import type { Viewer } from '../../src/core/viewer.ts';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { registerModels } from '../../src/services/assembly/model-registry.ts';
import { modelFor } from '../../src/services/resource/define-model.ts';
import { normalizeSql } from '../support/normalize-sql.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../docs/read-path.md'), 'utf8');

const ann: Viewer = {
  userId: 'ann',
  username: 'ann',
  tenantId: 'acme-id',
  tenant: 'acme',
  superuser: false,
  principals: ['user:ann', 'team:sales'],
  teamRoles: {},
  permissions: new Set(),
  authMethod: 'session',
  scopes: new Set(['read']),
  credentialId: 'session',
  expiresAt: null,
};

/** The code block of a language below a heading. */
function codeBlock(heading: string, language: string): string {
  const section = DOCUMENT.split(/^## /m).find((part) => part.startsWith(heading));
  const block = section?.match(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'm'));
  if (!block) throw new Error(`docs/read-path.md has no ${language} below "${heading}"`);
  return block[1]!;
}

/** Runs a query on an empty database. Returns the statement of its page. */
async function pageStatementOf(source: string): Promise<Statement> {
  const statements: Statement[] = [];
  const query = ((statement: Statement) => {
    statements.push(statement);
    return Promise.resolve(statement.text.endsWith('as total') ? [{ total: 0 }] : []);
  }) as Query;
  const read = new RowReader(query, ann, modelFor);
  const contextValue = { viewer: ann, request: {}, query, read };
  const { errors } = await execute({ schema: await createSchema(), document: parse(source), contextValue });
  expect(errors).toBeUndefined();
  return statements[0]!;
}

beforeAll(() => {
  registerModels(discoverEntities());
});

test('the SQL in docs/read-path.md is what its query becomes', async () => {
  const statement = await pageStatementOf(codeBlock('One query', 'graphql'));
  expect(normalizeSql(statement.text)).toBe(normalizeSql(codeBlock('Its SQL', 'sql')));
});

test('the values in docs/read-path.md are the values of its statement', async () => {
  const statement = await pageStatementOf(codeBlock('One query', 'graphql'));
  expect(statement.values).toEqual(JSON.parse(codeBlock('Its SQL', 'json')));
});
