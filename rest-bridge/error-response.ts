import { STATUS_CODES } from 'node:http';
import { toApiError } from '../src/core/api-error.ts';
import type { ValidationIssue, ErrorCode } from '../src/core/errors.ts';

/** The body of every error (contract 4). */
export interface ErrorBody {
  statusCode: number;
  error: string;
  message: string;
  code: ErrorCode;
  validation?: ValidationIssue[];
  requestId?: string;
}

/** GraphQL calls the body `input`; who speaks REST has never heard of it. */
const toRestIssue = (complaint: ValidationIssue): ValidationIssue =>
  complaint.path[0] === 'input' && complaint.path.length > 1
    ? { ...complaint, path: complaint.path.slice(1) }
    : complaint;

/** The answer to an error: status, headers and body. An exception of ours is a 500 without details. */
export function errorResponse(
  error: unknown,
  requestId: string,
): { status: number; headers: Record<string, string>; body: ErrorBody } {
  const fault = toApiError(error);
  const status = fault?.status ?? 500;
  const headers: Record<string, string> = {
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(status === 503 && { 'retry-after': '5' }),
    ...fault?.headers,
  };
  const body: ErrorBody = {
    statusCode: status,
    error: STATUS_CODES[status] ?? 'Error',
    message: fault?.message ?? 'Something went wrong on our side',
    code: fault?.code ?? 'INTERNAL',
    ...(fault?.validation && { validation: fault.validation.map(toRestIssue) }),
    ...(status >= 500 && { requestId }),
  };
  return { status, headers, body };
}
