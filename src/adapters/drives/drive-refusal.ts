import { ApiError } from '../../core/errors.ts';
import { quoteUpstream, readErrorText } from '../../core/outbound.ts';

const MAX_REASON_BYTES = 64 * 1024;
/** Reasons of a 403 by which a provider limits the rate of calls. */
const RATE_REASONS: ReadonlySet<string> = new Set([
  'rateLimitExceeded',
  'userRateLimitExceeded',
  'dailyLimitExceeded',
  'quotaExceeded',
  'RATE_LIMIT_EXCEEDED',
  'rate_limit_exceeded',
]);

/** A response of a drive that is an error: UNAVAILABLE if a later try may succeed, else UPSTREAM_FAILED. */
export class DriveRefusal extends ApiError {
  readonly httpStatus: number;
  /** The provider's own code; empty without one. */
  readonly reason: string;
  readonly retryAfter: string | null;

  constructor(message: string, httpStatus: number, reason: string, retryAfter: string | null) {
    const isTransient =
      httpStatus === 202 ||
      httpStatus === 408 ||
      httpStatus === 429 ||
      httpStatus >= 500 ||
      (httpStatus === 403 && RATE_REASONS.has(reason));
    super(isTransient ? 503 : 500, isTransient ? 'UNAVAILABLE' : 'UPSTREAM_FAILED', message);
    this.httpStatus = httpStatus;
    this.reason = reason;
    this.retryAfter = retryAfter;
  }
}

/** Returns whether an error means that the account may not read what it requests. */
export const isForbidden = (error: unknown): error is DriveRefusal =>
  error instanceof DriveRefusal && error.httpStatus === 403 && error.code !== 'UNAVAILABLE';

/** Reads an error response. Its message quotes the response without the token. */
export async function toRefusal(response: Response, host: string, token: string): Promise<DriveRefusal> {
  const text = await readErrorText(response, MAX_REASON_BYTES);
  const quoted = quoteUpstream(text, [token]);
  const message = `The host "${host}" responded with ${response.status}${quoted === '' ? '' : `: ${quoted}`}`;
  return new DriveRefusal(message, response.status, reasonOf(text), response.headers.get('retry-after'));
}

interface ErrorBody {
  error?: { errors?: unknown; details?: unknown; code?: unknown; '.tag'?: unknown };
  error_summary?: unknown;
  code?: unknown;
}

/**
 * Google states `error.errors[].reason`, or `error.details[].reason` alone, Dropbox `error_summary`, Microsoft `error.code`,
 * Box `code`. Of several reasons, one of the rate of calls counts.
 */
function reasonOf(text: string): string {
  try {
    const body = JSON.parse(text) as ErrorBody | null;
    const { errors, details, code } = body?.error ?? {};
    const found = [...reasonsIn(errors), ...reasonsIn(details), body?.error_summary, code, body?.code];
    const reasons = found.filter((reason) => typeof reason === 'string');
    return reasons.find((reason) => RATE_REASONS.has(reason)) ?? reasons[0] ?? '';
  } catch {
    return '';
  }
}

const reasonsIn = (list: unknown): unknown[] =>
  Array.isArray(list) ? list.map((one: { reason?: unknown } | null) => one?.reason) : [];
