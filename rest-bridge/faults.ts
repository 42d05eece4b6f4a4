import { STATUS_CODES } from 'node:http';
import { GraphQLError } from 'graphql';
import { badInput, Fault, type Complaint, type ErrorCode } from '../src/core/errors.ts';

/** The body of every error (contract 4). */
export interface Envelope {
  statusCode: number;
  error: string;
  message: string;
  code: ErrorCode;
  validation?: Complaint[];
  requestId?: string;
}

const CODES: Partial<Record<number, ErrorCode>> = {
  400: 'BAD_USER_INPUT', 401: 'UNAUTHENTICATED', 403: 'FORBIDDEN', 404: 'NOT_FOUND', 405: 'METHOD_NOT_ALLOWED', 406: 'NOT_ACCEPTABLE', 409: 'CONFLICT', 410: 'GONE',
  412: 'PRECONDITION_FAILED', 413: 'PAYLOAD_TOO_LARGE', 415: 'UNSUPPORTED_MEDIA_TYPE', 429: 'RATE_LIMITED', 503: 'UNAVAILABLE', 504: 'TIMEOUT',
};

/** What class-validator found, as TypeGraphQL hands it on. */
interface Violation { property: string; constraints?: Record<string, string>; children?: Violation[] }

function violations(found: readonly Violation[], path: string[] = []): Complaint[] {
  return found.flatMap(({ property, constraints = {}, children = [] }) => [
    ...Object.entries(constraints).map(([code, message]) => ({ path: [...path, property], message, code })),
    ...violations(children, [...path, property]),
  ]);
}

/** The fault inside whatever was thrown: itself, what GraphQL wrapped, or what fastify found wrong with the request. Undefined for exceptions that are ours. */
export function faultOf(error: unknown): Fault | undefined {
  if (error instanceof Fault) return error;
  if (error instanceof GraphQLError) {
    const violated = error.extensions?.['validationErrors'];
    if (Array.isArray(violated)) {
      const validation = violations(violated as Violation[]);
      return badInput(validation[0]?.message ?? error.message, { validation });
    }
    if (error.originalError) return faultOf(error.originalError);
    return error.extensions?.['code'] === 'BAD_USER_INPUT' || error.message.startsWith('Argument "') ? badInput(error.message) : undefined;
  }
  const { statusCode, message } = (error ?? {}) as { statusCode?: unknown; message?: string };
  if (typeof statusCode !== 'number' || statusCode < 400 || statusCode >= 500) return undefined;
  return new Fault(statusCode, CODES[statusCode] ?? 'BAD_USER_INPUT', message ?? STATUS_CODES[statusCode] ?? 'Bad request');
}

/** GraphQL calls the body `input`; who speaks REST has never heard of it. */
const restPath = (complaint: Complaint): Complaint =>
  (complaint.path[0] === 'input' && complaint.path.length > 1 ? { ...complaint, path: complaint.path.slice(1) } : complaint);

/** The answer to an error: status, headers and body. An exception of ours is a 500 without details. */
export function errorAnswer(error: unknown, requestId: string): { status: number; headers: Record<string, string>; body: Envelope } {
  const fault = faultOf(error);
  const status = fault?.status ?? 500;
  const headers: Record<string, string> = { ...(status === 401 && { 'www-authenticate': 'Bearer' }), ...(status === 503 && { 'retry-after': '5' }), ...fault?.headers };
  const body: Envelope = {
    statusCode: status,
    error: STATUS_CODES[status] ?? 'Error',
    message: fault?.message ?? 'Something went wrong on our side',
    code: fault?.code ?? 'INTERNAL',
    ...(fault?.validation && { validation: fault.validation.map(restPath) }),
    ...(status >= 500 && { requestId }),
  };
  return { status, headers, body };
}
