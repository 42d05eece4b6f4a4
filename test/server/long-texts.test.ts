import { DatabaseSync } from 'node:sqlite';
import { getOperationAST, parse } from 'graphql';
import type pg from 'pg';
import { describe, expect } from 'vitest';
import { valueReader } from '../../src/adapters/app-workspace/row-values.ts';
import { prepareQuery } from '../../src/adapters/drivers/sqlite/sqlite-statement.ts';
import { cleanName } from '../../src/adapters/drives/drive-item.ts';
import { toUsername } from '../../src/core/account-rules.ts';
import { fileFromText } from '../../src/core/data-url.ts';
import { survivesAsNumber } from '../../src/core/exact-number.ts';
import type { Field } from '../../src/core/fields.ts';
import { checkFilePath, storedPathOf } from '../../src/core/file-path.ts';
import { cleanFilename, truncateFilename } from '../../src/core/files.ts';
import { wordsOf } from '../../src/core/search-words.ts';
import { slugOf } from '../../src/core/slug.ts';
import { readableName } from '../../src/core/visual/plan.ts';
import { checkValues } from '../../src/server/graphql/variables.ts';
import { keyOf } from '../../src/services/library/sync-stage.ts';
import { visibleBlock } from '../../src/services/report/block-visibility.ts';
import { parseToolkitConfig } from '../../src/services/toolkit/parse-config.ts';
import { createApp } from '../app/app-fixture.ts';
import { expectBody, expectError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { createForm, DATASETS } from '../support/upload-form.ts';
import { createTemplate } from '../template/template-fixture.ts';

/** In time that grows with the square of the length, a megabyte takes minutes: a test then ends at its time limit. */
const LENGTH = 1_000_000;

describe('the time for a text of a caller grows with its length, not with its square:', () => {
  test('a literal that does not fit its type', async ({ ann }) => {
    for (const literal of [JSON.stringify('a'.repeat(LENGTH)), 'A'.repeat(LENGTH)]) {
      const query = `{ auditEvents(outcome: ${literal}) { items { id } } }`;
      const { status, errors } = await ann.gql(query);
      expect({ status, code: errors[0].extensions.code }).toEqual({ status: 400, code: expect.any(String) });
    }
  });

  test('the configuration of a toolkit', () => {
    const texts = ['``` x' + ' '.repeat(LENGTH) + 'x', '{"' + '\\"'.repeat(LENGTH / 2)];
    for (const text of texts) expect(() => parseToolkitConfig(text)).toThrow('must have at most 64 KiB');
    for (const text of ['{"' + '\\"'.repeat(32_000), '{' + '/*'.repeat(32_000)])
      expect(() => parseToolkitConfig(text)).toThrow('is not valid JSON');
    expect(parseToolkitConfig('```json \n{"url": "https://example.com/mcp"} // here\n ```').servers).toHaveLength(1);
  });

  test('a number with many zeros inside', () => {
    expect(survivesAsNumber(`1${'0'.repeat(LENGTH)}1`)).toBe(false);
  });

  test('a document that is used often, whose fragments multiply', async ({ ann }) => {
    const fragments = Array.from(
      { length: 40 },
      (_, i) => `fragment F${i} on User { ...F${i + 1} ...F${i + 1} ...F${i + 1} }`,
    );
    const query = `{ me { ...F0 } } ${fragments.join(' ')} fragment F40 on User { username }`;
    for (let use = 0; use < 25; use++) expect(await ann.data(query)).toEqual({ me: { username: 'ann' } });
  });

  test('variables that the operation does not declare', async ({ ann }) => {
    const document = parse('query ($used: String) { __typename }');
    const operation = getOperationAST(document)!;
    const unread = {
      get unused(): never {
        throw new Error('was read');
      },
    };
    expect(() => checkValues(document, operation, unread)).not.toThrow();
    expect(() => checkValues(document, operation, { used: '\0' })).toThrow('must not contain the character U+0000');
    const unused = Array.from({ length: 200_000 }, () => '\0');
    expect(await ann.data('{ __typename }', { unused })).toEqual({ __typename: 'Query' });
  });

  test('the blocks of a report, which name many fields', () => {
    let reads = 0;
    const fields = Array.from({ length: 1000 }, (_, i) => ({
      label: '',
      type: 'string' as const,
      get name() {
        reads += 1;
        return `f${i}`;
      },
    })) as unknown as Field[];
    const block = {
      type: 'table',
      fields: ['f1', 'hidden', 'f999'],
      xField: 'hidden',
      sort: '-f998,m',
      filter: { f7: 'x' },
      measures: [{ fn: 'sum', field: 'f2', as: 'm' }],
    };
    const shown = Array.from({ length: 3000 }, () => visibleBlock(block, fields));
    expect(new Set(shown.map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify({ ...block, fields: ['f1', 'f999'], xField: null })]),
    );
    expect(visibleBlock({ sort: 'hidden' }, fields)).toEqual({ sort: null });
    // A similar name would be looked for in all fields.
    const unknown = Array.from({ length: 3000 }, (_, i) =>
      visibleBlock({ filter: { [`${i}${'x'.repeat(96)}`]: 1 } }, fields),
    );
    expect(new Set(unknown.map(({ filter }) => JSON.stringify(filter)))).toEqual(new Set(['{}']));
    expect(reads).toBeLessThan(10_000 + 3000 * 10);
  });
});

