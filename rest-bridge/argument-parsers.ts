import {
  getNullableType,
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLInt,
  isEnumType,
  isInputObjectType,
  isListType,
  type GraphQLEnumType,
  type GraphQLInputType,
} from 'graphql';
import { isJsonScalar } from '../src/core/query-language.ts';
import { restValuesOf } from './enums.ts';

/** Parses one value of the path or query string for its argument. Throws `InvalidText`. */
export type TextParser = (text: string) => unknown;

/** A text that does not fit its argument. The message follows the argument's name: `must be an integer`. */
export class InvalidText extends Error {}

function throwInvalid(expectation: string): never {
  throw new InvalidText(expectation);
}

/** Returns the GraphQL names of an enum by their REST values. */
const enumNames = (type: GraphQLEnumType): Map<string, string> =>
  new Map([...restValuesOf(type)].map(([name, value]) => [String(value), String(name)]));

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

/** Creates the parser of a list: items separated by commas, or a JSON array of texts. An empty text is an empty list. */
function createListParser(itemType: GraphQLInputType): TextParser {
  const parseItem = createTextParser(itemType);
  const parseNamed: TextParser = (text) => {
    try {
      return parseItem(text);
    } catch (error) {
      return throwInvalid(`${(error as Error).message}, not ${JSON.stringify(text)}`);
    }
  };
  return (text) => (text === '' ? [] : (textsOfJson(text) ?? text.split(',')).map(parseNamed));
}

/** Returns the texts of a JSON array; undefined for any other text. */
function textsOfJson(text: string): string[] | undefined {
  if (!/^\[\s*(?:"[^]*"\s*)?\]$/.test(text)) return undefined;
  try {
    const list = JSON.parse(text) as unknown[];
    return list.every((item) => typeof item === 'string') ? list : undefined;
  } catch {
    return undefined;
  }
}

/** Creates the parser of one argument's type. */
export function createTextParser(type: GraphQLInputType): TextParser {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return createListParser(nullable.ofType as GraphQLInputType);
  if (nullable === GraphQLInt)
    return (text) => (/^-?\d+$/.test(text) ? Number(text) : throwInvalid('must be an integer'));
  if (nullable === GraphQLFloat)
    return (text) =>
      text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : throwInvalid('must be a number');
  if (nullable === GraphQLBoolean)
    return (text) => (text === 'true' ? true : text === 'false' ? false : throwInvalid('must be true or false'));
  if (isEnumType(nullable)) return createEnumParser(nullable);
  if (isInputObjectType(nullable)) return parseJsonText;
  // A JSON scalar accepts objects and plain texts, e.g. `filter={"amount":{"$gte":100}}` or the id of a saved filter.
  if (isJsonScalar(nullable as { name?: string }))
    return (text) => (/^\s*[[{]/.test(text) ? parseJsonText(text) : text);
  return (text) => text;
}

/** Creates the parser of values that are repeated in the query string, e.g. `?tag=a&tag=b`. Only lists may be. */
export function createRepeatedParser(type: GraphQLInputType): (texts: readonly string[]) => unknown {
  const nullable = getNullableType(type);
  if (!isListType(nullable)) return () => throwInvalid('is given more than once');
  const parseItem = createTextParser(nullable.ofType as GraphQLInputType);
  return (texts) => texts.map(parseItem);
}
