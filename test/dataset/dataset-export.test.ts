import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { readXlsx } from 'hucre/xlsx';
import { describe, expect } from 'vitest';
import { EXPORT_FORMATS, type ExportFormat } from '../../src/core/export-format.ts';
import type { Field } from '../../src/core/fields.ts';
import type { Client } from '../support/client.ts';
import { expectError, expectInvalid } from '../support/expect.ts';
import { readBack } from '../support/export-readers.ts';
import { openSocket } from '../support/follow-operation.ts';
import { test as base } from '../support/shop-fixture.ts';
import { createOrders, recordsOf } from './dataset-fixture.ts';

/** Values of every type that a format could change. */
const AWKWARD_VALUES = `
  select * from (values
    (
      1, E'=1+1\\n"a,b"\\r\\n_x0041_ \\u0001 😀', 2.5::float8, true, date '0001-01-01',
      timestamptz '1899-12-31 23:59:59.999+00', '{"a": [1, null, "ü"]}'::jsonb, 9223372036854775807::bigint,
      1234567890.12345678901::numeric, ''
    ),
    (
      2, '', -0.1, false, date '1969-07-20', timestamptz '2024-02-29 12:30:00.001+00', '"text"', -9007199254740993,
      0.1, ' '
    ),
    (
      9007199254740991, null, 5e-7, null, date '9999-12-31', timestamptz '9999-12-31 23:59:59.999+00', '0', null,
      -0.5, repeat('x', 9000)
    ),
    (-3, 'a' || chr(9) || ' ', 1e21, null, null, null, 'false', 0, null, null)
  ) v(id, "Name ""x""", number, ok, day, at, doc, big, "exact.digits", long)`;

const AWKWARD_TYPES = [
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
];

const CONTENT_TYPES: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  parquet: 'application/vnd.apache.parquet',
};

interface ExportedFile {
  bytes: Buffer;
  filename: string;
  contentType: string;
}

/** The shop with a dataset of its orders and one of awkward values. */
const test = base.extend<{ orders: { id: string }; awkward: { id: string } }>({
  orders: [async ({ ann, source }, use) => use(await createOrders(ann, source, { refresh: true })), { scope: 'file' }],
  awkward: [
    async ({ ann, source }, use) =>
      use(await createOrders(ann, source, { name: 'Awkward', query: AWKWARD_VALUES, refresh: true })),
    { scope: 'file' },
  ],
});

const download = (reader: Client, path: string) =>
  fetch(`${reader.url}/api${path}`, { headers: { ...reader.headers, 'accept-encoding': 'gzip, br' } });

async function exportByRest(reader: Client, id: string, format: ExportFormat, query = ''): Promise<ExportedFile> {
  const response = await download(reader, `/datasets/${id}/export?format=${format}${query}`);
  expect(response.status).toBe(200);
  return {
    bytes: Buffer.from(await response.arrayBuffer()),
    filename: /^attachment; filename="(.*)"$/.exec(response.headers.get('content-disposition')!)![1]!,
    contentType: response.headers.get('content-type')!,
  };
}

interface Chunk {
  text: string;
  encoding: 'UTF8' | 'BASE64';
  filename: string;
  contentType: string;
}

async function exportByGraphql(
  reader: Client,
  id: string,
  format: ExportFormat,
  variables: Record<string, unknown> = {},
): Promise<ExportedFile> {
  const subscription = `
    subscription ($fields: [String!], $filter: RowFilter, $sort: String, $bom: Boolean, $escapeFormulas: Boolean) {
      datasetExport(
        id: "${id}", format: ${format.toUpperCase()}, fields: $fields, filter: $filter, sort: $sort
        bom: $bom, escapeFormulas: $escapeFormulas
      ) {
        text encoding filename contentType
      }
    }`;
  const socket = openSocket(reader);
  try {
    const chunks: Chunk[] = [];
    for await (const { data, errors } of socket.iterate<{ datasetExport: Chunk }>(subscription, variables)) {
      expect(errors).toBeUndefined();
      chunks.push(data!.datasetExport);
    }
    const { filename, contentType } = chunks.at(-1)!;
    const bytes = chunks.map(({ text, encoding }) => Buffer.from(text, encoding === 'BASE64' ? 'base64' : 'utf8'));
    return { bytes: Buffer.concat(bytes), filename, contentType };
  } finally {
    await socket.dispose();
  }
}

