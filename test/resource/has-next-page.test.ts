import { isObjectType } from 'graphql';
import { expect } from 'vitest';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { test } from '../support/fixture.ts';
import { recordStatements } from '../support/statement-log.ts';

test('every page has hasNextPage', async () => {
  const pages = Object.values((await createSchema()).getTypeMap()).filter(
    (type) => isObjectType(type) && type.name.endsWith('Page'),
  );
  expect(pages.length).toBeGreaterThan(15);
  expect(pages.filter((type) => isObjectType(type) && !type.getFields()['hasNextPage'])).toEqual([]);
});

test('hasNextPage is true up to the last page, without a count of all records', async ({ admin, service }) => {
  const parent = await admin.creates('/folders', { name: 'Parent' });
  for (const name of ['a', 'b', 'c']) {
    await admin.creates('/apps', { name: `Next ${name}`, folderId: parent.id });
  }
  const page = async (args: string, fields = 'hasNextPage') => {
    const { result, statements } = await recordStatements(service, () =>
      admin.data(`{
        apps(q: "Next", sort: "name", ${args}) { ${fields} items { name } }
        folder(id: "${parent.id}") { resources(${args}) { ${fields} count items { name } } }
        search(q: "Next", kinds: [APP], ${args}) { hasNextPage }
      }`),
    );
    const { hasNextPage } = result.apps;
    expect([result.folder.resources.hasNextPage, result.search.hasNextPage]).toEqual([hasNextPage, hasNextPage]);
    return { ...result.apps, count: result.folder.resources.count, statements };
  };
  expect(await page('limit: 2')).toMatchObject({
    hasNextPage: true,
    count: 2,
    items: [{ name: 'Next a' }, { name: 'Next b' }],
  });
  expect(await page('limit: 2, start: 2')).toMatchObject({ hasNextPage: false, count: 1, items: [{ name: 'Next c' }] });
  expect(await page('limit: 3')).toMatchObject({ hasNextPage: false, count: 3 });
  expect(await page('limit: 2, start: 9')).toMatchObject({ hasNextPage: false, count: 0, items: [] });
  const { statements } = await page('limit: 2');
  expect(
    statements.filter(({ text }: { text: string }) => /count\(\*\)/.test(text) && !/search_matches/.test(text)),
  ).toEqual([]);
  expect(await page('limit: 2', 'total hasNextPage')).toMatchObject({ total: 3, hasNextPage: true });
  expect((await admin.data('{ apps(q: "Next", limit: 1) { total hasNextPage } }')).apps).toEqual({
    total: 3,
    hasNextPage: true,
  });
});
