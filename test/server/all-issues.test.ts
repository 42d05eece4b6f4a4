import { expect } from 'vitest';
import type { ValidationIssue } from '../../src/core/errors.ts';
import { test } from '../support/fixture.ts';

const INPUT = { name: '', datasourceId: 'x', query: '', description: '\u0001' };
const ISSUES = [
  ['name', 'name must not be empty'],
  ['description', 'description must not contain control characters'],
  ['query', 'query must not be empty'],
];

const print = (validation: ValidationIssue[]) =>
  validation.map(({ path, message }) => [path.join('.'), message]).toSorted();

test('all invalid values of an input are reported together, in both APIs', async ({ admin }) => {
  const { status, body } = await admin.post('/queries', INPUT);
  expect(status).toBe(400);
  expect(print(body.validation)).toEqual(ISSUES.toSorted());

  const create = 'mutation ($input: CreateSavedQueryInput!) { createSavedQuery(input: $input) { id } }';
  const { errors } = await admin.gql(create, { input: INPUT });
  expect(errors).toHaveLength(1);
  expect(errors[0].extensions.code).toBe('BAD_USER_INPUT');
  expect(print(errors[0].extensions.validation)).toEqual(ISSUES.toSorted());
});
