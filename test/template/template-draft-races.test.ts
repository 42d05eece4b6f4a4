import pg from 'pg';
import { expect } from 'vitest';
import { expectBody, expectStatus } from '../support/expect.ts';
import { runSql } from '../support/run-sql.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import {
  createFile,
  createFilled,
  createTemplate,
  fileNames,
  filePath,
  readFile,
  test,
  writeFile,
} from './template-fixture.ts';

/** Returns the stored files without a template, and the files of templates without stored bytes. */
async function findOrphans(service: Service): Promise<{ rows: unknown[]; bytes: unknown[]; missing: unknown[] }> {
  const stored = await systemQuery<{ id: string }>(service, `select id from dws.stored_file`);
  const rows = await systemQuery(
    service,
    `select id from dws.stored_file s where not exists (select from dws.template_file f where f.file_id = s.id)`,
  );
  const missing = await systemQuery<{ id: string }>(
    service,
    `select file_id as id from dws.template_file where file_id is not null`,
  );
  const bytes = new Set((await service.platform.files.list()).map(({ id }) => id));
  return {
    rows,
    bytes: stored.filter(({ id }) => !bytes.has(id)),
    missing: missing.filter(({ id }) => !bytes.has(id)),
  };
}

test('ten concurrent calls of _edit create one draft', async ({ ann }) => {
  const template = await createTemplate(ann);
  await createFilled(ann, template, 'a.njk', 'one', 'TEMPLATE');
  const responses = await Promise.all(Array.from({ length: 10 }, () => ann.post(`${template.path}/_edit`)));
  expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  expect(new Set(responses.map(({ body }) => body.id)).size).toBe(1);
  await expectBody(ann.get(`${template.path}/draft`), 200, { id: responses[0]!.body.id });
});

test('one of two concurrent commits finds no draft', async ({ ann }) => {
  const template = await createTemplate(ann);
  await expectStatus(ann.post(`${template.path}/_edit`), 200);
  const responses = await Promise.all([1, 2, 3].map(() => ann.post(`${template.path}/draft/_commit`)));
  expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 404, 404]);
});

test('a commit during writes to the draft and the template loses no bytes', async ({ ann, service }) => {
  for (let round = 0; round < 6; round += 1) {
    const template = await createTemplate(ann);
    const id = await createFilled(ann, template, 'a.njk', 'before', 'TEMPLATE');
    await createFilled(ann, template, 'b.txt', 'shared');
    const draft = { ...(await ann.post(`${template.path}/_edit`)).body };
    const drafted = { id: draft.id, path: `/templates/${draft.id}` };
    const [toDraft, toTemplate, added, commit] = await Promise.all([
      writeFile(ann, drafted, 'a.njk', 'by draft'),
      writeFile(ann, template, 'b.txt', 'by template'),
      ann.post(`${drafted.path}/files`, { filename: 'new.txt', role: 'ASSET' }),
      ann.post(`${template.path}/draft/_commit`),
    ]);
    expect([toTemplate.status, commit.status]).toEqual([200, 200]);
    // A write to the draft comes before the commit, which then has it, or finds no draft.
    for (const { status } of [toDraft, added]) expect([201, 200, 404]).toContain(status);
    expect(await readFile(ann, template, id)).toBe(toDraft.status === 200 ? 'by draft' : 'before');
    expect(['by template', 'shared']).toContain(await readFile(ann, template, 'b.txt'));
    expect(await fileNames(ann, template)).toEqual(['a.njk', 'b.txt', ...(added.status === 201 ? ['new.txt'] : [])]);
  }
  expect(await findOrphans(service)).toEqual({ rows: [], bytes: [], missing: [] });
});

test('the last of two who drop shared bytes deletes their row', async ({ ann, service }) => {
  const template = await createTemplate(ann);
  const names = Array.from({ length: 20 }, (_, index) => `${index}.txt`);
  for (const name of names) await createFilled(ann, template, name, name);
  const { body } = await ann.post(`${template.path}/_edit`);
  const draft = { id: body.id, path: `/templates/${body.id}` };
  const statuses = await Promise.all(
    names.flatMap((name, index) => [
      ann.delete(filePath(draft, name)),
      index % 2 === 0 ? ann.delete(filePath(template, name)) : writeFile(ann, template, name, 'new'),
    ]),
  );
  expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([200, 204]));
  expect(await findOrphans(service)).toEqual({ rows: [], bytes: [], missing: [] });
});

