import { errors } from '@elastic/elasticsearch';
import { ApiError, gone, unavailable } from '../../../core/errors.ts';

const RETRY_AFTER = { headers: { 'retry-after': '5' } };
const SHOWN_CHARACTERS = 500;

/** Statuses that may pass: the engine is busy or unavailable. */
const PASSING_STATUS = new Set([429, 502, 503, 504]);
/** Errors for an unknown name and for an expired scroll. */
const GONE_TYPES = new Set(['index_not_found_exception', 'search_context_missing_exception']);

interface Cause {
  type?: string;
  reason?: string;
}

/**
 * Errors of requests without a response. Callers check their own signal before they ask whether an error is temporary.
 */
const UNANSWERED = [
  errors.ConnectionError,
  errors.TimeoutError,
  errors.NoLivingConnectionsError,
  errors.RequestAbortedError,
];

/** Whether the same request may succeed later without any change. */
export const isPassing = (error: unknown): boolean =>
  error instanceof errors.ResponseError
    ? PASSING_STATUS.has(error.statusCode ?? 0)
    : UNANSWERED.some((kind) => error instanceof kind);

/** Whether the engine rejected a name that is already in use. */
export const isTaken = (error: unknown): boolean =>
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
    return isPassing(error)
      ? unavailable('The dataset index does not answer', RETRY_AFTER)
      : new Error(`The search engine's answer was not understood: ${error.name}`);
  const causes = causesOf(error);
  if (causes.some(({ type }) => GONE_TYPES.has(type ?? ''))) return gone('These rows are no longer kept');
  if (isPassing(error)) return unavailable('The dataset index has too much to do', RETRY_AFTER);
  if (error.statusCode === 401 || error.statusCode === 403)
    return unavailable('The dataset index refuses the credentials it was given', RETRY_AFTER);
  const said = causes.map(({ type, reason }) => `${type}: ${reason}`).join('; ');
  return new Error(`The search engine refused the request (${error.statusCode}): ${said.slice(0, SHOWN_CHARACTERS)}`);
}

/** Returns the reasons in a response, including those of shards. */
function causesOf(error: InstanceType<typeof errors.ResponseError>): Cause[] {
  const body = error.body as
    | { error?: Cause & { root_cause?: Cause[]; failed_shards?: { reason?: Cause }[] } }
    | undefined;
  const own = body?.error;
  if (typeof own !== 'object' || own === null) return [];
  return [own, ...(own.root_cause ?? []), ...(own.failed_shards ?? []).flatMap(({ reason }) => reason ?? [])];
}
