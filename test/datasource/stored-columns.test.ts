import { expect } from 'vitest';
import { expectError, expectGraphqlError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { createForm, DATASOURCES } from '../support/upload-form.ts';

const UPDATE =
  'mutation ($id: ID!, $input: UpdateDatasourceInput!) { updateDatasource(id: $id, input: $input) { id } }';

const CASES: [filename: string, content: string, type: string, place: RegExp][] = [
  ['x.csv', 'a,b\n1,x\n007,y\n', 'BIGINT', /^Line 3 of the file, column "a": "007" is not a BIGINT/],
  [
    'x.ndjson',
    '{"a":"1","b":2}\n{"a":"x","b":2}\n',
    'DOUBLE',
    /^Record 2 of the file, column "a": "x" is not a DOUBLE/,
  ],
  ['x.json', '[{"a":"1"},{"a":"maybe"}]', 'BOOLEAN', /^Record 2 of the file, column "a": "maybe" is not a BOOLEAN/],
];

test.for(CASES)(
  'columns of a stored %s are checked with its values',
  async ([filename, content, type, place], { admin }) => {
    const { id } = (await admin.post(DATASOURCES, createForm(content, filename))).body;
    const path = `/datasources/${id}`;
    const { body } = await admin.get(path);
    const columns = body.config.columns as { name: string; type: string }[];
    const config = { ...body.config, columns: columns.map((one) => (one.name === 'a' ? { ...one, type } : one)) };
    await expectError(admin.put(path, { config }), 400, place);
    await expectGraphqlError(admin.gql(UPDATE, { id, input: { config } }), 'BAD_USER_INPUT', place);
    expect((await admin.get(path)).body.config).toEqual(body.config);
    const texts = { ...body.config, columns: columns.map((one) => ({ ...one, type: 'VARCHAR' })) };
    expect((await admin.put(path, { config: texts })).status).toBe(200);
  },
);

test('an unknown type of a column is refused with the permitted ones', async ({ admin }) => {
  const { body } = await admin.post(DATASOURCES, createForm('a\n1\n', 'x.csv'));
  const config = { columns: [{ name: 'a', type: 'INTEGER' }] };
  const message =
    /^config\.columns\.0\.type must be like one of VARCHAR, BIGINT, UBIGINT, DOUBLE, BOOLEAN, DATE, TIMESTAMP, JSON, DECIMAL\(12,2\)$/;
  await expectError(admin.put(`/datasources/${body.id}`, { config }), 400, message);
  const form = createForm('a\n1\n', 'x.csv', { after: { config: JSON.stringify(config) } });
  await expectError(admin.post(DATASOURCES, form), 400, message);
});
