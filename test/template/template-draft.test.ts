import { expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { systemQuery } from '../support/system-query.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import {
  createFilled,
  createTemplate,
  edit,
  fileNames,
  filePath,
  readFile,
  test,
  writeFile,
  type TestTemplate,
} from './template-fixture.ts';

/** Returns the id of the file of a name. */
const idOf = async (client: Client, template: TestTemplate, name: string): Promise<string> =>
  (await client.get(filePath(template, name))).body.id;

/** Returns the stored files that the files of a template have. */
const storedIds = async (service: Parameters<typeof systemQuery>[0], { id }: TestTemplate): Promise<string[]> =>
  (
    await systemQuery<{ id: string }>(
      service,
      `select file_id as id from dws.template_file where template_id = $1 and file_id is not null order by filename`,
      id,
    )
  ).map((file) => file.id);

/** Returns a text with the address of a file of a template. */
const urlOf = (templateId: string, fileId: string) =>
  `<img src="/api/templates/${templateId}/files/${fileId}/contents">`;

test('a draft is a copy with its own ids, and its links', async ({ ann, service }) => {
  const template = await createTemplate(ann, { description: 'For customers' });
  const main = await createFilled(ann, template, 'a.njk', '{{ 1 }}', 'TEMPLATE');
  const head = await createFilled(ann, template, 'head.png', 'picture');
  const note = `${urlOf(template.id, main)} ${urlOf('default:bill', main)} ${urlOf(UNKNOWN_ID, UNKNOWN_ID)} ${main}`;
  const settings = { logo: head.toUpperCase(), deep: [{ file: main }], other: UNKNOWN_ID, note };
  const handler = { handler: 'pdf', handlerOptions: {} };
  await expectStatus(ann.put(template.path, { ...handler, settings, letterheadId: head }), 200);
  const { body } = await ann.post(`${template.path}/_edit`);
  const draft = { id: body.id, path: `/templates/${body.id}` };
  const [copy, copiedHead] = [await idOf(ann, draft, 'a.njk'), await idOf(ann, draft, 'head.png')];
  expect(new Set([main, head, copy, copiedHead]).size).toBe(4);
  expect(body).toMatchObject({
    slug: 'invoice-2',
    name: 'Invoice',
    description: 'For customers',
    type: 'nunjucks',
    ...handler,
    ownerId: ann.id,
    editingId: template.id,
    templateFileId: copy,
    letterheadId: copiedHead,
    settings: {
      logo: copiedHead,
      deep: [{ file: copy }],
      other: UNKNOWN_ID,
      note: `${urlOf(draft.id, copy)} ${urlOf(draft.id, copy)} ${urlOf(UNKNOWN_ID, UNKNOWN_ID)} ${main}`,
    },
    stale: false,
    _links: {
      self: { href: `/api${draft.path}` },
      'svc:original': { href: `/api${template.path}` },
      'svc:commit-draft': { href: `/api${template.path}/draft/_commit` },
    },
  });
  for (const rel of ['svc:shares', 'svc:tags', 'svc:favorite', 'svc:edit', 'svc:draft'])
    expect(body._links[rel]).toBeUndefined();
  expect(await readFile(ann, draft, 'a.njk')).toBe('{{ 1 }}');
  expect(await storedIds(service, draft)).toEqual(await storedIds(service, template));
  await expectBody(ann.get(`${template.path}/draft`), 200, { id: draft.id });
  await expectBody(ann.post(`${template.path}/_edit`), 200, { id: draft.id });
  await expectBody(ann.get(template.path), 200, { editingId: null, stale: false });
});

