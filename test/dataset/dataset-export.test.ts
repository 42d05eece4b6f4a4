import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { describe, expect } from 'vitest';
import { EXPORT_FORMATS, type ExportFormat } from '../../src/core/export-format.ts';
import type { Field } from '../../src/core/fields.ts';
import type { Client } from '../support/client.ts';
import { readBack } from '../support/export-readers.ts';
import { openSocket } from '../support/follow-operation.ts';
import { ORDERS_QUERY, test as base } from '../support/shop-fixture.ts';

/** Values of every type that some format could spoil. */
const AWKWARD = `select * from (values
  (1, E'=1+1\\n"a,b"\\r\\n_x0041_ \\u0001 😀', 2.5::float8, true, date '0001-01-01', timestamptz '1899-12-31 23:59:59.999+00', '{"a": [1, null, "ü"]}'::jsonb, 9223372036854775807::bigint, 1234567890.12345678901::numeric, ''),
  (2, '', -0.1, false, date '1969-07-20', timestamptz '2024-02-29 12:30:00.001+00', '"text"', -9007199254740993, 0.1, ' '),
  (9007199254740991, null, 5e-7, null, date '9999-12-31', timestamptz '9999-12-31 23:59:59.999+00', '0', null, -0.5, repeat('x', 9000)),
  (-3, 'a' || chr(9) || ' ', 1e21, null, null, null, 'false', 0, null, null)) v(id, "Name ""x""", number, ok, day, at, doc, big, "exact.digits", long)`;

interface Exported {
  bytes: Buffer;
  filename: string;
  contentType: string;
}

/** The world with a dataset of the shop's orders and one of awkward values. */
const test = base.extend<{ orders: { id: string }; awkward: { id: string } }>({
  orders: [
    async ({ ann, source }, use) =>
      use(
        await ann.creates('/datasets', { name: 'Orders', datasourceId: source.id, query: ORDERS_QUERY, refresh: true }),
      ),
    { scope: 'file' },
  ],
  awkward: [
    async ({ ann, source }, use) =>
      use(await ann.creates('/datasets', { name: 'Awkward', datasourceId: source.id, query: AWKWARD, refresh: true })),
    { scope: 'file' },
  ],
});

const download = (who: Client, path: string) =>
  fetch(`${who.url}/api${path}`, { headers: { ...who.headers, 'accept-encoding': 'gzip, br' } });

async function byRest(who: Client, id: string, format: ExportFormat, query = ''): Promise<Exported> {
  const answer = await download(who, `/datasets/${id}/export?format=${format}${query}`);
  expect(answer.status).toBe(200);
  const filename = /^attachment; filename="(.*)"$/.exec(answer.headers.get('content-disposition')!)![1]!;
  return { bytes: Buffer.from(await answer.arrayBuffer()), filename, contentType: answer.headers.get('content-type')! };
}

async function byGraphql(
  who: Client,
  id: string,
  format: ExportFormat,
  variables: Record<string, unknown> = {},
): Promise<Exported> {
  const socket = openSocket(who);
  try {
    const pieces: Buffer[] = [];
    let last: { filename: string; contentType: string } | undefined;
    const document = `subscription ($fields: [String!], $filter: JSON, $sort: String) {
      datasetExport(id: "${id}", format: ${format.toUpperCase()}, fields: $fields, filter: $filter, sort: $sort) { text encoding filename contentType } }`;
    for await (const { data, errors } of socket.iterate<{
      datasetExport: { text: string; encoding: 'UTF8' | 'BASE64'; filename: string; contentType: string };
    }>(document, variables)) {
      expect(errors).toBeUndefined();
      last = data!.datasetExport;
      pieces.push(Buffer.from(data!.datasetExport.text, data!.datasetExport.encoding === 'BASE64' ? 'base64' : 'utf8'));
    }
    return { bytes: Buffer.concat(pieces), filename: last!.filename, contentType: last!.contentType };
  } finally {
    await socket.dispose();
  }
}

const TYPES: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  parquet: 'application/vnd.apache.parquet',
};

