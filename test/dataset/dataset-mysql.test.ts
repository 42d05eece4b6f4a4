import { expect } from 'vitest';
import { HAS_MARIADB } from '../support/engines.ts';
import { expectBody } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { useMysqlSource } from '../support/mysql-source.ts';

const source = HAS_MARIADB ? useMysqlSource() : null;

const CREATE_ORDERS = `
  create table orders (
    id int primary key, region varchar(10), amount decimal(20,4), paid tinyint(1), at datetime(6), big bigint unsigned
  );
  insert into orders values
    (1, 'EU', 12345678901234.5678, 1, '2024-02-29 12:34:56.789', 18446744073709551615),
    (2, 'O\\'Brien "\\\\', 0.1, 0, null, 1),
    (3, null, null, null, null, null)`;
const AWKWARD_REGION = `O'Brien "\\`;

test.skipIf(!source)(
  'a dataset of a MySQL datasource is described, refreshed with parameters, and read',
  async ({ admin }) => {
    const { address, database, sql } = source!;
    const { host, port, user, password } = address;
    await sql(CREATE_ORDERS);
    const datasource = await admin.creates('/datasources', {
      name: 'Orders',
      type: 'mysql',
      config: { host, port, database, user },
      secrets: { password },
    });
    const datasourcePath = `/datasources/${datasource.id}`;
    await expectBody(admin.post(`${datasourcePath}/_test`, {}), 200, {
      ok: true,
      version: expect.stringContaining('MariaDB') as string,
    });
    await expectBody(admin.get(`${datasourcePath}/schema`), 200, {
      tables: [{ schema: database, name: 'orders', type: 'table' }],
    });
    const query = { query: 'select "a\\"b" as x, `id` from orders where id = {{id}} # one', params: { id: 2 } };
    await expectBody(admin.post(`${datasourcePath}/_query`, query), 200, { rows: [{ x: 'a"b', id: 2 }] });

    const dataset = await admin.creates('/datasets', {
      name: 'Orders',
      datasourceId: datasource.id,
      query: 'select * from orders where region = {{region}} or id in (1, 3) order by id # "all"',
      params: [{ name: 'region', dataType: 'string', defaultValue: AWKWARD_REGION }],
    });
    await expectBody(admin.post(`/datasets/${dataset.id}/_refresh`, {}), 200, { records: 3 });
    await expectBody(admin.get(`/datasets/${dataset.id}/data`), 200, {
      fields: [
        { name: 'id', type: 'integer' },
        { name: 'region', type: 'string' },
        { name: 'amount', type: 'number', format: 'decimal' },
        { name: 'paid', type: 'boolean' },
        { name: 'at', type: 'datetime' },
        { name: 'big', type: 'integer', format: 'int64' },
      ],
      _embedded: {
        'svc:record': [
          {
            id: 1,
            region: 'EU',
            amount: '12345678901234.5678',
            paid: true,
            at: '2024-02-29T12:34:56.789Z',
            big: '18446744073709551615',
          },
          { id: 2, region: AWKWARD_REGION, amount: '0.1', paid: false, at: null, big: '1' },
          { id: 3, region: null, amount: null, paid: null, at: null, big: null },
        ],
      },
    });
  },
);