const filterParameter = (criteria: object): string => `&filter=${encodeURIComponent(JSON.stringify(criteria))}`;

describe.each(EXPORT_FORMATS)('an export as %s', (format) => {
  test('has the rows of the data in both APIs, with awkward values of every type', async ({ ann, awkward }) => {
    const { body } = await ann.get(`/datasets/${awkward.id}/data`);
    const fields = body.fields as Field[];
    expect(fields.map((field) => field.format ?? field.type)).toEqual(AWKWARD_TYPES);
    for (const exportFile of [exportByRest, exportByGraphql]) {
      const { bytes, filename, contentType } = await exportFile(ann, awkward.id, format);
      expect({ filename, contentType }).toEqual({ filename: `awkward.${format}`, contentType: CONTENT_TYPES[format] });
      expect(await readBack(format, bytes, fields)).toEqual({
        names: fields.map(({ name }) => name),
        rows: recordsOf(body),
      });
      if (format === 'xlsx')
        expect((await readXlsx(bytes)).sheets.map(({ name }) => name)).toEqual([
          (await ann.get(`/datasets/${awkward.id}`)).body.name,
        ]);
    }
  });

  test('has the requested fields, rows and order', async ({ ann, orders }) => {
    const fields = [
      { name: 'region', type: 'string' },
      { name: 'id', type: 'integer' },
    ] as const;
    const expected = {
      names: ['region', 'id'],
      rows: [
        { region: 'US', id: 5 },
        { region: 'APAC', id: 2 },
        { region: 'US', id: 1 },
      ],
    };
    const filter = { id: { $in: [1, 5, 2] } };
    const query = `&fields=region,id${filterParameter(filter)}&sort=-id`;
    const byRest = await exportByRest(ann, orders.id, format, query);
    expect(await readBack(format, byRest.bytes, fields)).toEqual(expected);
    const variables = { fields: ['region', 'id'], filter, sort: '-id' };
    const byGraphql = await exportByGraphql(ann, orders.id, format, variables);
    expect(await readBack(format, byGraphql.bytes, fields)).toEqual(expected);
  });

  test('is an empty file before the first refresh, and if no row matches', async ({ ann, source, orders }) => {
    const { id } = await createOrders(ann, source, { name: `Empty ${format}`, query: 'select 1 as one' });
    const { bytes } = await exportByRest(ann, id, format);
    if (format === 'parquet')
      expect([bytes.subarray(0, 4).toString(), bytes.subarray(-4).toString()]).toEqual(['PAR1', 'PAR1']);
    else expect((await readBack(format, bytes, [])).rows).toEqual([]);

    const none = await exportByRest(ann, orders.id, format, `&fields=id${filterParameter({ id: -1 })}`);
    expect((await readBack(format, none.bytes, [{ name: 'id', type: 'integer' }])).rows).toEqual([]);
  });

  test('is refused before its first byte', async ({ ann, orders }) => {
    const path = `/datasets/${orders.id}/export?format=${format}`;
    await expectError(ann.get(`${path}&fields=colour`), 400, /"colour"/);
    await expectError(ann.get(`${path}&filter=nowhere`), 404);
    await expectError(ann.get(`/datasets/nowhere/export?format=${format}`), 404);
  });

  test('is compressed if it is text, and never twice', async ({ ann, orders }) => {
    const { headers } = await download(ann, `/datasets/${orders.id}/export?format=${format}`);
    expect(headers.get('content-encoding')).toEqual(format === 'csv' || format === 'json' ? 'br' : null);
  });
});

test('a CSV export has one record a line, and quotes values where required', async ({ ann, orders, source }) => {
  const query = `${filterParameter({ id: { $in: [1, 5] } })}&sort=-id`;
  const csv = await ann.get(`/datasets/${orders.id}/export?format=csv${query}`);
  expect(csv.body).toBe(
    'id,region,amount,ordered_on,note\r\n5,US,50.0,2026-01-06,Rush delivery to Zoë\r\n1,US,10.0,2026-01-02,\r\n',
  );
  const quoted = await createOrders(ann, source, {
    name: 'Quoted',
    query: `select 'a,b' as x, 'say "hi"' as y, '' as z, null::text as n, '[1,2]'::jsonb as j`,
    refresh: true,
  });
  const quotedCsv = await ann.get(`/datasets/${quoted.id}/export?format=csv`);
  expect(quotedCsv.body).toBe('x,y,z,n,j\r\n"a,b","say ""hi""","",,"[1,2]"\r\n');
  await expectError(ann.get(`/datasets/${orders.id}/export?format=pdf`), 400);
});

