import { errors } from '@elastic/elasticsearch';
import { ApiError, gone, unavailable } from '../../../core/errors.ts';

const RETRY_AFTER = { headers: { 'retry-after': '5' } };
const SHOWN_CHARACTERS = 500;

/** What a later attempt may cure: too much to do, or nobody there. */
const PASSING_STATUS = new Set([429, 502, 503, 504]);
/** A name that nothing has, and a scroll that is over. */
const GONE_TYPES = new Set(['index_not_found_exception', 'search_context_missing_exception']);

interface Cause {
  type?: string;
  reason?: string;
}

/** What becomes of a request that nobody answers. Who asks whether it may pass has looked at the caller's own signal before. */
const UNANSWERED = [
  errors.ConnectionError,
  errors.TimeoutError,
  errors.NoLivingConnectionsError,
  errors.RequestAbortedError,
];

/** Whether the same request may succeed later, without a change of anything but the engine's mood. */
export const isPassing = (error: unknown): boolean =>
  error instanceof errors.ResponseError
    ? PASSING_STATUS.has(error.statusCode ?? 0)
    : UNANSWERED.some((kind) => error instanceof kind);

/** Whether the engine said that the name is taken. */
export const isTaken = (error: unknown): boolean =>
  error instanceof errors.ResponseError &&
  causesOf(error).some(({ type }) => type === 'resource_already_exists_exception');

/**
 * The error that a caller is to see for one of the client's. The client's own errors carry requests and answers, rows and credentials included, so they go no
 * further, neither as cause.
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

/** What the engine gives as reasons, the shards' own included. */
function causesOf(error: InstanceType<typeof errors.ResponseError>): Cause[] {
  const body = error.body as
    | { error?: Cause & { root_cause?: Cause[]; failed_shards?: { reason?: Cause }[] } }
    | undefined;
  const own = body?.error;
  if (typeof own !== 'object' || own === null) return [];
  return [own, ...(own.root_cause ?? []), ...(own.failed_shards ?? []).flatMap(({ reason }) => reason ?? [])];
}
