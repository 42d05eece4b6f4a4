import type { ErrorObject } from 'ajv';
import { badInput, type ValidationIssue, type ApiError } from '../../core/errors.ts';

/** 400 for a value that does not fit its JSON Schema: each complaint names the path below `root`, and no value. */
export function schemaError(errors: readonly ErrorObject[], root: string): ApiError {
  const validation = errors.map((error) => issueOf(error, root));
  return badInput(validation[0]!.message, { validation });
}

function issueOf({ keyword, instancePath, params, message }: ErrorObject, root: string): ValidationIssue {
  const named =
    keyword === 'required'
      ? params.missingProperty
      : keyword === 'additionalProperties'
        ? params.additionalProperty
        : undefined;
  const path = [root, ...instancePath.split('/').slice(1), ...(named === undefined ? [] : [String(named)])];
  return { path, message: `${path.join('.')} ${messageOf(keyword, params) ?? message}`, code: keyword };
}

function messageOf(keyword: string, params: ErrorObject['params']): string | undefined {
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
