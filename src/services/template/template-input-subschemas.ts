import { isObject } from '../../core/criteria/value.ts';

/** A JSON Schema that is not a boolean. */
export type Schema = Readonly<Record<string, unknown>>;

/** Path of a value in a document. */
export type JsonPath = readonly (string | number)[];

/** A schema directly within another one. */
export interface Subschema {
  path: JsonPath;
  schema: Schema;
  /** Whether values are checked against it without a reference. */
  isApplied: boolean;
}

/** Keywords with a schema or a list of schemas. */
const WITH_SCHEMAS = [
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'oneOf',
  'prefixItems',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
];
/** Keywords with an object of schemas by name. */
const WITH_NAMED = ['dependencies', 'dependentSchemas', 'patternProperties', 'properties'];
const DEFINITIONS = ['$defs', 'definitions'];

/** Returns the schemas directly within a schema. Objects within values, e.g. of `const`, do not count. */
export function subschemasOf(schema: Schema): Subschema[] {
  const found: Subschema[] = [];
  const add = (path: JsonPath, value: unknown, isApplied: boolean) => {
    if (isObject(value)) found.push({ path, schema: value, isApplied });
  };
  for (const key of WITH_SCHEMAS) {
    const value = schema[key];
    if (Array.isArray(value)) for (const [index, item] of value.entries()) add([key, index], item, true);
    else add([key], value, true);
  }
  for (const key of [...WITH_NAMED, ...DEFINITIONS]) {
    const value = schema[key];
    if (!isObject(value)) continue;
    for (const [name, item] of Object.entries(value)) add([key, name], item, !DEFINITIONS.includes(key));
  }
  return found;
}

/** Returns the schema that a reference `#` or `#/…` names; undefined if it does not exist. */
export function findReferred(root: Schema, reference: string): unknown {
  let at: unknown = root;
  for (const part of reference.split('/').slice(1)) {
    const key = decode(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