test('two transactions that drop the same bytes wait for each other', async ({ ann, service }) => {
  const template = await createTemplate(ann);
  await createFilled(ann, template, 'a.txt', 'shared');
  const { body: draft } = await ann.post(`${template.path}/_edit`);
  const stored = `select file_id as id from dws.template_file where template_id = $1`;
  const [{ id }] = (await systemQuery<{ id: string }>(service, stored, template.id)) as [{ id: string }];
  const clients = [1, 2].map(() => new pg.Client({ connectionString: service.databaseUrl }));
  const [first, second] = clients as [pg.Client, pg.Client];
  try {
    for (const client of clients) {
      await client.connect();
      await client.query('begin');
    }
    // Not by deleting the rows: the key of the copy to its original would order these.
    const drop = 'update dws.template_file set file_id = null where template_id = $1';
    await first.query(drop, [draft.id]);
    const { rows } = await second.query('select pg_backend_pid() as pid');
    let hasEnded = false;
    const dropping = second.query(drop, [template.id]).finally(() => {
      hasEnded = true;
    });
    // It waits for the first one. Without the lock it would end, and each would see the file of the other.
    const isWaiting = async () => {
      const text = `select wait_event_type from pg_stat_activity where pid = $1`;
      return (await runSql(service.databaseUrl, text, [rows[0].pid]))[0]!['wait_event_type'] === 'Lock';
    };
    while (!hasEnded && !(await isWaiting()));
    await first.query('commit');
    await dropping;
    await second.query('commit');
  } finally {
    for (const client of clients) await client.end();
  }
  expect(await systemQuery(service, `select id from dws.stored_file where id = $1`, id)).toEqual([]);
});

test('a failed commit leaves the draft whole', async ({ ann, service }) => {
  const template = await createTemplate(ann);
  const id = await createFilled(ann, template, 'a.njk', 'one', 'TEMPLATE');
  const { body } = await ann.post(`${template.path}/_edit`);
  const draft = { id: body.id, path: `/templates/${body.id}` };
  await expectStatus(writeFile(ann, draft, 'a.njk', 'two'), 200);
  await createFile(ann, draft, 'new.txt');
  await expectStatus(ann.put(draft.path, { name: 'Other' }), 200);
  const before = [(await ann.get(draft.path)).body, (await ann.get(`${draft.path}/files`)).body];
  await runSql(
    service.databaseUrl,
    `create function dws.refuse_delete() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
    create trigger refuse before delete on dws.template for each row execute function dws.refuse_delete()`,
  );
  await expectStatus(ann.post(`${template.path}/draft/_commit`), 500);
  await runSql(service.databaseUrl, `drop trigger refuse on dws.template; drop function dws.refuse_delete()`);
  expect([(await ann.get(draft.path)).body, (await ann.get(`${draft.path}/files`)).body]).toEqual(before);
  expect(await readFile(ann, template, id)).toBe('one');
  expect(await fileNames(ann, template)).toEqual(['a.njk']);
  await expectBody(ann.post(`${template.path}/draft/_commit`), 200, { name: 'Other' });
  expect(await readFile(ann, template, id)).toBe('two');
  expect(await fileNames(ann, template)).toEqual(['a.njk', 'new.txt']);
});

test('the deletion of a template deletes its draft, even during a commit and a write', async ({ ann, service }) => {
  for (let round = 0; round < 6; round += 1) {
    const template = await createTemplate(ann);
    await createFilled(ann, template, 'a.njk', 'one', 'TEMPLATE');
    const { body } = await ann.post(`${template.path}/_edit`);
    const draft = { id: body.id, path: `/templates/${body.id}` };
    const [write, commit, deletion] = await Promise.all([
      writeFile(ann, draft, 'a.njk', 'two'),
      ann.post(`${template.path}/draft/_commit`),
      ann.delete(template.path),
    ]);
    expect([200, 404]).toContain(write.status);
    expect([200, 404]).toContain(commit.status);
    expect(deletion.status).toBe(204);
    await expectStatus(ann.get(template.path), 404);
    await expectStatus(ann.get(draft.path), 404);
  }
  const left = await systemQuery(
    service,
    `select s.id from dws.stored_file s where not exists (select from dws.template_file f where f.file_id = s.id)`,
  );
  expect(left).toEqual([]);
});
