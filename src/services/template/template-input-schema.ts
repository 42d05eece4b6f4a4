import { Ajv, type ErrorObject, type Options } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { LRUCache } from 'lru-cache';
import { invalid } from '../../core/input-checks.ts';
import { schemaError } from '../resource/schema-validation.ts';
import { draftOf, measureSchema, type SchemaSize } from './template-input-complexity.ts';
import { compileLinear } from './template-input-regex.ts';
import type { JsonPath, Schema } from './template-input-subschemas.ts';

/** Checks values of one input. */
export interface InputValidator extends SchemaSize {
  /** Returns the first issue of a value; null if it fits. */
  problemOf(value: unknown): ErrorObject | null;
}

/** Formats whose checks take a time linear in the text. Others are annotations only. */
const FORMATS = [
  'date',
  'time',
  'date-time',
  'iso-time',
  'iso-date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
  'uuid',
  'json-pointer',
] as const;
const MAX_FORMATTED_CHARACTERS = 2000;

const linearRegExp = Object.assign((pattern: string) => compileLinear(pattern), { code: 'linearRegExp' });
const OPTIONS: Options = { strict: false, logger: false };

const createAjv = (draft: '2020-12' | '07', options: Options): Ajv =>
  draft === '07' ? new Ajv({ ...OPTIONS, ...options }) : new Ajv2020({ ...OPTIONS, ...options });

const metaValidators = new Map<string, Ajv>();

/**
 * Returns the validator of a schema. Throws BAD_USER_INPUT below `path` for a schema that breaks the rules of its draft
 * or the limits of the service.
 */
export function checkSchema(schema: Schema, path: JsonPath): InputValidator {
  const dotted = path.join('.');
  const draft = draftOf(schema, dotted);
  let meta = metaValidators.get(draft);
  if (!meta) metaValidators.set(draft, (meta = createAjv(draft, {})));
  const { $schema: _, ...rest } = schema;
  if (meta.validateSchema(rest) !== true) throw schemaError(meta.errors!.slice(0, 1), path);
  measureSchema(schema, dotted);
  try {
    return validatorOf(schema);
  } catch (error) {
    throw invalid(dotted, `is not valid: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Compiled schemas by their text. One takes milliseconds to compile, and more memory than its text. */
const validators = new LRUCache<string, InputValidator>({
  maxSize: 20_000,
  sizeCalculation: ({ keywords }) => 50 + keywords,
});

/** Returns the validator of a checked schema. */
export function validatorOf(schema: Schema): InputValidator {
  const text = JSON.stringify(schema);
  let validator = validators.get(text);
  if (!validator) validators.set(text, (validator = compile(schema)));
  return validator;
}

function compile({ $schema, ...schema }: Schema): InputValidator {
  const draft = draftOf({ $schema }, 'schema');
  const size = measureSchema(schema, 'schema');
  // An instance keeps everything that it has compiled, so each schema has its own instance.
  const ajv = createAjv(draft, { meta: false, validateSchema: false, code: { regExp: linearRegExp } });
  for (const name of FORMATS) ajv.addFormat(name, boundedFormat(name));
  // The validator's own function compares each item with each other.
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not have equal items' },
    validate: (isOn: boolean, items: unknown[]) => !isOn || new Set(items.map(canonicalText)).size === items.length,
  });
  const validate = ajv.compile(schema);
  return { ...size, problemOf: (value) => (validate(value) ? null : validate.errors![0]!) };
}

function boundedFormat(name: (typeof FORMATS)[number]): (text: string) => boolean {
  const format = fullFormats[name] as RegExp | ((text: string) => boolean) | { validate: (text: string) => boolean };
  const matches =
    format instanceof RegExp
      ? (text: string) => format.test(text)
      : typeof format === 'function'
        ? format
        : format.validate;
  return (text) => text.length <= MAX_FORMATTED_CHARACTERS && matches(text);
}

/** Returns a text that is equal for equal JSON values. */
const canonicalText = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
