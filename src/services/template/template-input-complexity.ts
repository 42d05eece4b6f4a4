import { invalid } from '../../core/input-checks.ts';
import { compileLinear } from './template-input-regex.ts';
import { findReferred, subschemasOf, type JsonPath, type Schema } from './template-input-subschemas.ts';

/** Drafts of JSON Schema, by their `$schema`. */
const DRAFTS: Readonly<Record<string, '2020-12' | '07'>> = {
  'https://json-schema.org/draft/2020-12/schema': '2020-12',
  'http://json-schema.org/draft-07/schema': '07',
};

const MAX_ENUM_VALUES = 1000;
/** Schemas and keywords, references written out. Compiling one takes up to a third of a millisecond. */
const MAX_KEYWORDS = 500;
/** Instructions of all patterns. */
const MAX_PATTERNS = 5000;
/** Keywords that refer to other documents, or change the meaning of references, and `$async` of the validator. */
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
/** The time of an instruction of a pattern in relation to a keyword. */
const PATTERN_FACTOR = 4;

/** Returns the draft that a schema names, by default 2020-12. Throws BAD_USER_INPUT for another one. */
export function draftOf(schema: Schema, path: string): '2020-12' | '07' {
  const named = schema['$schema'] ?? 'https://json-schema.org/draft/2020-12/schema';
  const draft = typeof named === 'string' ? DRAFTS[named.replace(/#$/, '')] : undefined;
  if (!draft) throw invalid(`${path}.$schema`, `must be one of ${Object.keys(DRAFTS).join(', ')}`);
  return draft;
}

/** The size of a schema. */
export interface SchemaSize {
  /** Number of schemas and keywords in it, which determines the time to compile it. */
  keywords: number;
  /** Growth of the time to check a value with its length. */
  weight: number;
}

/**
 * Returns the size of a schema, with its references written out. Throws BAD_USER_INPUT naming the place for a reference
 * to another document or to a schema around it, a pattern that needs backtracking, and too many parts.
 */
export function measureSchema(root: Schema, path: string): SchemaSize {
  checkSchemas(root, path);
  const total = { keywords: 0, patterns: 0, values: 0 };
  const weigh = (schema: Schema, at: JsonPath, around: readonly Schema[]) => {
    total.keywords += 1 + Object.keys(schema).length;
    if (Array.isArray(schema['enum'])) total.values += schema['enum'].length;
    if (total.keywords > MAX_KEYWORDS)
      throw invalid(path, `must have at most ${MAX_KEYWORDS} keywords when its references are written out`);
    for (const pattern of patternsOf(schema)) total.patterns += compileLinear(pattern).size;
    if (total.patterns > MAX_PATTERNS)
      throw invalid(path, 'has patterns that are too large when repetitions and references are written out');
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
  const { keywords, patterns, values } = total;
  return { keywords, weight: keywords + values + patterns * PATTERN_FACTOR };
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

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const dotted = (path: string, rest: JsonPath): string => [path, ...rest].join('.');
