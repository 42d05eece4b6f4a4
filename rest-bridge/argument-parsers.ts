import {
  coerceInputValue,
  getNullableType,
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLInt,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  type GraphQLEnumType,
  type GraphQLInputType,
} from 'graphql';
import type { ValidationIssue } from '../src/core/errors.ts';
import { restValuesOf } from './enums.ts';

/** Reads one value of the path or query string as its argument's type wants it. Throws `Unreadable`. */
export type TextParser = (text: string) => unknown;
/** Rewrites a JSON value for GraphQL: REST's words of enums become their names. Undefined where a type holds no enum. */
export type JsonDecoder = (value: unknown) => unknown;

/** A text that does not fit its argument; the message goes behind the argument's name. */
export class InvalidText extends Error {}

const enumNames = (type: GraphQLEnumType): Map<string, string> =>
  new Map([...restValuesOf(type)].map(([name, word]) => [String(word), String(name)]));

function throwInvalid(expectation: string): never {
  throw new InvalidText(expectation);
}

function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return throwInvalid('is not well-formed JSON');
  }
}

function createEnumParser(type: GraphQLEnumType): TextParser {
  const names = enumNames(type);
  return (text) => names.get(text) ?? throwInvalid(`must be one of ${[...names.keys()].join(', ')}`);
}

/** Compiles the reader of one argument's type. */
export function createTextParser(type: GraphQLInputType): TextParser {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const item = createTextParser(nullable.ofType as GraphQLInputType);
    const named: TextParser = (text) => {
      try {
        return item(text);
      } catch (error) {
        return throwInvalid(`${(error as Error).message}, not "${text}"`);
      }
    };
    return (text) => (text === '' ? [] : text.split(',').map(named));
  }
  if (nullable === GraphQLInt) return (text) => (/^-?\d{1,10}$/.test(text) ? Number(text) : throwInvalid('must be an integer'));
  if (nullable === GraphQLFloat)
    return (text) => (text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : throwInvalid('must be a number'));
  if (nullable === GraphQLBoolean)
    return (text) => (text === 'true' ? true : text === 'false' ? false : throwInvalid('must be true or false'));
  if (isEnumType(nullable)) return createEnumParser(nullable);
  if (isInputObjectType(nullable)) return parseJsonText;
  // A scalar of JSON takes criteria as well as plain words, e.g. `filter={"amount":{"$gte":100}}` or a saved filter's id.
  if (/json/i.test((nullable as { name: string }).name))
    return (text) => (/^\s*[[{]/.test(text) ? parseJsonText(text) : text);
  return (text) => text;
}

/** Compiles the reader of values given more than once, `?tag=a&tag=b`. */
export function createRepeatedParser(type: GraphQLInputType): (texts: readonly string[]) => unknown {
  const nullable = getNullableType(type);
  if (!isListType(nullable)) return () => throwInvalid('is given more than once');
  const item = createTextParser(nullable.ofType as GraphQLInputType);
  return (texts) => texts.map(item);
}

/** Compiles the reader of one argument's JSON. Types that hold themselves are met again through `seen`. */
export function createJsonDecoder(
  type: GraphQLInputType,
  seen = new Map<GraphQLInputType, JsonDecoder | undefined>(),
): JsonDecoder | undefined {
  const nullable = getNullableType(type);
  if (seen.has(nullable)) return (value) => seen.get(nullable)?.(value) ?? value;
  if (isListType(nullable)) {
    const item = createJsonDecoder(nullable.ofType as GraphQLInputType, seen);
    return item && ((value) => (Array.isArray(value) ? value.map(item) : item(value)));
  }
  if (isEnumType(nullable)) {
    const names = enumNames(nullable);
    // What is no word of the enum stays as it is, in a form that GraphQL refuses and `complaints` explains.
    return (value) => (value === null || value === undefined ? value : (names.get(String(value)) ?? { word: value }));
  }
  if (!isInputObjectType(nullable)) return undefined;
  seen.set(nullable, undefined);
  const readers = Object.values(nullable.getFields()).flatMap((field) => {
    const reader = createJsonDecoder(field.type, seen);
    return reader ? [[field.name, reader] as const] : [];
  });
  const own = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const copy: Record<string, unknown> = { ...value };
    for (const [name, reader] of readers) if (copy[name] !== undefined) copy[name] = reader(copy[name]);
    return copy;
  };
  const reader = readers.length > 0 ? own : undefined;
  seen.set(nullable, reader);
  return reader;
}

const MAX_ISSUES = 20;

/** Explains why values do not fit their types, in REST's words: called only after GraphQL refused them, so that good requests are checked once. */
export function findIssues(
  values: readonly { key: string | undefined; type: GraphQLInputType; value: unknown }[],
): ValidationIssue[] {
  const found: ValidationIssue[] = [];
  for (const { key, type, value } of values) {
    const path = key === undefined ? [] : [key];
    if (value === undefined && isNonNullType(type))
      found.push({ path, message: `"${key ?? 'body'}" is required`, code: 'required' });
    if (value === undefined || found.length >= MAX_ISSUES) continue;
    coerceInputValue(value, type, (inner, invalid, error) => {
      if (found.length < MAX_ISSUES) found.push(toIssue([...path, ...inner], invalid, error.message));
    });
  }
  return found;
}

function toIssue(path: (string | number)[], invalid: unknown, message: string): ValidationIssue {
  const missing = /^Field "(\w+)" of required type/.exec(message)?.[1];
  if (missing !== undefined) return { path: [...path, missing], message: `"${missing}" is required`, code: 'required' };
  const unknown = /^Field "([^"]+)" is not defined/.exec(message)?.[1];
  if (unknown !== undefined) return { path: [...path, unknown], message: `Unknown key "${unknown}"`, code: 'unknown' };
  const at = path.join('.');
  if (message.startsWith('Enum "') && typeof invalid === 'object')
    return {
      path,
      message: `"${at}" cannot be ${JSON.stringify((invalid as { word: unknown }).word)}`,
      code: 'invalid',
    };
  return { path, message: at === '' ? message : `"${at}": ${message}`, code: 'invalid' };
}
