import pg from 'pg';
import { expect } from 'vitest';
import { loaderOf } from '../operation/refreshable.ts';
import { expectBody } from '../support/expect.ts';
import { idsTo, rowsOf, WORLDS } from './dataset-copy-fixture.ts';

/** A query whose source sends some segments, and the last row when the lock is free. */
const GATED = `select i as id, md5(i::text) || md5((-i)::text) as text,
  case when i > 400000 then pg_advisory_lock_shared(1)::text end as gate from generate_series(1, 400001) i`;

for (const { index, test } of WORLDS)
  test(`a loader that is killed leaves nothing in ${index}`, async ({ service, ann, shop, createOrders }) => {
    const { id } = await createOrders();
    const { index: rows, config } = service.platform;
    const former = await rows.generations();
    /** The indexes of a generation in the search engine; none with DuckDB. */
    const indexesOf = async (generation: string): Promise<string[]> => {
      const url = config.ELASTICSEARCH_URL;
      return url ? Object.keys((await (await fetch(`${url}/*${generation}*/_alias`)).json()) as object) : [];
    };
    const unfinished = async () => (await rows.generations()).filter(({ complete }) => !complete);
    const gate = new pg.Client({ connectionString: shop.url });
    await gate.connect();
    await gate.query('select pg_advisory_lock(1)');
    await expectBody(ann.put(`/datasets/${id}`, { query: GATED }), 200, {});
    const refresh = ann.post(`/datasets/${id}/_refresh`, {});
    const isLoading = async () => {
      const [loading] = await unfinished();
      return loading && (index === 'DuckDB' || (await indexesOf(loading.id)).length > 0) ? loading.id : '';
    };
    await expect.poll(isLoading, { timeout: 60_000 }).not.toBe('');
    const generation = await isLoading();
    process.kill((await loaderOf(process.pid))!, 'SIGKILL');
    // The refresh is tried again, with a generation of its own.
    await expect
      .poll(async () => (await unfinished()).map((one) => one.id), { timeout: 60_000 })
      .not.toContain(generation);
    expect(await indexesOf(generation)).toEqual([]);
    expect(await rowsOf(ann, id)).toEqual(idsTo(20));
    await gate.end();
    await expectBody(refresh, 200, {});
    expect(await unfinished()).toEqual([]);
    expect(await rows.generations()).toEqual(expect.arrayContaining(former));
  });
