import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runDuckdb } from '../drivers/driver-file-fixture.ts';
import type { Client } from '../support/client.ts';
import { elasticsearch, HAS_ELASTICSEARCH, HAS_MARIADB } from '../support/engines.ts';
import { openSocket } from '../support/follow-operation.ts';
import { useMysqlSource } from '../support/mysql-source.ts';
import { configOf, useSource } from '../support/postgres-source.ts';
import { startService, type Service } from '../support/service.ts';
import { createForm, DATASETS } from '../support/upload-form.ts';
import { createRenderable, render } from '../template/render-fixture.ts';

const LONG = '9007199254740993';
const [WIDE, TINY] = [`1${'0'.repeat(400)}`, `0.${'0'.repeat(399)}1`];

/** Rows of a source, as every way to read them returns them. */
interface Case {
  name: string;
  /** SQL of a database, or the content of an upload. */
  from: { source: 'Postgres' | 'MariaDB'; query: string } | { filename: string; content(): Promise<Uint8Array> };
  fields: string[];
  rows: Record<string, unknown>[];
  /** Values that became null, as the refresh reports them. */
  warning?: string;
}

const postgres = useSource();
const mysql = HAS_MARIADB ? useMysqlSource() : null;

const CREATE_POSTGRES = 'create type pair as (id bigint, amount numeric)';
const CREATE_MYSQL = `
  create table status (id int, a tinyint(1), b tinyint(1) unsigned, c tinyint(1) zerofill, d tinyint(1), e tinyint(1));
  insert into status values (1, 0, 2, 5, 0, null), (2, -128, 255, 1, 1, null), (3, null, null, null, null, null);
  create view states as select id, a, max(b) over () as most, coalesce(a, 7) as given, d from status;
  create table days (id int, d date, t datetime(3), s timestamp null);
  insert into days values
    (1, '0000-00-00', '0000-00-00', '0000-00-00'), (2, '2024-00-10', '2024-00-10 01:02:03', null),
    (3, '0001-01-01', '9999-12-31 23:59:59.999', '2038-01-19 03:14:07');
  set sql_mode = 'ALLOW_INVALID_DATES';
  insert into days values (4, '2023-02-30', '2023-02-31 10:00:00', null);
  set sql_mode = ''`;

const folder = { path: '' };
beforeAll(async () => {
  folder.path = await mkdtemp(join(tmpdir(), 'dws-exact-'));
  await postgres.sql(CREATE_POSTGRES);
  await mysql?.sql(CREATE_MYSQL);
});
afterAll(() => rm(folder.path, { recursive: true }));

/** Returns the content of a Parquet file with the rows of a query. */
async function parquet(query: string): Promise<Uint8Array> {
  const path = join(folder.path, 'x.parquet');
  await runDuckdb(`copy (${query}) to '${path}' (format parquet)`);
  return readFile(path);
}

async function sqlite(sql: string): Promise<Uint8Array> {
  const path = join(folder.path, 'x.sqlite');
  await rm(path, { force: true });
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
  return readFile(path);
}

