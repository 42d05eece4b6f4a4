import { invalid } from '../../core/input-checks.ts';
import { compileLinear } from './template-input-regex.ts';
import { findReferred, subschemasOf, type JsonPath, type Schema } from './template-input-subschemas.ts';

/** Drafts of JSON Schema, by their `$schema`. */
export const DRAFTS: Readonly<Record<string, '2020-12' | '07'>> = {
  'https://json-schema.org/draft/2020-12/schema': '2020-12',
  'http://json-schema.org/draft-07/schema': '07',
};

const MAX_ENUM_VALUES = 1000;
/** Keywords to check of one value, references written out. */
const MAX_KEYWORDS = 5000;
/** Keywords that refer to other documents, or change what references mean, and `$async` of the validator. */
const REFUSED = [
  '$anchor',
  '$async',
  '$dynamicAnchor',
  '$dynamicRef',
  '$id',
  '$recursiveAnchor',
  '$recursiveRef',
  'id',
];
/** How much longer an instruction of a pattern takes than a keyword. */
const PATTERN_FACTOR = 4;

/** Returns the draft that a schema names, by default 2020-12. Throws BAD_USER_INPUT for another one. */
export function draftOf(schema: Schema, path: string): '2020-12' | '07' {
  const named = schema['$schema'] ?? 'https://json-schema.org/draft/2020-12/schema';
  const draft = typeof named === 'string' ? DRAFTS[named.replace(/#$/, '')] : undefined;
  if (!draft) throw invalid(`${path}.$schema`, `must be one of ${Object.keys(DRAFTS).join(', ')}`);
  return draft;
}

/**
 * Returns by how much the time to check a value grows with its length. Throws BAD_USER_INPUT naming the place for a
 * reference to another document or to a schema around it, a pattern that needs backtracking, and too many parts.
 */
export function weighSchema(root: Schema, path: string): number {
  checkSchemas(root, path);
  let weight = 0;
  const weigh = (schema: Schema, at: JsonPath, around: readonly Schema[]) => {
    weight += ownWeight(schema);
    if (weight > MAX_KEYWORDS * PATTERN_FACTOR || around.length > MAX_KEYWORDS)
      throw invalid(path, 'has too many keywords when its references are written out');
    const inner = [...around, schema];
    const reference = schema['$ref'];
    if (typeof reference === 'string') {
      const referred = findReferred(root, reference);
      if (inner.includes(referred as Schema)) throw invalid(dotted(path, [...at, '$ref']), 'must not refer to itself');
      if (isSchema(referred)) weigh(referred, at, inner);
    }
    for (const sub of subschemasOf(schema)) if (sub.isApplied) weigh(sub.schema, [...at, ...sub.path], inner);
  };
  weigh(root, [], []);
  return weight;
}

/** Checks each schema within a schema, used or not. */
function checkSchemas(root: Schema, path: string): void {
  let enumValues = 0;
  const check = (schema: Schema, at: JsonPath) => {
    const place = (key: string) => dotted(path, [...at, key]);
    const refused = REFUSED.find((key) => Object.hasOwn(schema, key));
    if (refused) throw invalid(place(refused), 'is not supported');
    if (at.length > 0 && Object.hasOwn(schema, '$schema')) throw invalid(place('$schema'), 'is not supported here');
    checkReference(root, schema['$ref'], place('$ref'));
    for (const pattern of patternsOf(schema)) checkPattern(pattern, place('pattern'));
    if (Array.isArray(schema['enum'])) enumValues += schema['enum'].length;
    if (enumValues > MAX_ENUM_VALUES) throw invalid(path, `must have at most ${MAX_ENUM_VALUES} values in enum in all`);
    for (const sub of subschemasOf(schema)) check(sub.schema, [...at, ...sub.path]);
  };
  check(root, []);
}

function checkReference(root: Schema, reference: unknown, place: string): void {
  if (reference === undefined) return;
  if (typeof reference !== 'string' || !/^#(\/|$)/.test(reference))
    throw invalid(place, 'must be # or begin with #/, as other documents are not read');
  const referred = findReferred(root, reference);
  if (!isSchema(referred) && typeof referred !== 'boolean')
    throw invalid(place, `names no schema: ${reference.slice(0, 100)}`);
}

function checkPattern(pattern: string, place: string): void {
  try {
    compileLinear(pattern);
  } catch (error) {
    throw invalid(place, `is refused: ${(error as Error).message}`);
  }
}

const patternsOf = (schema: Schema): string[] => [
  ...(typeof schema['pattern'] === 'string' ? [schema['pattern']] : []),
  ...(isSchema(schema['patternProperties']) ? Object.keys(schema['patternProperties']) : []),
];

function ownWeight(schema: Schema): number {
  const enumerated = schema['enum'];
  return (
    1 +
    Object.keys(schema).length +
    (Array.isArray(enumerated) ? enumerated.length : 0) +
    patternsOf(schema).reduce((sum, pattern) => sum + compileLinear(pattern).size * PATTERN_FACTOR, 0)
  );
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const dotted = (path: string, rest: JsonPath): string => [path, ...rest].join('.');
