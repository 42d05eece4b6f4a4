import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseCriteria } from '../../src/core/criteria/parse.ts';
import { ApiError, ERROR_CODES } from '../../src/core/errors.ts';
import type { Field } from '../../src/core/fields.ts';
import { FUNCTIONS } from '../../src/core/flow/functions.ts';
import { parseFlow } from '../../src/core/flow/parse.ts';
import { Criteria, FlowStepScalar } from '../../src/core/query-language.ts';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { createApiDocument } from '../conformance/openapi-document.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../docs/querying.md'), 'utf8');

const field = (name: string, type: Field['type']): Field => ({ name, label: name, type });
const FIELDS = [
  field('country', 'string'),
  field('customer', 'string'),
  field('name', 'string'),
  field('note', 'text'),
  field('amount', 'number'),
  field('ordered_at', 'datetime'),
];

/** Returns the JSON objects in backquotes, without objects that have an ellipsis. */
function examplesIn(text: string): Record<string, unknown>[] {
  return [...text.matchAll(/`(\{[^`]*\})`/g)]
    .map(([, json]) => json!)
    .filter((json) => json.includes('"') && !json.includes('…'))
    .map((json) => JSON.parse(json) as Record<string, unknown>);
}
const isStep = (example: Record<string, unknown>) => 'type' in example;
/** Returns the operators of criteria. */
const operatorsIn = (example: unknown): string[] => JSON.stringify(example).match(/\$\w+/g) ?? [];

const OPERATORS = ['$and', '$eq', '$exists', '$gt', '$gte', '$in', '$lt', '$lte', '$ne', '$nin', '$not', '$options'];

describe.each([
  ['docs/querying.md', DOCUMENT],
  ['the descriptions of the scalars', `${Criteria.description} ${FlowStepScalar.description}`],
])('the examples of %s', (_name, text) => {
  const criteria = examplesIn(text).filter((example) => !isStep(example));
  const steps = examplesIn(text).filter(isStep);

  test('are valid criteria and steps, in the service and by the schemas of OpenAPI', async () => {
    const { accepts } = await createApiDocument();
    const schemaOf = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    for (const example of criteria) expect(() => parseCriteria(example, FIELDS)).not.toThrow();
    for (const example of criteria) expect([example, accepts(schemaOf('Criteria'), example)]).toEqual([example, true]);
    expect(steps.flatMap((step) => parseFlow([step]))).toEqual(steps);
    for (const example of steps) expect([example, accepts(schemaOf('FlowStep'), example)]).toEqual([example, true]);
  });

  test('name every step, operator and function', () => {
    expect(new Set(steps.map(({ type }) => type))).toEqual(
      new Set(['filter', 'sort', 'limit', 'rename', 'remove', 'calculate']),
    );
    for (const operator of [...OPERATORS, '$or', '$regex']) expect(text).toContain(operator);
    for (const name of Object.keys(FUNCTIONS)) expect(text).toMatch(new RegExp(`[\` ]${name}\\b`));
    expect(new Set(criteria.flatMap(operatorsIn)).size).toBeGreaterThan(8);
  });
});

test('the schema of criteria refuses unknown operators and malformed steps', async () => {
  const { accepts } = await createApiDocument();
  const criteria = { $ref: '#/components/schemas/Criteria' };
  const refused = [[], { $foo: 1 }, { amount: { $between: [1, 2] } }, { amount: [1] }, { $and: {} }, { amount: {} }];
  for (const value of refused) expect([value, accepts(criteria, value)]).toEqual([value, false]);
  for (const value of refused) expect(() => parseCriteria(value, FIELDS)).toThrow(ApiError);
  const step = { $ref: '#/components/schemas/FlowStep' };
  for (const value of [{ type: 'drop' }, { type: 'limit', n: -1 }, { type: 'sort' }, { type: 'limit', n: 1, m: 1 }]) {
    expect([value, accepts(step, value)]).toEqual([value, false]);
    expect(() => parseFlow([value])).toThrow(ApiError);
  }
});

test('GraphQL and OpenAPI list the codes of errors', async () => {
  const { description } = (await createSchema()).getQueryType()!;
  for (const code of Object.keys(ERROR_CODES)) expect(description).toContain(`\`${code}\``);
  const { resolve } = await createApiDocument();
  const { properties } = resolve({ $ref: '#/components/schemas/ErrorResponse' }) as {
    properties: { code: { enum: string[] } };
  };
  expect(properties.code.enum).toEqual(Object.keys(ERROR_CODES));
});
