import { expect } from 'vitest';
import { checkFlow, type FlowColumn } from '../../src/core/flow/check.ts';
import { upload } from '../datasource/replacement.ts';
import { createJob } from '../job/job-fixture.ts';
import { expectError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';

/* Errors name a value that does not fit the fields of a dataset with its path and a similar name, in both APIs. */

const HINT = 'Unknown field "contry". Did you mean "country"?';
const NO_HINT = 'Unknown field "zzzzzz"';

/** Queries of rows: arguments of GraphQL, the path of the issue, and the message. */
const QUERIES: [string, (string | number)[], string][] = [
  ['data(filter: {contry: "DE"})', ['filter', 'contry'], HINT],
  ['data(filter: {zzzzzz: "DE"})', ['filter', 'zzzzzz'], NO_HINT],
  ['data(filter: {and: [{country: "DE"}]})', ['filter', 'and'], 'Unknown field "and". Did you mean "$and"?'],
  [
    'data(filter: {country: {eq: "DE"}})',
    ['filter', 'country', 'eq'],
    'Unknown operator "eq" for the field "country". Did you mean "$eq"?',
  ],
  ['data(sort: "-contry")', ['sort'], HINT],
  ['data(fields: ["amount", "contry"])', ['fields', 1], HINT],
  ['aggregate(measures: [{fn: COUNT, as: "n"}], groupBy: [{field: "contry"}])', ['groupBy', 0, 'field'], HINT],
  ['aggregate(measures: [{fn: COUNT, as: "n"}, {fn: SUM, as: "s", field: "contry"}])', ['measures', 1, 'field'], HINT],
];

test('an unknown name in a query of rows is an issue with its path', async ({ ann }) => {
  const { id } = await upload(ann, 'country,amount\nDE,1\n', 'orders.csv');
  for (const [query, path, message] of QUERIES) {
    const { errors } = await ann.gql(`{ dataset(id: "${id}") { ${query} { total } } }`);
    expect(errors, query).toMatchObject([
      { message, extensions: { code: 'BAD_USER_INPUT', validation: [{ path, message, code: 'unknown' }] } },
    ]);
  }
});

test('so is one in what is stored: saved filters, references, actions of jobs and flows', async ({ ann }) => {
  const { id } = await upload(ann, 'country,amount\nDE,1\n', 'orders.csv');
  const report = await ann.creates('/reports', { name: 'Orders' });
  const job = await createJob(ann, {});
  const condition = { field: 'contry', op: 'eq', value: 'DE' };
  for (const [request, path] of [
    [ann.get(`/datasets/${id}/data?filter=${encodeURIComponent('{"contry": "DE"}')}`), ['filter', 'contry']],
    [
      ann.get(`/datasets/${id}/data?filter=${encodeURIComponent('{"$or": [{"amount": 1}, {"contry": "DE"}]}')}`),
      ['filter', '$or', 1, 'contry'],
    ],
    [ann.get(`/datasets/${id}/data?sort=contry`), ['sort']],
    [
      ann.post(`/datasets/${id}/filters`, { name: 'x', criteria: { $not: { contry: 1 } } }),
      ['criteria', '$not', 'contry'],
    ],
    [
      ann.post(`/reports/${report.id}/dataset-refs`, {
        alias: 'o',
        label: 'O',
        datasetId: id,
        reportId: report.id,
        filter: { criteria: [condition] },
      }),
      ['filter', 'criteria', 0],
    ],
    [
      ann.post(`/reports/${report.id}/dataset-refs`, {
        alias: 'o',
        label: 'O',
        datasetId: id,
        reportId: report.id,
        chips: [{ field: 'contry', label: 'C' }],
      }),
      ['chips', 0, 'field'],
    ],
    [
      ann.post(`${job.path}/actions`, {
        type: 'export',
        name: 'x',
        data: { datasetId: id, format: 'csv', filter: { contry: 1 } },
      }),
      ['data', 'filter', 'contry'],
    ],
  ] as const) {
    const response = await request;
    await expectError(response, 400, /Unknown field "contry"\. Did you mean "country"\?$/);
    expect(response.body.validation, path.join('.')).toMatchObject([{ path: [...path], code: 'unknown' }]);
  }
  for (const [step, path] of [
    [{ type: 'sort', field: 'contry' }, ['flow', 0, 'field']],
    [{ type: 'remove', fields: ['amount', 'contry'] }, ['flow', 0, 'fields', 1]],
    [{ type: 'filter', criteria: { contry: { $gt: 1 } } }, ['flow', 0, 'criteria', 'contry']],
  ] as const) {
    const columns: FlowColumn[] = ['country', 'amount'].map((name) => ({ name, type: 'string' }));
    const message = `Flow step 1 (${step.type}): ${HINT}`;
    expect(() => checkFlow([step as never], columns)).toThrow(
      expect.objectContaining({ message, validation: [expect.objectContaining({ path, code: 'unknown' })] }),
    );
  }
  const { body } = await ann.put(`/datasets/${id}`, { flow: [{ type: 'limit', n: 5 }, { type: 'sort' }] });
  expect(body.validation).toMatchObject([{ path: ['flow', 1, 'field'], message: 'field is missing' }]);
});
