import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client';
import { ApiError, defineError, unavailable, upstreamFailed } from '../../core/errors.ts';
import { quoteUpstream } from '../../core/outbound.ts';

const loginRefused = defineError(401, 'UNAUTHENTICATED', (message: string) => message);

/** Refuses a login whose response the provider did not sign for it. */
export const invalidResponse = defineError(
  401,
  'UNAUTHENTICATED',
  () => 'The response of the identity provider is not valid for this login',
);

/** Codes of responses that the provider has not signed for this login. */
const REJECTED: ReadonlySet<string> = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_KEY_SELECTION_FAILED',
]);
const TIMED_OUT: ReadonlySet<string> = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT']);

/**
 * Converts an error of openid-client to one for the user: quotes the provider, masks the secrets. In a callback, a
 * response that is not valid refuses the login.
 */
export async function toLoginError(error: unknown, secrets: readonly string[], inCallback: boolean): Promise<Error> {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof ApiError) return cause;
  const quote = (...texts: (string | undefined)[]) => quoteUpstream(texts.filter(Boolean).join(': '), secrets);
  if (error instanceof AuthorizationResponseError)
    return loginRefused(`The identity provider refused the login: ${quote(error.error, error.error_description)}`);
  if (error instanceof ResponseBodyError) {
    const message = `The identity provider refused the request: ${quote(error.error, error.error_description)}`;
    // The code was used, has expired or belongs to another login.
    return error.error === 'invalid_grant' ? loginRefused(message) : upstreamFailed(message, { cause: error });
  }
  const code = error instanceof ClientError ? (error.code ?? '') : '';
  if (TIMED_OUT.has(code)) return unavailable('The identity provider does not respond', { cause: error });
  if (inCallback && REJECTED.has(code)) return invalidResponse(undefined, { cause: error });
  const { cause, message } = error as Error;
  const said = cause instanceof Error ? cause.message : await textOf(cause);
  return upstreamFailed(`The response of the identity provider is not usable: ${quote(message, said)}`, {
    cause: error,
  });
}

/** Returns status and text of a response, undefined for anything else. */
async function textOf(cause: unknown): Promise<string | undefined> {
  const response = cause as Partial<Response> | undefined;
  if (typeof response?.text !== 'function') return undefined;
  return `${response.status} ${response.bodyUsed ? '' : await response.text().catch(() => '')}`;
}