describe('a text of a caller with many repetitions is read, or refused with its reason:', () => {
  test('the name of a field', () => {
    const name = `a${'Aa'.repeat(100)}!`;
    expect(readableName(name)).toBe(name);
    expect(readableName(`order${'-a'.repeat(5 * LENGTH)}`)).toBe(`Order${' a'.repeat(5 * LENGTH)}`);
  });

  test('a data URL', () => {
    expect(fileFromText(`data:text/plain${';'.repeat(9 * LENGTH)},ab`)!.minSize).toBe(2);
    expect(fileFromText(`${'\t'.repeat(9 * LENGTH)}!`)).toBeUndefined();
  });

  test('an array of a statement of an app', () => {
    const read = valueReader([{ name: 'a', dataTypeID: 1009 } as pg.FieldDef]);
    const text = '\\'.repeat(8 * LENGTH);
    expect((read([`{"${text}",b}`])['a'] as string[]).map(({ length }) => length)).toEqual([4 * LENGTH, 1]);
  });

  test('a query of SQLite', () => {
    const query = { text: '['.repeat(199_000), parameters: [], timeout: 1000 };
    expect(() => prepareQuery(new DatabaseSync(':memory:'), query)).toThrow('unrecognized token');
  });
});

describe('combining marks in a row, which the engine sorts in time that grows with the square of their number,', () => {
  const marks = '\u0301\u0316'.repeat(LENGTH / 2);

  test('are read in names', () => {
    const long = `a${marks}.pdf`;
    expect(slugOf(`a${marks}b`)).toBe('ab');
    expect(toUsername(`a${marks}b`)).toBe('ab');
    expect(cleanFilename(long)).toMatch(/^á\p{M}{250}\.pdf$/u);
    expect(truncateFilename(cleanName(long))).toBe(cleanFilename(long));
    expect(keyOf({ path: long, foldedPath: null })).toMatch(/^á\p{M}{1249}$/u);
    expect(storedPathOf(long)).toBeUndefined();
    expect(() => checkFilePath(long, 'path')).toThrow('path must have at most 255 characters');
    // 255 characters in NFC.
    const decomposed = 'ǖ'.normalize('NFD').repeat(255);
    expect(storedPathOf(decomposed)).toBe('ǖ'.repeat(255));
    expect(checkFilePath(decomposed, 'path')).toBe('ǖ'.repeat(255));
  });

  test('are not looked for in files of apps and templates', async ({ admin }) => {
    const path = `a${marks}`;
    const app = await createApp(admin, 'Marks');
    const { id: template } = await createTemplate(admin);
    for (const [query, id, code] of [
      ['query ($id: ID!, $path: String!) { app(id: $id) { file(path: $path) { id } } }', app, 'NOT_FOUND'],
      ['mutation ($id: ID!, $path: String!) { deleteAppFile(appId: $id, path: $path) }', app, 'BAD_USER_INPUT'],
      ['query ($id: ID!, $path: ID!) { template(id: $id) { file(id: $path) { id } } }', template, 'NOT_FOUND'],
      ['mutation ($id: ID!, $path: ID!) { deleteTemplateFile(templateId: $id, id: $path) }', template, 'NOT_FOUND'],
    ] as const) {
      const { errors } = await admin.gql(query, { id, path });
      expect({ query, code: errors[0].extensions.code }).toEqual({ query, code });
    }
  });

  test('are found in rows, and refused in q', async ({ ann }) => {
    const csv = `id,word\n1,zo${marks}e\n2,other\n`;
    const { id } = await ann.creates(DATASETS, createForm(csv, `a${marks}.csv`));
    await expect.poll(async () => (await ann.get(`/datasets/${id}`)).body.records).toBe(2);
    const found = { total: 1, _embedded: { 'svc:record': [{ id: 1 }] } };
    await expectBody(ann.get(`/datasets/${id}/data?q=ZOE&fields=id`), 200, found);
    await expectError(ann.post(`/datasets/${id}/_search`, { q: marks }), 400, 'q has more than 10000 characters');
    await expectBody(
      ann.post(`/datasets/${id}/_search`, { q: `zo${marks.slice(0, 9_000)}`, fields: ['id'] }),
      200,
      found,
    );
    expect(wordsOf(`か\u3099 ${'ß'.repeat(LENGTH)} a${marks.repeat(4)}`)).toContain('a');
  });
});
