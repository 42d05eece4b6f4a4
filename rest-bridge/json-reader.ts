import {
  getNullableType,
  GraphQLID,
  GraphQLString,
  isEnumType,
  isInputObjectType,
  isListType,
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
} from 'graphql';
import type { ValidationIssue } from '../src/core/errors.ts';
import { ruleOf, type InputRule } from '../src/core/input-rules.ts';
import { restValuesOf } from './enums.ts';

type Path = readonly (string | number)[];

/**
 * Reads one value of a JSON body: returns it with GraphQL's names of enum values. Adds an issue for a value that GraphQL
 * would coerce, because REST does not: a scalar where a list is declared, a list where an object is, a number where an
 * id is. Other values that do not fit are left to GraphQL.
 */
export type JsonReader = (value: unknown, path: Path, issues: ValidationIssue[]) => unknown;

const isMissing = (value: unknown): value is null | undefined => value === null || value === undefined;

function addIssue(issues: ValidationIssue[], path: Path, expectation: string): void {
  issues.push({ path: [...path], message: `"${path.join('.') || 'body'}" ${expectation}`, code: 'invalid' });
}

/**
 * Creates the reader of an argument's JSON. Returns undefined where every value can be passed on as it is. `known`
 * resolves recursive types.
 */
export function createJsonReader(
  type: GraphQLInputType,
  rule?: InputRule,
  known = new Map<GraphQLInputObjectType, JsonReader | undefined>(),
): JsonReader | undefined {
  const nullable = getNullableType(type);
  if (isListType(nullable))
    return createListReader(createJsonReader(nullable.ofType as GraphQLInputType, rule?.items, known));
  if (isEnumType(nullable)) return createEnumReader(nullable);
  if (nullable === GraphQLID) return readId;
  if (nullable === GraphQLString && rule?.type?.includes('number')) return readTextOrNumber;
  if (!isInputObjectType(nullable)) return undefined;
  if (known.has(nullable)) return (value, path, issues) => known.get(nullable)?.(value, path, issues) ?? value;
  known.set(nullable, undefined);
  const reader = createObjectReader(nullable, known);
  known.set(nullable, reader);
  return reader;
}

const createListReader =
  (readItem: JsonReader | undefined): JsonReader =>
  (value, path, issues) => {
    if (isMissing(value)) return value;
    if (!Array.isArray(value)) addIssue(issues, path, 'must be a list');
    else if (readItem) return value.map((item, index) => readItem(item, [...path, index], issues));
    return value;
  };

const readId: JsonReader = (value, path, issues) => {
  if (typeof value === 'number') addIssue(issues, path, 'must be a text');
  return value;
};

/** Numbers are texts of their digits where the rule of a text permits them. */
const readTextOrNumber: JsonReader = (value) => (typeof value === 'number' ? String(value) : value);

function createEnumReader(type: GraphQLEnumType): JsonReader {
  const names = new Map([...restValuesOf(type)].map(([name, value]) => [value, name]));
  // An unknown value becomes an object, which GraphQL refuses and `findIssues` recognizes.
  return (value) => (isMissing(value) ? value : (names.get(value) ?? { word: value }));
}

function createObjectReader(
  type: GraphQLInputObjectType,
  known: Map<GraphQLInputObjectType, JsonReader | undefined>,
): JsonReader {
  const readers = Object.values(type.getFields()).flatMap((field) => {
    const read = createJsonReader(field.type, ruleOf(field), known);
    return read ? [[field.name, read] as const] : [];
  });
  return (value, path, issues) => {
    if (Array.isArray(value)) addIssue(issues, path, 'must be an object');
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const copy: Record<string, unknown> = { ...value };
    for (const [name, read] of readers)
      if (copy[name] !== undefined) copy[name] = read(copy[name], [...path, name], issues);
    return copy;
  };
}
