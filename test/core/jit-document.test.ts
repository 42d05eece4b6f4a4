import { buildSchema, execute, parse, type GraphQLObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { compileDocument } from '../../src/core/jit-document.ts';

/** Values by the scalar that serializes them: of its own type, of others, and some that it refuses. */
const VALUES = {
  String: ['text', '', 3, true, new Date(0), {}, null],
  ID: ['1', 7, 1.5, true, null],
  Boolean: [true, false, 1, 0, 'yes', null],
};

const CASES = Object.entries(VALUES).flatMap(([scalar, values]) => values.map((value) => ({ scalar, value })));

test.each(CASES)('a compiled document serializes the $scalar $value as graphql-js does', async ({ scalar, value }) => {
  const schema = buildSchema(`type Query { nullable: ${scalar}, required: [${scalar}!] }`);
  const { nullable, required } = (schema.getQueryType() as GraphQLObjectType).getFields();
  nullable!.resolve = () => value;
  required!.resolve = () => [value];
  const document = parse('{ nullable required }');
  const expected = await execute({ schema, document });
  const { data, errors } = await compileDocument(schema, document)!({}, {});
  expect(data).toEqual(JSON.parse(JSON.stringify(expected.data)));
  expect(errors?.map(({ message }) => message).toSorted()).toEqual(
    expected.errors?.map(({ message }) => message).toSorted(),
  );
});