describe.each(EXPORT_FORMATS)('an export as %s', (format) => {
  test('has the rows of the data, in both APIs, awkward values of every type included', async ({ ann, awkward }) => {
    const { body } = await ann.get(`/datasets/${awkward.id}/data`);
    const fields = body.fields as Field[];
    expect(fields.map(({ type, format: exact }) => exact ?? type)).toEqual([
      'integer',
      'string',
      'number',
      'boolean',
      'date',
      'datetime',
      'json',
      'int64',
      'decimal',
      'text',
    ]);
    for (const exported of [byRest, byGraphql]) {
      const { bytes, filename, contentType } = await exported(ann, awkward.id, format);
      expect({ filename, contentType }).toEqual({ filename: `awkward.${format}`, contentType: TYPES[format] });
      expect(await readBack(format, bytes, fields)).toEqual({
        names: fields.map(({ name }) => name),
        rows: body._embedded['svc:record'],
      });
    }
  });

  test('has the fields, the rows and the order that are asked for', async ({ ann, orders }) => {
    const fields = [
      { name: 'region', type: 'string' },
      { name: 'id', type: 'integer' },
    ] as const;
    const wanted = {
      names: ['region', 'id'],
      rows: [
        { region: 'US', id: 5 },
        { region: 'APAC', id: 2 },
        { region: 'US', id: 1 },
      ],
    };
    const filter = { id: { $in: [1, 5, 2] } };
    const query = `&fields=region,id&filter=${encodeURIComponent(JSON.stringify(filter))}&sort=-id`;
    expect(await readBack(format, (await byRest(ann, orders.id, format, query)).bytes, fields)).toEqual(wanted);
    expect(
      await readBack(
        format,
        (await byGraphql(ann, orders.id, format, { fields: ['region', 'id'], filter, sort: '-id' })).bytes,
        fields,
      ),
    ).toEqual(wanted);
  });

  test('is an empty file before the first refresh, and where nothing matches', async ({ ann, source, orders }) => {
    const { id } = await ann.creates('/datasets', {
      name: `Empty ${format}`,
      datasourceId: source.id,
      query: 'select 1 as one',
    });
    const { bytes } = await byRest(ann, id, format);
    if (format === 'parquet')
      expect([bytes.subarray(0, 4).toString(), bytes.subarray(-4).toString()]).toEqual(['PAR1', 'PAR1']);
    else expect((await readBack(format, bytes, [])).rows).toEqual([]);
    const none = await byRest(ann, orders.id, format, '&fields=id&filter=%7B%22id%22%3A-1%7D');
    expect((await readBack(format, none.bytes, [{ name: 'id', type: 'integer' }])).rows).toEqual([]);
  });

  test('is refused before its first byte', async ({ ann, orders }) => {
    expect(await ann.get(`/datasets/${orders.id}/export?format=${format}&fields=colour`)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('"colour"') },
    });
    expect(await ann.get(`/datasets/${orders.id}/export?format=${format}&filter=nowhere`)).toMatchObject({
      status: 404,
    });
    expect(await ann.get(`/datasets/nowhere/export?format=${format}`)).toMatchObject({ status: 404 });
  });

  test('is compressed when it is text, and nothing is twice', async ({ ann, orders }) => {
    const { headers } = await download(ann, `/datasets/${orders.id}/export?format=${format}`);
    expect(headers.get('content-encoding')).toEqual(format === 'csv' || format === 'json' ? 'br' : null);
  });
});

test('a CSV export is a record a line, and quotes what needs quotes', async ({ ann, orders, source }) => {
  const filter = encodeURIComponent('{"id":{"$in":[1,5]}}');
  const csv = await ann.get(`/datasets/${orders.id}/export?format=csv&filter=${filter}&sort=-id`);
  expect(csv.body).toBe(
    'id,region,amount,ordered_on,note\r\n5,US,50,2026-01-06,Rush delivery to Zoë\r\n1,US,10,2026-01-02,\r\n',
  );
  const { id } = await ann.creates('/datasets', {
    name: 'Odd',
    datasourceId: source.id,
    query: `select 'a,b' as x, 'say "hi"' as y, '' as z, null::text as n, '[1,2]'::jsonb as j`,
    refresh: true,
  });
  expect((await ann.get(`/datasets/${id}/export?format=csv`)).body).toBe(
    'x,y,z,n,j\r\n"a,b","say ""hi""","",,"[1,2]"\r\n',
  );
  expect(await ann.get(`/datasets/${orders.id}/export?format=pdf`)).toMatchObject({ status: 400 });
});

test('exports that are left end without harm, of every format more than can run at a time, and whole ones arrive', async ({
  ann,
  source,
}) => {
  const { id } = await ann.creates('/datasets', {
    name: 'Large',
    datasourceId: source.id,
    query: `select n as id, repeat(md5(n::text), 4) as filler from generate_series(1, 100000) n`,
    refresh: true,
  });
  for (const format of EXPORT_FORMATS) {
    await Promise.all(
      [1, 2, 3].map(async () => {
        // Not by fetch: it opens a connection in place of one that broke, and nothing would ever come on it.
        const left = await new Promise<IncomingMessage>((resolve) =>
          get(`${ann.url}/api/datasets/${id}/export?format=${format}`, { headers: ann.headers, agent: false }, resolve),
        );
        await once(left, 'data');
        left.destroy();
      }),
    );
  }
  for (const format of EXPORT_FORMATS) {
    const { rows } = await readBack(format, (await byRest(ann, id, format, '&fields=id')).bytes, [
      { name: 'id', type: 'integer' },
    ]);
    expect([format, rows.length, rows[0], rows.at(-1)]).toEqual([format, 100_000, { id: 1 }, { id: 100_000 }]);
  }
}, 60_000);

test('a row of very many columns is exported', async ({ ann, source }) => {
  const columns = Array.from({ length: 1500 }, (_, i) => (i % 2 ? `n + ${i} as c${i}` : `'text ' || n as c${i}`));
  const { id } = await ann.creates('/datasets', {
    name: 'Wide',
    datasourceId: source.id,
    query: `select ${columns.join(', ')} from generate_series(1, 300) n`,
    refresh: true,
  });
  const fields = columns.map((_, i) => ({ name: `c${i}`, type: i % 2 ? 'integer' : 'string' }) as const);
  for (const format of EXPORT_FORMATS) {
    const { rows } = await readBack(format, (await byRest(ann, id, format)).bytes, fields);
    expect(rows).toHaveLength(300);
    expect(rows.map(({ c1 }) => c1)).toEqual(Array.from({ length: 300 }, (_, i) => i + 2));
    expect(rows[299]).toMatchObject({ c0: 'text 300', c1499: 1799 });
  }
  const few = await byRest(ann, id, 'ndjson', `&filter=${encodeURIComponent('{"c1":{"$in":[2,11,290]}}')}`);
  expect((await readBack('ndjson', few.bytes, fields)).rows.map(({ c3 }) => c3)).toEqual([4, 13, 292]);
}, 60_000);
