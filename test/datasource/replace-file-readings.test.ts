import { expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { createForm, DATASETS } from '../support/upload-form.ts';
import { fileOf, REPLACE, rowsOf, upload } from './replacement.ts';

const CODES = 'plz;n\n01067;1\n80331;2\n';

test('codes that replace numbers are 409, and texts if they are forced, in both APIs', async ({ admin }) => {
  const { id, datasourceId, path } = await upload(admin, 'plz;n\n80331;1\n90210;2\n', 'plz.csv');
  const difference = /the column "plz" of "data" was number and is string/;
  const input = { file: fileOf(CODES), filename: 'new.csv', refresh: true };
  await expectError(admin.post(path, createForm(CODES, 'new.csv')), 409, difference);
  await expectGraphqlError(admin.gql(REPLACE, { id: datasourceId, input }), 'CONFLICT', difference);
  expect(await rowsOf(admin, id)).toEqual([
    { plz: 80331, n: 1 },
    { plz: 90210, n: 2 },
  ]);
  await expectStatus(
    admin.post(path, createForm(CODES, 'new.csv', { before: { force: 'true', refresh: 'true' } })),
    200,
  );
  const rows = [
    { plz: '01067', n: 1 },
    { plz: '80331', n: 2 },
  ];
  expect(await rowsOf(admin, id)).toEqual(rows);
  await expectStatus(admin.post(`/datasets/${id}/_refresh`, {}), 200);
  expect(await rowsOf(admin, id)).toEqual(rows);

  const config = JSON.stringify({ columns: ['plz', 'n'].map((name) => ({ name, type: 'BIGINT' })) });
  const misfit = /^Line 2 of the file, column "plz": "01067" is not a BIGINT\. /;
  await expectError(admin.post(DATASETS, createForm(CODES, 'plz.csv', { before: { config } })), 400, misfit);
  const forced = { before: { config, force: 'true' } };
  await expectError(admin.post(path, createForm(CODES, 'plz.csv', forced)), 400, misfit);
});

test('the former reading of ambiguous dates is reported, in both APIs', async ({ admin }) => {
  const { id, datasourceId, path } = await upload(admin, 'id;d\n1;13/01/2025\n', 'days.csv');
  const content = 'id;d\n1;01/02/2025\n';
  const message =
    'The values can be read in several ways, and are read as in the former file, with the dateFormat "%d/%m/%Y". ' +
    'Set dateFormat, or its type in columns';
  const problems = [{ column: 'd', message }];
  await expectBody(admin.post(path, createForm(content, 'new.csv', { before: { refresh: 'true' } })), 200, {
    problems,
  });
  await expectBody(admin.get(`/datasources/${datasourceId}`), 200, { problems });
  expect(await rowsOf(admin, id)).toEqual([{ id: 1, d: '2025-02-01' }]);
  const input = { file: fileOf(content), filename: 'new.csv', refresh: true };
  const { replaceDatasourceFile } = await admin.data(REPLACE, { id: datasourceId, input });
  expect(replaceDatasourceFile).toMatchObject({ operation: { status: 'SUCCEEDED' }, problems: [{ message }] });
  expect(await rowsOf(admin, id)).toEqual([{ id: 1, d: '2025-02-01' }]);
});
