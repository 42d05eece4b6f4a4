import pg from 'pg';
import { expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { idsTo, rowsOf, WORLDS } from './dataset-copy-fixture.ts';

/** A query whose source sends a million rows, and the last one when the lock is free. */
const GATED = `select i as id, md5(i::text) || md5((-i)::text) as text,
  case when i > 1000000 then pg_advisory_lock_shared(1)::text end as gate from generate_series(1, 1000001) i`;

for (const { index, test } of WORLDS)
  test(`a load into ${index} ends while its rows arrive when they take much more than the quota leaves`, async ({
    service,
    ann,
    shop,
    createOrders,
  }) => {
    const { id } = await createOrders();
    const gate = new pg.Client({ connectionString: shop.url });
    await gate.connect();
    await gate.query('select pg_advisory_lock(1)');
    service.platform.config.TENANT_QUOTA_BYTES = 2_000_000;
    await expectBody(ann.put(`/datasets/${id}`, { query: GATED }), 200, {});
    await expectError(
      ann.post(`/datasets/${id}/_refresh`, {}),
      413,
      /^The tenant would use \d+ bytes; the quota is 2000000$/,
    );
    await gate.end();
    expect(await rowsOf(ann, id)).toEqual(idsTo(20));
    expect(await service.platform.index.generations()).toHaveLength(1);
  });
