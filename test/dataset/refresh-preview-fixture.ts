import pg from 'pg';
import { expect, onTestFinished } from 'vitest';
import type { RefreshPreview } from '../../entities/refresh-preview.ts';
import type { Client } from '../support/client.ts';
import type { Service } from '../support/service.ts';
import { type Shop } from '../support/shop-fixture.ts';

const PREVIEW = `
  previewId records previousRecordCount fieldsAdded { name type } fieldsRemoved { name type }
  fieldsRetyped { name from to } breaks { kind id: key reportId name problem } hiddenBreaks expiresAt`;
export const previewMutation = (id: string, more = '') =>
  `mutation { previewRefresh(id: "${id}"${more}) { operation { id operation status current } result { ${PREVIEW} } } }`;
export const promoteMutation = (id: string, previewId: string) =>
  `
    mutation {
      promoteRefresh(id: "${id}", previewId: "${previewId}") {
        operation { id operation status }
        result {
          id: datasetId records previousRecordCount duration fieldsAdded fieldsUpdated fieldsRemoved dataUpdatedAt success
        }
      }
    }
  `;

let tables = 0;

/**
 * Creates a table with three rows, and a dataset of it that ann owns. `change` removes `region`, turns `amount` to
 * text, adds `paid`, and inserts a row.
 */
export async function createSales(shop: Shop, ann: Client, source: { id: string }, more: object = {}) {
  const table = `sales${++tables}`;
  await shop.sql(`create table ${table} (id integer, region text, amount integer, note text)`);
  await shop.sql(`insert into ${table} values (1, 'EU', 10, 'a'), (2, 'US', 20, 'b'), (3, 'EU', 30, null)`);
  const { id } = (await ann.creates('/datasets', {
    name: `Sales ${tables}`,
    datasourceId: source.id,
    query: `select * from ${table} order by id`,
    refresh: true,
    ...more,
  })) as { id: string };
  return {
    id,
    table,
    change: async () => {
      await shop.sql(
        `alter table ${table} drop column region, alter column amount type text, add column paid boolean default true`,
      );
      await shop.sql(`insert into ${table} values (4, '40', 'c', false)`);
    },
  };
}

export const previewRefresh = async (who: Client, id: string): Promise<RefreshPreview> => {
  const { status, body } = await who.post(`/datasets/${id}/_previewRefresh`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
export const generationOf = async (who: Client, id: string): Promise<string | null> =>
  (await who.get(`/datasets/${id}`)).body.esIndex;
export const generationsOf = async ({ platform }: Service): Promise<string[]> =>
  (await platform.index.generations()).map(({ id }) => id);
export const expire = ({ platform }: Service, previewId: string) =>
  platform.system.query({
    text: `update dws.refresh_preview set expires_at = now() - interval '1 second' where id = $1`,
    values: [previewId],
  });

/** Blocks `GATED` queries until the returned function is called or the test ends. */
export async function closeGate(shop: Shop): Promise<() => Promise<void>> {
  const gate = new pg.Client(shop.url);
  await gate.connect();
  await gate.query('select pg_advisory_lock(1)');
  onTestFinished(() => gate.end());
  return () => gate.end();
}
export const waitingQueries = async (shop: Shop): Promise<number> =>
  (
    await shop.sql(`
      select 1 from pg_stat_activity
      where datname = current_database() and state = 'active' and pid <> pg_backend_pid()
        and query like '%pg_advisory_lock_shared(1)%'`)
  ).length;