const CASES: Case[] = [
  {
    name: 'JSON, arrays and composites of Postgres',
    from: {
      source: 'Postgres',
      query: `select '{"id":${LONG},"d":1234567890123.4567,"e":1e400,"f":1e-400,"in":[{"n":-${LONG}}]}'::jsonb as b,
        '{"id":${LONG},"e":1e400,"d":1.10}'::json as j, array[${LONG}, 1]::bigint[] as ids,
        array[1234567890123.4567, 1.10, 'NaN']::numeric[] as amounts, row(${LONG}, 1234567890123456.78)::pair as p,
        array[row(${LONG}, 1)::pair] as ps, row_to_json(row(${LONG}::bigint)) as r, '${LONG}'::jsonb as s`,
    },
    fields: ['b json', 'j json', 'ids json', 'amounts json', 'p json', 'ps json', 'r json', 's json'],
    rows: [
      {
        b: { id: LONG, d: '1234567890123.4567', e: WIDE, f: TINY, in: [{ n: `-${LONG}` }] },
        j: { id: LONG, e: '1e400', d: 1.1 },
        ids: [LONG, 1],
        amounts: ['1234567890123.4567', 1.1, 'NaN'],
        p: { id: LONG, amount: '1234567890123456.78' },
        ps: [{ id: LONG, amount: 1 }],
        r: { f1: LONG },
        s: LONG,
      },
    ],
  },
  {
    name: 'dates and times of Postgres',
    from: {
      source: 'Postgres',
      query: `select id, d::date as d, d::timestamp as t, d::timestamptz as z, array[d::date] as ds from (values
        (1, '0044-03-15 BC'), (2, '15000-07-01'), (3, 'infinity'), (4, '-infinity'), (5, '0001-01-01'),
        (6, '9999-12-31 23:59:59.999999')) as v(id, d)`,
    },
    fields: ['id integer', 'd date', 't datetime', 'z datetime', 'ds json'],
    rows: [
      { id: 1, d: null, t: null, z: null, ds: ['0044-03-15 BC'] },
      { id: 2, d: null, t: null, z: null, ds: ['15000-07-01'] },
      { id: 3, d: null, t: null, z: null, ds: ['infinity'] },
      { id: 4, d: null, t: null, z: null, ds: ['-infinity'] },
      { id: 5, d: '0001-01-01', t: '0001-01-01T00:00:00.000Z', z: '0001-01-01T00:00:00.000Z', ds: ['0001-01-01'] },
      { id: 6, d: '9999-12-31', t: '9999-12-31T23:59:59.999Z', z: '9999-12-31T23:59:59.999Z', ds: ['9999-12-31'] },
    ],
    warning: 'Field "d": 4 values are missing (outside the years 1 to 9999)',
  },
  {
    name: 'JSON of MariaDB',
    from: {
      source: 'MariaDB',
      query: `select json_object('id', ${LONG}, 'd', 1234567890123.4567, 'u', 18446744073709551615) as j,
        json_arrayagg(${LONG}) as ids, json_extract('{"a":{"b":[${LONG}]}}', '$.a') as x`,
    },
    fields: ['j json', 'ids json', 'x json'],
    rows: [
      {
        j: { id: LONG, d: '1234567890123.4567', u: '18446744073709551615' },
        ids: [LONG],
        x: { b: [LONG] },
      },
    ],
  },
  {
    name: 'tinyint(1) of MariaDB',
    from: { source: 'MariaDB', query: 'select * from status order by id' },
    fields: ['id integer', 'a integer', 'b integer', 'c integer', 'd boolean', 'e boolean'],
    rows: [
      { id: 1, a: 0, b: 2, c: 5, d: false, e: null },
      { id: 2, a: -128, b: 255, c: 1, d: true, e: null },
      { id: 3, a: null, b: null, c: null, d: null, e: null },
    ],
  },
  {
    name: 'tinyint(1) in a view of MariaDB',
    from: { source: 'MariaDB', query: 'select * from states order by id' },
    fields: ['id integer', 'a integer', 'most integer', 'given integer', 'd boolean'],
    rows: [
      { id: 1, a: 0, most: 255, given: 0, d: false },
      { id: 2, a: -128, most: 255, given: -128, d: true },
      { id: 3, a: null, most: 255, given: 7, d: null },
    ],
  },
  {
    name: 'dates of MariaDB',
    from: { source: 'MariaDB', query: 'select * from days order by id' },
    fields: ['id integer', 'd date', 't datetime', 's datetime'],
    rows: [
      { id: 1, d: null, t: null, s: null },
      { id: 2, d: null, t: null, s: null },
      { id: 3, d: '0001-01-01', t: '9999-12-31T23:59:59.999Z', s: '2038-01-19T03:14:07.000Z' },
      { id: 4, d: null, t: null, s: null },
    ],
  },
  {
    name: 'NDJSON',
    from: {
      filename: 'x.ndjson',
      content: async () => Buffer.from(`{"o":{"id":${LONG},"e":1e400},"ids":[${LONG}],"id":-${LONG},"d":0.10}\n`),
    },
    fields: ['o json', 'ids json', 'id integer int64', 'd number'],
    rows: [{ o: { id: LONG, e: '1e400' }, ids: [LONG], id: `-${LONG}`, d: 0.1 }],
  },
  {
    name: 'lists, structs and dates of Parquet',
    from: {
      filename: 'x.parquet',
      content: () =>
        parquet(`select [${LONG}, 1] as ids, {'id': ${LONG}, 'd': 1234567890123.4567::decimal(20,4)} as o,
          18446744073709551615::ubigint as u, v.d::date as d, v.d::timestamp as t
          from (values (1, '0044-03-15 (BC)'), (2, '15000-07-01'), (3, '9999-12-31'), (4, 'infinity')) v(n, d) order by n`),
    },
    fields: ['ids json', 'o json', 'u integer int64', 'd date', 't datetime'],
    rows: [null, null, '9999-12-31', null].map((d) => ({
      ids: [LONG, 1],
      o: { id: LONG, d: '1234567890123.4567' },
      u: '18446744073709551615',
      d,
      t: d && `${d}T00:00:00.000Z`,
    })),
  },
  {
    name: 'SQLite',
    from: {
      filename: 'x.sqlite',
      content: () =>
        sqlite(`create table t (id integer, b boolean, day date);
          insert into t values (${LONG}, 1, '2024-02-29'), (-9223372036854775808, 0, '-0044-03-15')`),
    },
    fields: ['id integer int64', 'b boolean', 'day string'],
    rows: [
      { id: LONG, b: true, day: '2024-02-29' },
      { id: '-9223372036854775808', b: false, day: '-0044-03-15' },
    ],
  },
];

