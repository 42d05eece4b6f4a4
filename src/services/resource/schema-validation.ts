import type { ErrorObject } from 'ajv';
import { badInput, type ValidationIssue, type ApiError } from '../../core/errors.ts';
import { shortenName } from '../../core/shorten-message.ts';

/**
 * Creates a BAD_USER_INPUT error for a value that does not match its JSON Schema. The issues contain paths below `root`
 * and no values.
 */
export function schemaError(errors: readonly ErrorObject[], root: string): ApiError {
  // `if` only repeats that its branch has errors.
  const validation = errors.filter(({ keyword }) => keyword !== 'if').map((error) => issueOf(error, root));
  return badInput(validation[0]!.message, { validation });
}

function issueOf(error: ErrorObject, root: string): ValidationIssue {
  const property = propertyOf(error);
  const path = [root, ...error.instancePath.split('/').slice(1), ...(property === undefined ? [] : [property])];
  return {
    path,
    message: `${path.map(shortenName).join('.')} ${messageOf(error) ?? error.message}`,
    code: error.keyword,
  };
}

/** Returns the missing or unknown property, which is not part of the instance path. */
function propertyOf({ keyword, params }: ErrorObject): string | undefined {
  if (keyword === 'required') return String(params['missingProperty']);
  if (keyword === 'additionalProperties') return String(params['additionalProperty']);
  return undefined;
}

function messageOf({ keyword, params }: ErrorObject): string | undefined {
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is unknown';
    case 'enum':
      return `must be one of ${params['allowedValues'].filter((value: unknown) => value !== null).join(', ')}`;
    default:
      return undefined;
  }
}