test('a commit replaces everything, and what was copied has the ids of before', async ({ ann, service }) => {
  const template = await createTemplate(ann);
  const main = await createFilled(ann, template, 'a.njk', 'one', 'TEMPLATE');
  const kept = await createFilled(ann, template, 'kept.png', 'same');
  const gone = await createFilled(ann, template, 'gone.png', 'gone');
  const [, , stored] = await storedIds(service, template);
  const settings = { kept, gone };
  await expectStatus(ann.put(template.path, { settings, letterheadId: gone }), 200);
  const draft = await edit(ann, template);
  const copy = await idOf(ann, draft, 'kept.png');
  await expectStatus(writeFile(ann, draft, 'a.njk', 'two'), 200);
  await expectStatus(ann.delete(filePath(draft, 'gone.png')), 204);
  const added = await createFilled(ann, draft, 'gone.png', 'new', 'DATA');
  await expectStatus(ann.put(filePath(draft, 'kept.png'), { filename: 'renamed.png' }), 200);
  const note = [urlOf(draft.id, copy.toUpperCase()), urlOf(draft.id, added)];
  const changes = { name: 'Bill', handler: 'csv', settings: { list: [copy, added], note }, letterheadId: copy };
  await expectStatus(ann.put(draft.path, changes), 200);
  expect(await readFile(ann, template, 'a.njk')).toBe('one');
  const { slug } = (await ann.get(template.path)).body;
  const { version } = (await systemQuery(service, `select version from dws.template where id = $1`, template.id))[0]!;

  await expectBody(ann.post(`${template.path}/draft/_commit`), 200, {
    id: template.id,
    slug,
    name: 'Bill',
    handler: 'csv',
    editingId: null,
    templateFileId: main,
    letterheadId: kept,
    settings: { list: [kept, added], note: [urlOf(template.id, kept), urlOf(template.id, added)] },
  });
  expect(await fileNames(ann, template)).toEqual(['a.njk', 'gone.png', 'renamed.png']);
  expect(await readFile(ann, template, main)).toBe('two');
  expect(await readFile(ann, template, kept)).toBe('same');
  await expectBody(ann.get(filePath(template, added)), 200, { templateId: template.id, role: 'DATA' });
  await expectStatus(ann.get(filePath(template, gone)), 404);
  await expectStatus(ann.get(draft.path), 404);
  await expectStatus(ann.get(`${template.path}/draft`), 404);
  const [row] = await systemQuery(service, `select version from dws.template where id = $1`, template.id);
  expect(Number(row!['version'])).toBe(Number(version) + 1);
  const { body } = await ann.get(`${template.path}/activity?limit=1`);
  expect(body._embedded['svc:activity']).toMatchObject([
    {
      type: 'template.updated',
      message: 'ann committed a draft of Bill',
      data: { fields: ['name', 'handler', 'letterheadId', 'settings', 'files'] },
    },
  ]);
  // Of the three stored files, one was replaced and one deleted.
  expect(await systemQuery(service, `select id from dws.stored_file where id = $1`, stored)).toHaveLength(1);
  const names = await systemQuery(
    service,
    `select s.filename, s.size from dws.stored_file s join dws.template_file f on f.file_id = s.id
    where f.template_id = $1 order by 1`,
    template.id,
  );
  expect(names).toEqual([
    { filename: 'a.njk', size: 3 },
    { filename: 'gone.png', size: 3 },
    { filename: 'kept.png', size: 4 },
  ]);
  const orphans = await systemQuery(
    service,
    `select filename, size from dws.stored_file s
    where s.filename in ('a.njk', 'gone.png', 'kept.png')
      and not exists (select from dws.template_file f where f.file_id = s.id)`,
  );
  expect(orphans).toEqual([]);
});

test('inputs and processors are copied, and keep their ids at the commit', async ({ ann, service }) => {
  const template = await createTemplate(ann);
  const insert = (table: string, id: string, columns: Record<string, unknown>) =>
    systemQuery(
      service,
      `insert into dws.${table} (id, tenant_id, template_id, ${Object.keys(columns).join(', ')})
      select $1, tenant_id, id, ${Object.keys(columns)
        .map((_, index) => `$${index + 3}`)
        .join(', ')}
      from dws.template where id = $2`,
      newId(),
      id,
      ...Object.values(columns),
    );
  const read = (table: string, id: string) =>
    systemQuery(
      service,
      `select to_jsonb(x) - 'template_id' - 'original_id' - 'created_at' - 'updated_at' - 'version' as row
      from dws.${table} x where template_id = $1 order by position`,
      id,
    );
  const country = { position: 0, name: 'country', label: 'Country', required: true, default_value: '"FR"' };
  await insert('template_input', template.id, { ...country, schema: '{"type":"string"}' });
  await insert('template_input', template.id, { position: 1, name: 'gone', description: 'Not kept' });
  await insert('template_processor', template.id, { position: 0, name: 'orders', type: 'dataset', config: '{"a":1}' });
  const [kept] = await read('template_input', template.id);
  const [processor] = await read('template_processor', template.id);
  const draft = await edit(ann, template);
  const [copy, lost] = await read('template_input', draft.id);
  expect(copy).toEqual({ row: { ...(kept!['row'] as object), id: (copy!['row'] as { id: string }).id } });
  expect((copy!['row'] as { id: string }).id).not.toBe((kept!['row'] as { id: string }).id);
  await expectBody(ann.get(draft.path), 200, { stale: false });
  await systemQuery(service, `delete from dws.template_input where id = $1`, (lost!['row'] as { id: string }).id);
  await insert('template_input', draft.id, { position: 1, name: 'since' });
  const change = (set: string, table: string, id: string) =>
    systemQuery(service, `update dws.${table} set ${set} where template_id = $1`, id);
  await change(`config = '{"a":2}'`, 'template_processor', draft.id);
  await change(`label = 'Changed'`, 'template_input', template.id);
  await expectBody(ann.get(draft.path), 200, { stale: true });
  const drafted = await read('template_input', draft.id);

  await expectStatus(ann.post(`${template.path}/draft/_commit`), 200);
  expect(await read('template_input', template.id)).toEqual([kept, drafted[1]]);
  expect(await read('template_processor', template.id)).toEqual([
    { row: { ...(processor!['row'] as object), config: { a: 2 } } },
  ]);
  const { body } = await ann.get(`${template.path}/activity?limit=1`);
  expect(body._embedded['svc:activity'][0].data).toEqual({ fields: ['inputs', 'processors'] });
});

