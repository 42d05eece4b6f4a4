import { errors } from '@elastic/elasticsearch';
import { ApiError, gone, unavailable } from '../../../core/errors.ts';

const RETRY_AFTER = { headers: { 'retry-after': '5' } };
const MAX_REASON_CHARACTERS = 500;

/** Statuses of an engine that is busy or unavailable for a time. */
const TEMPORARY_STATUS = new Set([429, 502, 503, 504]);
/** Errors for an unknown name and for an expired scroll. */
const GONE_TYPES = new Set([
  'index_not_found_exception',
  'aliases_not_found_exception',
  'search_context_missing_exception',
]);

interface Cause {
  type?: string;
  reason?: string;
}

/**
 * Errors of requests without a response. Callers check their own signal first: an abort does not count as a temporary
 * error.
 */
const NO_RESPONSE_ERRORS = [
  errors.ConnectionError,
  errors.TimeoutError,
  errors.NoLivingConnectionsError,
  errors.RequestAbortedError,
];

/** Returns whether the same request may succeed later. */
export const isTemporary = (error: unknown): boolean =>
  error instanceof errors.ResponseError
    ? TEMPORARY_STATUS.has(error.statusCode ?? 0)
    : NO_RESPONSE_ERRORS.some((kind) => error instanceof kind);

/** Returns whether the engine rejected a name that is already in use. */
export const isNameTaken = (error: unknown): boolean =>
  error instanceof errors.ResponseError &&
  causesOf(error).some(({ type }) => type === 'resource_already_exists_exception');

/**
 * Returns the error for callers. The client's own errors contain requests and responses, including rows and
 * credentials, so they are never passed on, not even as cause.
 */
export function engineError(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason as unknown;
  if (error instanceof ApiError || !(error instanceof errors.ElasticsearchClientError)) return error;
  if (!(error instanceof errors.ResponseError))
    return isTemporary(error)
      ? unavailable('The dataset index does not respond', RETRY_AFTER)
      : new Error(`The response of the search engine is invalid: ${error.name}`);
  const causes = causesOf(error);
  if (causes.some(({ type }) => GONE_TYPES.has(type ?? ''))) return gone('These rows are no longer stored');
  if (isTemporary(error)) return unavailable('The dataset index is overloaded', RETRY_AFTER);
  if (error.statusCode === 401 || error.statusCode === 403)
    return unavailable('The dataset index rejects the configured credentials', RETRY_AFTER);
  const reasons = causes.map(({ type, reason }) => `${type}: ${reason}`).join('; ');
  return new Error(
    `The search engine refused the request (${error.statusCode}): ${reasons.slice(0, MAX_REASON_CHARACTERS)}`,
  );
}

/** Returns the reasons in a response, including the reasons of shards. */
function causesOf(error: InstanceType<typeof errors.ResponseError>): Cause[] {
  const body = error.body as
    | { error?: Cause & { root_cause?: Cause[]; failed_shards?: { reason?: Cause }[] } }
    | undefined;
  const own = body?.error;
  if (typeof own !== 'object' || own === null) return [];
  return [own, ...(own.root_cause ?? []), ...(own.failed_shards ?? []).flatMap(({ reason }) => reason ?? [])];
}
