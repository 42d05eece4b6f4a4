import { STATUS_CODES } from 'node:http';
import { toApiError } from '../src/core/api-error.ts';
import { ConsentRequired } from '../src/core/authority.ts';
import type { ValidationIssue, ErrorCode } from '../src/core/errors.ts';

/** The body of an error response. See docs/contract/apis.md#errors. */
export interface ErrorBody {
  statusCode: number;
  error: string;
  message: string;
  code: ErrorCode;
  validation?: ValidationIssue[];
  /** The rights to grant, the app, and the page that asks for them. Only with the code `CONSENT_REQUIRED`. */
  consent?: ConsentRequired['consent'];
  requestId?: string;
}

/** The body of an error response as problem details, RFC 9457. `type` is the page of the code. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  /** Path of the request. */
  instance: string;
  code: ErrorCode;
  errors?: ValidationIssue[];
  consent?: ConsentRequired['consent'];
  requestId: string;
}

/** Returns the body of an error as problem details. `path` is the path of the request. */
export const toProblem = (
  { statusCode, error, message, code, validation, consent }: ErrorBody,
  { path, requestId }: { path: string; requestId: string },
): Problem => ({
  type: `/api/docs/errors/${code}`,
  title: error,
  status: statusCode,
  detail: message,
  instance: path,
  code,
  ...(validation && { errors: validation }),
  ...(consent && { consent }),
  requestId,
});

/** Removes GraphQL's argument name `input` from a path: in REST it is the body itself. */
const toRestIssue = (issue: ValidationIssue): ValidationIssue =>
  issue.path[0] === 'input' && issue.path.length > 1 ? { ...issue, path: issue.path.slice(1) } : issue;

/** Returns status, headers and body of the response to an error. An unexpected exception is a 500 without details. */
export function errorResponse(
  error: unknown,
  requestId: string,
): { status: number; headers: Record<string, string>; body: ErrorBody } {
  const apiError = toApiError(error);
  const status = apiError?.status ?? 500;
  const headers: Record<string, string> = {
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(status === 503 && { 'retry-after': '5' }),
    ...apiError?.headers,
  };
  const body: ErrorBody = {
    statusCode: status,
    error: STATUS_CODES[status] ?? 'Error',
    message: apiError?.message ?? 'Something went wrong on our side',
    code: apiError?.code ?? 'INTERNAL',
    ...(apiError?.validation && { validation: apiError.validation.map(toRestIssue) }),
    ...(apiError instanceof ConsentRequired && { consent: apiError.consent }),
    ...(status >= 500 && { requestId }),
  };
  return { status, headers, body };
}
