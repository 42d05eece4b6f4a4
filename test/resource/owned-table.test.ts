import { beforeAll, expect, test } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { ownedTable } from '../../src/migrations/owned-table.ts';
import { runSql } from '../support/run-sql.ts';
import { startService, type Service } from '../support/service.ts';

/* A migration creates the table of a new kind with owners by `ownedTable`. */

let service: Service;
let tenantId: string;

const asSystem = (text: string, values: unknown[]) => service.platform.system.query({ text, values });

beforeAll(async () => {
  service = await startService();
  for (const sql of ownedTable('gadget', 'gadget', [`status text not null default 'new'`]))
    await runSql(service.databaseUrl, sql);
  const [tenant] = await asSystem('select id from dws.tenant where slug = $1', ['default']);
  tenantId = tenant!['id'] as string;
  return () => service.close();
});

async function insertGadget(slug: string): Promise<string> {
  const id = newId();
  await asSystem(`insert into dws.gadget (id, tenant_id, name, slug, owner_id) values ($1, $2, $3, $3, 'user:1')`, [
    id,
    tenantId,
    slug,
  ]);
  return id;
}

const entriesOf = (id: string) =>
  asSystem('select kind, name, slug, owner_id as "ownerId" from dws.search_entry where tenant_id = $1 and id = $2', [
    tenantId,
    id,
  ]);

const sharesOf = (id: string) =>
  asSystem('select id from dws.share where tenant_id = $1 and resource_id = $2', [tenantId, id]);

test('a row is in the search index from its creation to its deletion', async () => {
  const id = await insertGadget('lever');
  expect(await entriesOf(id)).toEqual([{ kind: 'gadget', name: 'lever', slug: 'lever', ownerId: 'user:1' }]);

  await asSystem('update dws.gadget set name = $2 where id = $1', [id, 'Long lever']);
  expect(await entriesOf(id)).toMatchObject([{ name: 'Long lever' }]);

  await asSystem('delete from dws.gadget where id = $1', [id]);
  expect(await entriesOf(id)).toEqual([]);
});

test('the shares of a row are deleted with it', async () => {
  const id = await insertGadget('wheel');
  await asSystem(
    `insert into dws.share (id, tenant_id, kind, resource_id, principal, access_level)
     values ($1, $2, 'gadget', $3, 'user:2', 1)`,
    [newId(), tenantId, id],
  );
  expect(await sharesOf(id)).toHaveLength(1);

  await asSystem('delete from dws.gadget where id = $1', [id]);
  expect(await sharesOf(id)).toEqual([]);
});

test('a slug is unique in the tenant', async () => {
  await insertGadget('spring');
  await expect(insertGadget('spring')).rejects.toThrow('gadget_slug');
});

test('callers have access to the rows of their own tenant only', async () => {
  const id = await insertGadget('axle');
  const [other] = await asSystem('select id from dws.tenant where slug = $1', ['other']);
  const read = (tenant: string) =>
    service.platform.database.query(tenant, { text: 'select id from dws.gadget where id = $1', values: [id] });
  expect(await read(tenantId)).toEqual([{ id }]);
  expect(await read(other!['id'] as string)).toEqual([]);
});
