import { BreakingChangeType, buildSchema, DangerousChangeType } from 'graphql';
import { expect, test } from 'vitest';
import { findSchemaChanges } from '../../src/core/schema-changes.ts';

const BEFORE = `
  directive @gone on FIELD
  directive @kept(old: Int) repeatable on FIELD | QUERY
  interface Named { name: String }
  type Query {
    removed: Int changed: Int field(old: Int, changed: Int, defaulted: Int = 1): Int adding: Int
    union: U enum: E ref: [A] kind: Kind scalar: Float
  }
  type A implements Named { name: String }
  type B { b: Int }
  type Kind { k: Int }
  type Removed { r: Int }
  union U = A | B
  enum E { ONE TWO }
  input In { gone: Int changed: Int }
  input On { a: Int b: Int }
  input Off @oneOf { a: Int b: Int }`;
const AFTER = `
  directive @kept(needed: Int!) on FIELD
  interface Named { name: String }
  interface More { name: String }
  type Query {
    changed: String field(changed: String, defaulted: Int = 2): Int adding(needed: Int!, optional: Int): Int
    union: U enum: E ref: [A] kind: Kind
  }
  type A { name: String }
  type B implements More { b: Int name: String }
  type C { c: Int }
  interface Kind { k: Int }
  union U = B | C
  enum E { ONE THREE }
  input In { changed: String needed: Int! optional: Int }
  input On @oneOf { a: Int b: Int }
  input Off { a: Int b: Int }`;

test('every kind of change has the coordinates of the requests that it may affect', () => {
  const changes = findSchemaChanges(buildSchema(BEFORE), buildSchema(AFTER));
  const found = changes.map(({ criticality, type, coordinate, affected }) =>
    [criticality, type, coordinate, affected.join(' ')].join(' | '),
  );
  expect(found.toSorted()).toEqual([
    'BREAKING | ARG_CHANGED_KIND | Query.field(changed:) | Query.field(changed:)',
    'BREAKING | ARG_REMOVED | Query.field(old:) | Query.field(old:)',
    'BREAKING | DIRECTIVE_ARG_REMOVED | @kept | @kept',
    'BREAKING | DIRECTIVE_LOCATION_REMOVED | @kept | @kept',
    'BREAKING | DIRECTIVE_REMOVED | @gone | @gone',
    'BREAKING | DIRECTIVE_REPEATABLE_REMOVED | @kept | @kept',
    'BREAKING | FIELD_CHANGED_KIND | In.changed | In.changed In',
    'BREAKING | FIELD_CHANGED_KIND | Query.changed | Query.changed',
    'BREAKING | FIELD_REMOVED | In.gone | In.gone In',
    'BREAKING | FIELD_REMOVED | Query.removed | Query.removed',
    'BREAKING | FIELD_REMOVED | Query.scalar | Query.scalar',
    'BREAKING | IMPLEMENTED_INTERFACE_REMOVED | A | A A.name',
    'BREAKING | ONE_OF_ADDED | On | On On.a On.b',
    'BREAKING | REQUIRED_ARG_ADDED | Query.adding | Query.adding',
    'BREAKING | REQUIRED_DIRECTIVE_ARG_ADDED | @kept | @kept',
    'BREAKING | REQUIRED_INPUT_FIELD_ADDED | In | In In.gone In.changed',
    'BREAKING | TYPE_CHANGED_KIND | Kind | Kind Kind.k',
    'BREAKING | TYPE_REMOVED | Float | Float',
    'BREAKING | TYPE_REMOVED | Removed | Removed Removed.r',
    'BREAKING | TYPE_REMOVED_FROM_UNION | U | U',
    'BREAKING | VALUE_REMOVED_FROM_ENUM | E.TWO | E.TWO E',
    'DANGEROUS | ARG_DEFAULT_VALUE_CHANGE | Query.field(defaulted:) | Query.field',
    'DANGEROUS | IMPLEMENTED_INTERFACE_ADDED | B | B B.b',
    'DANGEROUS | ONE_OF_REMOVED | Off | Off Off.a Off.b',
    'DANGEROUS | OPTIONAL_ARG_ADDED | Query.adding | Query.adding',
    'DANGEROUS | OPTIONAL_INPUT_FIELD_ADDED | In | In In.gone In.changed',
    'DANGEROUS | TYPE_ADDED_TO_UNION | U | U',
    'DANGEROUS | VALUE_ADDED_TO_ENUM | E | E E.ONE E.TWO',
  ]);
  const kinds = new Set(changes.map(({ type }) => type));
  const known = [...Object.values(BreakingChangeType), ...Object.values(DangerousChangeType)];
  expect(known.filter((kind) => !kinds.has(kind))).toEqual([]);
});