/** Starts an export and drops the connection at the first bytes. */
async function abandonExport(reader: Client, id: string, format: ExportFormat): Promise<void> {
  // Not by fetch, which replaces a broken connection by one that never receives anything.
  const response = await new Promise<IncomingMessage>((resolve) =>
    get(`${reader.url}/api/datasets/${id}/export?format=${format}`, { headers: reader.headers, agent: false }, resolve),
  );
  await once(response, 'data');
  response.destroy();
}

test('a CSV export for spreadsheets has a byte order mark, and no formulas', async ({ ann, source }) => {
  const query = `select * from (values ('=1+1', -1, '{"a":"=1"}'::json, 'ü'), ('-x', 2, null, '@y')) v("=id", n, j, t)`;
  const { id } = await createOrders(ann, source, { query, refresh: true });
  const exact = '=id,n,j,t\r\n=1+1,-1,"{""a"":""=1""}",ü\r\n-x,2,,@y\r\n';
  const escaped = exact.replace('=id', "'=id").replace('=1+1', "'=1+1").replace('-x', "'-x").replace('@y', "'@y");
  const plain = [await exportByRest(ann, id, 'csv'), await exportByGraphql(ann, id, 'csv')];
  const styled = [
    await exportByRest(ann, id, 'csv', '&bom=true&escapeFormulas=true'),
    await exportByGraphql(ann, id, 'csv', { bom: true, escapeFormulas: true }),
  ];
  expect(plain.map(({ bytes }) => bytes.toString())).toEqual([exact, exact]);
  expect(styled.map(({ bytes }) => bytes.toString())).toEqual([`\uFEFF${escaped}`, `\uFEFF${escaped}`]);
  const path = `/datasets/${id}/export?format=json`;
  await expectInvalid(ann.get(`${path}&bom=true`), 'bom', 'bom applies to csv only');
  await expectInvalid(ann.get(`${path}&escapeFormulas=true`), 'escapeFormulas', 'escapeFormulas applies to csv only');
});

test('abandoned exports, more than can run at a time, do not block later ones', async ({ ann, source }) => {
  const { id } = await createOrders(ann, source, {
    name: 'Large',
    query: `select n as id, repeat(md5(n::text), 4) as filler from generate_series(1, 100000) n`,
    refresh: true,
  });
  for (const format of EXPORT_FORMATS) await Promise.all([1, 2, 3].map(() => abandonExport(ann, id, format)));
  for (const format of EXPORT_FORMATS) {
    const { bytes } = await exportByRest(ann, id, format, '&fields=id');
    const { rows } = await readBack(format, bytes, [{ name: 'id', type: 'integer' }]);
    expect([format, rows.length, rows[0], rows.at(-1)]).toEqual([format, 100_000, { id: 1 }, { id: 100_000 }]);
  }
});

test('rows with 1500 columns are exported', async ({ ann, source }) => {
  const columns = Array.from({ length: 1500 }, (_, i) => (i % 2 ? `n + ${i} as c${i}` : `'text ' || n as c${i}`));
  const fields = columns.map((_, i) => ({ name: `c${i}`, type: i % 2 ? 'integer' : 'string' }) as const);
  const { id } = await createOrders(ann, source, {
    name: 'Wide',
    query: `select ${columns.join(', ')} from generate_series(1, 300) n`,
    refresh: true,
  });
  for (const format of EXPORT_FORMATS) {
    const { bytes } = await exportByRest(ann, id, format);
    const { rows } = await readBack(format, bytes, fields);
    expect(rows).toHaveLength(300);
    expect(rows.map(({ c1 }) => c1)).toEqual(Array.from({ length: 300 }, (_, i) => i + 2));
    expect(rows[299]).toMatchObject({ c0: 'text 300', c1499: 1799 });
  }
  const few = await exportByRest(ann, id, 'ndjson', filterParameter({ c1: { $in: [2, 11, 290] } }));
  const { rows } = await readBack('ndjson', few.bytes, fields);
  expect(rows.map(({ c3 }) => c3)).toEqual([4, 13, 292]);
});