test('files may swap their names in a draft', async ({ ann }) => {
  const template = await createTemplate(ann);
  const a = await createFilled(ann, template, 'a.png', 'A');
  const b = await createFilled(ann, template, 'b.png', 'B');
  const draft = await edit(ann, template);
  for (const [from, to] of [
    ['a.png', 'c.png'],
    ['b.png', 'a.png'],
    ['c.png', 'b.png'],
  ] as const)
    await expectStatus(ann.put(filePath(draft, from), { filename: to }), 200);
  await expectStatus(ann.post(`${template.path}/draft/_commit`), 200);
  await expectBody(ann.get(filePath(template, a)), 200, { filename: 'b.png' });
  await expectBody(ann.get(filePath(template, b)), 200, { filename: 'a.png' });
  expect(await readFile(ann, template, 'b.png')).toBe('A');
});

test('a deleted draft leaves the template unchanged', async ({ ann }) => {
  const template = await createTemplate(ann);
  await createFilled(ann, template, 'a.njk', 'one', 'TEMPLATE');
  const before = (await ann.get(template.path)).body;
  const draft = await edit(ann, template);
  await expectStatus(writeFile(ann, draft, 'a.njk', 'two'), 200);
  const { headers } = await ann.get(`${template.path}/draft`);
  await expectStatus(ann.put(draft.path, { name: 'Other' }), 200);
  await expectStatus(ann.delete(`${template.path}/draft`, { 'if-match': headers.get('etag')! }), 412);
  await expectStatus(ann.delete(`${template.path}/draft`), 204);
  expect((await ann.get(template.path)).body).toEqual(before);
  expect(await readFile(ann, template, 'a.njk')).toBe('one');
  for (const response of [
    ann.delete(`${template.path}/draft`),
    ann.post(`${template.path}/draft/_commit`),
    ann.get(`${template.path}/draft`),
  ])
    await expectStatus(response, 404);
  await expectError(ann.delete(`${template.path}/draft`), 404, `There is no draft of template ${template.id}`);
});

test('a draft is stale after any change of its template, not after its own', async ({ ann }) => {
  const template = await createTemplate(ann);
  await createFilled(ann, template, 'a.njk', 'one', 'TEMPLATE');
  const changes: (() => Promise<{ status: number }>)[] = [
    () => ann.put(template.path, { name: 'New name' }),
    () => ann.put(template.path, { settings: { strict: true } }),
    () => ann.put(`${template.path}/template-file`, { templateFileId: null }),
    () => writeFile(ann, template, 'a.njk', 'two'),
    () => ann.put(filePath(template, 'a.njk'), { embedded: true }),
    () => ann.post(`${template.path}/files`, { filename: 'b.png', role: 'ASSET' }),
    () => ann.put(filePath(template, 'b.png'), { filename: 'c.png' }),
    () => ann.delete(filePath(template, 'c.png')),
  ];
  for (const change of changes) {
    const draft = await edit(ann, template);
    await expectStatus(ann.put(draft.path, { description: 'Mine' }), 200);
    await expectStatus(writeFile(ann, draft, 'a.njk', 'mine'), 200);
    await expectStatus(ann.put(`${template.path}/favorite`), 200);
    await expectBody(ann.get(draft.path), 200, { stale: false });
    expect((await change()).status, change.toString()).toBeLessThan(300);
    await expectBody(ann.get(draft.path), 200, { stale: true });
    await expectBody(ann.get(`${template.path}/draft`), 200, { stale: true });
    await expectStatus(ann.delete(`${template.path}/draft`), 204);
  }
});
