import { Ajv, type ErrorObject } from 'ajv';
import { badInput, type ValidationIssue, type ApiError } from '../../core/errors.ts';
import { shortenName } from '../../core/shorten-message.ts';

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });

/**
 * Returns a value that fits a JSON Schema of the service. Throws BAD_USER_INPUT naming the invalid keys below `root`.
 */
export function checkAgainstSchema<T>(schema: Record<string, unknown>, value: T, root: string): T {
  const validate = ajv.compile(schema);
  if (!validate(value)) throw schemaError(validate.errors!, root);
  return value;
}

const ajvWithDefaults = new Ajv({ allErrors: true, useDefaults: true, allowUnionTypes: true, verbose: true });

/** Returns a copy of a value with the defaults of a JSON Schema of the service. Throws like `checkAgainstSchema`. */
export function fillFromSchema(schema: Record<string, unknown>, input: unknown, root: string): unknown {
  // Ajv fills in defaults in place, so it works on a copy. It caches compiled schemas by object identity.
  const value = structuredClone(input);
  const validate = ajvWithDefaults.compile(schema);
  if (!validate(value)) throw schemaError(validate.errors!, root);
  return value;
}

/** Returns whether a value fits a JSON Schema of the service. */
export const fitsSchema = (schema: Record<string, unknown>, value: unknown): boolean =>
  ajvWithDefaults.compile(schema)(structuredClone(value));

/** Throws BAD_USER_INPUT unless a value is a JSON Schema of draft 07 or a later one without its new keywords. */
export function checkIsSchema({ $schema: _, ...schema }: Record<string, unknown>, root: string): void {
  if (ajv.validateSchema(schema) !== true) throw schemaError(ajv.errors!.slice(0, 1), root.split('.'));
}

/**
 * Creates a BAD_USER_INPUT error for a value that does not match its JSON Schema. The issues contain paths below `root`
 * and no values.
 */
export function schemaError(errors: readonly ErrorObject[], root: string | readonly (string | number)[]): ApiError {
  // `if` only repeats that its branch has errors.
  const validation = errors.filter(({ keyword }) => keyword !== 'if').map((error) => schemaIssue(error, root));
  return badInput(validation[0]!.message, { validation });
}

/** Returns a problem as an issue, with its path below `root` and no values. */
export function schemaIssue(error: ErrorObject, root: string | readonly (string | number)[]): ValidationIssue {
  const property = propertyOf(error);
  const below = error.instancePath.split('/').slice(1).map(unescapePointer);
  const path = [...(typeof root === 'string' ? [root] : root), ...below, ...(property === undefined ? [] : [property])];
  return {
    path,
    message: `${path.map((key) => shortenName(String(key))).join('.')} ${messageOf(error) ?? error.message}`,
    code: error.keyword,
  };
}

const unescapePointer = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');

/** Returns the missing or unknown property, which is not part of the instance path. */
function propertyOf({ keyword, params }: ErrorObject): string | undefined {
  if (keyword === 'required') return String(params['missingProperty']);
  if (keyword === 'additionalProperties') return String(params['additionalProperty']);
  return undefined;
}

function messageOf({ keyword, params, parentSchema }: ErrorObject): string | undefined {
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is unknown';
    case 'enum':
      return `must be one of ${params['allowedValues'].filter((value: unknown) => value !== null).join(', ')}`;
    case 'pattern': {
      const examples = parentSchema?.['examples'] as string[] | undefined;
      return examples && `must be like one of ${examples.join(', ')}`;
    }
    default:
      return undefined;
  }
}
