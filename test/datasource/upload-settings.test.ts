import { expect } from 'vitest';
import { expectError, expectInvalid } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { createForm, DATASETS, DATASOURCES } from '../support/upload-form.ts';

// Each loaded upload starts several processes, which takes long on two busy cores.
const UPLOAD = `mutation ($input: UploadDatasetInput!) {
  uploadDataset(input: $input) { result { data { fields { name type } items } } }
}`;
const fileOf = (content: string) => `data:text/csv;base64,${Buffer.from(content).toString('base64')}`;

/** File, its given settings, the fields and the rows of the dataset. */
type Case = [content: string, config: Record<string, unknown>, fields: [name: string, type: string][], rows: unknown[]];

const OVERRIDES: Case[] = [
  [
    'Report\nMade 2026\n\nregion,sales\nNorth,10\n',
    { skip: 3 },
    [
      ['region', 'string'],
      ['sales', 'integer'],
    ],
    [{ region: 'North', sales: 10 }],
  ],
  [
    'a|b;c|d\n1|2;3|4\n',
    { delimiter: ';' },
    [
      ['a|b', 'string'],
      ['c|d', 'string'],
    ],
    [{ 'a|b': '1|2', 'c|d': '3|4' }],
  ],
  [
    '1,x\n2,y\n',
    { header: true },
    [
      ['1', 'integer'],
      ['x', 'string'],
    ],
    [{ '1': 2, x: 'y' }],
  ],
  [
    'Kunde;Umsatz;Datum;Menge\nMüller;1.234,56;31.12.2025;1.234\nMeier;NA;1.2.2026\n',
    { ragged: true },
    [
      ['Kunde', 'string'],
      ['Umsatz', 'number'],
      ['Datum', 'date'],
      ['Menge', 'string'],
    ],
    [
      { Kunde: 'Müller', Umsatz: 1234.56, Datum: '2025-12-31', Menge: '1.234' },
      { Kunde: 'Meier', Umsatz: null, Datum: '2026-02-01', Menge: null },
    ],
  ],
  [
    'Store;Sales;Date;Qty\nA;$1,234.50;01/02/2026;1,234\n',
    { decimal: '.', dateFormat: '%m/%d/%Y', nullValues: ['?'] },
    [
      ['Store', 'string'],
      ['Sales', 'number'],
      ['Date', 'date'],
      ['Qty', 'integer'],
    ],
    [{ Store: 'A', Sales: 1234.5, Date: '2026-01-02', Qty: 1234 }],
  ],
];

test.for(OVERRIDES)(
  '%j with %j is recognised with the given settings',
  async ([content, config, fields, rows], { ann }) => {
    const form = createForm(content, 'p.csv', { after: { config: JSON.stringify(config) } });
    const { status, body } = await ann.post(DATASETS, form);
    expect(status, JSON.stringify(body)).toBe(201);
    const data = (await ann.get(`/datasets/${body.id}/data`)).body;
    expect(data.fields.map(({ name, type }: { name: string; type: string }) => [name, type])).toEqual(fields);
    expect(data._embedded['svc:record']).toEqual(rows);

    const input = { file: fileOf(content), filename: 'p.csv', config };
    const { uploadDataset } = await ann.data(UPLOAD, { input });
    expect(uploadDataset.result.data).toEqual({
      fields: fields.map(([name, type]) => ({ name, type: type.toUpperCase() })),
      items: rows,
    });
  },
);

test('a setting that is unknown or does not fit the file is 400', async ({ admin }) => {
  const post = (config: Record<string, unknown>, content = 'a,b\n1,2\n') =>
    admin.post(DATASOURCES, createForm(content, 'p.csv', { before: { config: JSON.stringify(config) } }));
  await expectInvalid(post({ delimitter: ';' }), 'config.delimitter', 'config.delimitter is unknown');
  await expectInvalid(post({ delimiter: ';;' }), 'config.delimiter', /1/);
  await expectError(
    post({ columns: [{ name: 'a', type: 'BIGINT' }] }),
    400,
    /^Line 2 of the file: Expected number of columns: 1, found: 2\. Set ragged /,
  );
});
