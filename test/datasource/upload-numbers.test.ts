import { expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { createForm, DATASETS } from '../support/upload-form.ts';

/** Uploads a file as a dataset. Returns its id. */
async function upload(client: Client, content: BlobPart, filename: string): Promise<string> {
  return (await client.creates(DATASETS, createForm(content, filename, { after: { name: filename } }))).id as string;
}

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
