/**
 * Errors by which a token endpoint states that a user has to authorize again: of OAuth 2.0 (RFC 6749, 5.2), of OpenID
 * Connect (Core, 3.1.2.6), which Microsoft returns for refresh tokens too, and of GitHub.
 */
const ENDED: ReadonlySet<string> = new Set([
  'invalid_grant',
  'interaction_required',
  'login_required',
  'consent_required',
  'account_selection_required',
  'bad_refresh_token',
]);

/** Returns whether an error of a token endpoint ends an authorization. */
export const endsAuthorization = (error: string): boolean => ENDED.has(error);

/**
 * Returns a response of a provider as openid-client reads it. Null and empty values are left out, as absent ones are. An
 * error with the status 200, as GitHub sends it, gets the status 400. An ID token is left out: it is of no use here, and
 * names an issuer that the library would check.
 */
export async function toReadableResponse(response: Response): Promise<Response> {
  const { status, headers } = response;
  const text = await response.text();
  const body = parseObject(text);
  if (body === null) return new Response(text, { status, headers });
  const entries = Object.entries(body).filter(([key, value]) => value !== null && value !== '' && key !== 'id_token');
  const stated = Object.fromEntries(entries);
  const isError = typeof stated['error'] === 'string' && stated['access_token'] === undefined;
  return new Response(JSON.stringify(stated), { status: isError ? 400 : status, headers });
}

/** Returns the object of a JSON text; null for other texts, which openid-client reports. */
function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown> | null) : null;
  } catch {
    return null;
  }
}