const INDEXES = [
  { index: 'DuckDB', available: true, variables: async (): Promise<Record<string, string>> => ({}) },
  {
    index: 'Elasticsearch',
    available: HAS_ELASTICSEARCH,
    variables: async () => ({ ELASTICSEARCH_URL: (await elasticsearch()).url }),
  },
];

const ITEMS = 'data { items fields { name type format } }';

describe.each(INDEXES.filter(({ available }) => available))('rows in $index', ({ variables }) => {
  let service: Service;
  let admin: Client;
  const sources: Partial<Record<'Postgres' | 'MariaDB', string>> = {};
  beforeAll(async () => {
    service = await startService(await variables());
    admin = await service.user('admin', { superuser: true });
    const open = async (type: string, config: object, secrets: object) =>
      (await admin.creates('/datasources', { name: type, type, config, secrets })).id as string;
    const { config, secrets } = configOf(postgres.database.url);
    sources.Postgres = await open('postgres', config, secrets);
    if (mysql) {
      const { host, port, user, password } = mysql.address;
      sources.MariaDB = await open('mysql', { host, port, database: mysql.database, user }, { password });
    }
  });
  afterAll(() => service.close());

  /** Creates the dataset of a case, and returns its id. */
  async function create({ name, from, rows, warning }: Case): Promise<string> {
    if ('filename' in from)
      return (
        await admin.creates(
          DATASETS,
          createForm((await from.content()) as BlobPart, from.filename, { after: { name } }),
        )
      ).id;
    const source = sources[from.source]!;
    const preview = await admin.post(`/datasources/${source}/_query`, { query: from.query });
    expect(preview.body.rows, 'preview').toEqual(rows);
    const { id } = await admin.creates('/datasets', { name, datasourceId: source, query: from.query });
    const refresh = await admin.post(`/datasets/${id}/_refresh`, {}, { prefer: 'respond-async' });
    const progress = async () => (await admin.get(`/progress/${refresh.body.id}`)).body;
    await expect.poll(async () => (await progress()).status).toBe('succeeded');
    if (warning) expect((await progress()).message).toContain(warning);
    return id;
  }

  test.each(CASES.filter(({ from }) => 'filename' in from || from.source !== 'MariaDB' || mysql))(
    '$name: values are the same in every way to read them',
    async (one) => {
      const { fields, rows } = one;
      const id = await create(one);
      const found = (await admin.get(`/datasets/${id}/data`)).body;
      expect(found._embedded['svc:record']).toEqual(rows);
      expect(
        found.fields.map(({ name, type, format }: any) => [name, type, ...(format ? [format] : [])].join(' ')),
      ).toEqual(fields);
      expect((await admin.data(`query ($id: ID!) { dataset(id: $id) { ${ITEMS} } }`, { id })).dataset.data.items) //
        .toEqual(rows);
      const exported = await fetch(`${admin.url}/api/datasets/${id}/export?format=json`, { headers: admin.headers });
      expect(await exported.json()).toEqual(rows);
      const snapshot = await admin.creates(`/datasets/${id}/snapshots`, { name: 'S' });
      expect((await admin.get(`/datasets/${snapshot.id}/data`)).body._embedded['svc:record']).toEqual(rows);
      const socket = openSocket(admin);
      const updated = socket.iterate<any>(`subscription ($id: ID!) { datasetUpdated(id: $id) { ${ITEMS} } }`, { id });
      expect((await updated.next()).value.data.datasetUpdated.data.items).toEqual(rows);
      await socket.dispose();
      const template = await createRenderable(admin, {
        files: { 'x.txt': '{{ all.rows | dump | safe }}' },
        processors: [{ name: 'all', type: 'dataset', config: { datasetId: id } }],
      });
      expect(JSON.parse((await render(admin, template.path)).text)).toEqual(rows);
      expect(await admin.get(`/datasets/${id}/discover`)).toMatchObject({ status: 200 });
    },
  );

  test.each<[string, string, unknown[]]>([
    ['past a double', `('9' || repeat('0', 400))::numeric`, [null, null]],
    ['with one value past a double', `case when n = 1 then '-1e400'::numeric else n end`, [null, null]],
    ['with long sums', `${LONG} * n::bigint`, ['54043195528445958', 2 ** 54]],
  ])('numbers %s are aggregated in both APIs, in data of visuals and in pictures', async (_, value, expected) => {
    const query = `select case when n < 3 then 'a' else 'b' end as g, ${value} as x from generate_series(1, 3) n`;
    const { id } = await admin.creates('/datasets', { name: value, datasourceId: sources.Postgres, query });
    await admin.post(`/datasets/${id}/_refresh`, {});
    expect(await admin.get(`/datasets/${id}/discover`)).toMatchObject({ status: 200 });
    const measures = ['sum', 'avg'].map((fn) => ({ fn, field: 'x', as: fn }));
    const found = await admin.post(`/datasets/${id}/_aggregate`, { measures });
    expect(found.body.rows).toEqual([expected]);
    const { dataset } = await admin.data(
      `query ($id: ID!, $measures: [MeasureInput!]!) { dataset(id: $id) {
        aggregate(measures: $measures) { columns { name label type format } rows } discover { fields { avg stdDev } }
      } }`,
      { id, measures: measures.map(({ fn, ...measure }) => ({ ...measure, fn: fn.toUpperCase() })) },
    );
    expect(dataset.aggregate.rows).toEqual([expected]);
    expect(dataset.aggregate.columns[0].format).toBe(typeof expected[0] === 'string' ? 'INT64' : null);
    for (const [component, config] of [
      ['gauge', { valueField: 'x' }],
      ['card', { valueField: 'x', aggregation: 'sum' }],
      ['bar-chart', { xAxis: 'g', yAxis: 'x', aggregation: 'sum' }],
      ['pie-chart', { categoryField: 'g', valueField: 'x' }],
    ] as const) {
      const visual = await admin.creates(`/datasets/${id}/visuals`, { component, config, name: component });
      const path = `/datasets/${id}/visuals/${visual.id}`;
      const { status, body } = await admin.get(`${path}/data`);
      expect(status, component).toBe(200);
      if (component === 'gauge' || component === 'card') expect(body.rows, component).toEqual([[expected[0]]]);
      expect(await admin.get(`${path}/image.svg`), component).toMatchObject({ status: 200 });
    }
  });
});
