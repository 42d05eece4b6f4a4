import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody } from '../support/expect.ts';
import { readBack } from '../support/export-readers.ts';
import { test } from '../support/fixture.ts';
import { createForm, DATASETS } from '../support/upload-form.ts';

/** Uploads a file as a dataset. Returns its id. */
async function upload(client: Client, content: BlobPart, filename: string): Promise<string> {
  return (await client.creates(DATASETS, createForm(content, filename, { after: { name: filename } }))).id as string;
}

const PREVIEW = `mutation ($input: UploadDatasetInput!) { previewUpload(input: $input) { rows problems { line } } }`;

const MEASURES = [
  { fn: 'sum', field: 'x', as: 'sum' },
  { fn: 'avg', field: 'x', as: 'avg' },
];
const AGGREGATE = `query ($id: ID!, $measures: [MeasureInput!]!) {
  dataset(id: $id) { aggregate(measures: $measures) { rows } discover(fields: ["x"]) { fields { avg stdDev max } } }
}`;

test('aggregates past a double are null in both APIs, in data of visuals and in pictures', async ({ ann }) => {
  const id = await upload(ann, 'g,x\na,1.7976931348623157e308\na,1.7976931348623157e308\nb,-3e180\n', 'large.csv');
  await expectBody(ann.get(`/datasets/${id}/discover?fields=x`), 200, {
    fields: [{ max: Number.MAX_VALUE, avg: expect.any(Number), stdDev: expect.any(Number) }],
  });
  await expectBody(ann.post(`/datasets/${id}/_aggregate`, { measures: MEASURES }), 200, { rows: [[null, null]] });
  const { dataset } = await ann.data(AGGREGATE, {
    id,
    measures: MEASURES.map(({ fn, ...m }) => ({ ...m, fn: fn.toUpperCase() })),
  });
  expect(dataset.aggregate.rows).toEqual([[null, null]]);
  expect(dataset.discover.fields).toEqual([
    { max: Number.MAX_VALUE, avg: expect.any(Number), stdDev: expect.any(Number) },
  ]);
  for (const [component, config] of [
    ['gauge', { valueField: 'x' }],
    ['bar-chart', { xAxis: 'g', yAxis: 'x' }],
    ['pie-chart', { categoryField: 'g', valueField: 'x' }],
  ] as const) {
    const { id: visual } = await ann.creates(`/datasets/${id}/visuals`, { component, config, name: component });
    const path = `/datasets/${id}/visuals/${visual}`;
    expect(await ann.get(`${path}/data`), component).toMatchObject({ status: 200 });
    expect(await ann.get(`${path}/image.svg`), component).toMatchObject({ status: 200 });
  }
});

const LONG = '9007199254740993';
const ROWS = `query ($id: ID!) { dataset(id: $id) { data { items fields { name type format } } } }`;

test('numbers inside JSON keep their digits in both APIs and in exports', async ({ ann }) => {
  const lines = [
    `{"o":{"id":${LONG},"d":1234567890123.4567},"ids":[${LONG}],"amount":8888888888888.8881}`,
    '{"amount":0.5}',
  ];
  const id = await upload(ann, lines.join('\n'), 'ids.ndjson');
  const rows = [
    { o: { id: LONG, d: '1234567890123.4567' }, ids: [LONG], amount: '8888888888888.8881' },
    { o: null, ids: null, amount: '0.5' },
  ];
  const body = await expectBody(ann.get(`/datasets/${id}/data`), 200, { _embedded: { 'svc:record': rows } });
  const { dataset } = await ann.data(ROWS, { id });
  expect(dataset.data.items).toEqual(rows);
  expect(dataset.data.fields[2]).toEqual({ name: 'amount', type: 'NUMBER', format: 'DECIMAL' });
  for (const format of ['csv', 'json', 'parquet'] as const) {
    const response = await fetch(`${ann.url}/api/datasets/${id}/export?format=${format}`, { headers: ann.headers });
    const read = await readBack(format, Buffer.from(await response.arrayBuffer()), body.fields);
    expect(read.rows, format).toEqual(rows);
  }
});

test('durations, times and paragraphs of workbooks are read by upload and preview', async ({ ann }) => {
  const file = (name: string) => readFileSync(join(import.meta.dirname, '../corpus/sheets', name));
  const id = await upload(ann, file('elapsed.xlsx'), 'elapsed.xlsx');
  await expectBody(ann.get(`/datasets/${id}/data?limit=1`), 200, { _embedded: { 'svc:record': [{ h: '07:30:00' }] } });
  const input = (name: string) => ({ filename: name, file: `data:;base64,${file(name).toString('base64')}` });
  const preview = async (name: string) => (await ann.data(PREVIEW, { input: input(name) })).previewUpload;
  expect(await preview('day-zero.xlsx')).toMatchObject({
    rows: [{ day: null }, {}, {}, {}],
    problems: [{ line: 2 }, { line: 3 }, { line: 5 }],
  });
  expect((await preview('two-paragraphs.ods')).rows).toEqual([{ note: 'Dear Ann,\n\nthanks' }]);
});
