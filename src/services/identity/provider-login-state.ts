import type { LoginChecks } from '../../adapters/oidc/oidc-client.ts';
import type { PublicContext } from '../../core/context.ts';
import { badInput, defineError } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';
import { digest } from '../../core/secret.ts';

/** Time from the start of a login at an identity provider to its callback. */
export const LOGIN_LIFETIME_MS = 600_000;

const loginGone = defineError(
  401,
  'UNAUTHENTICATED',
  () => 'This login was not started in this browser, took more than ten minutes or was already used. Start it again',
);

/** State of a login at an identity provider between its start and its callback, stored encrypted in the browser. */
export interface LoginState extends LoginChecks {
  purpose: 'login';
  providerId: string;
  /** The issuer at the start. No other issuer may get the code. */
  issuer: string;
  tenantId: string;
  tenant: string;
  returnTo: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
}

/** Stores the state in a cookie of the browser. Throws BAD_USER_INPUT on channels without cookies. */
export function storeLoginState({ platform, request }: PublicContext, state: LoginState): void {
  if (!request.loginCookie) throw badInput('A login at an identity provider requires cookies: start it by HTTP');
  request.loginCookie.set(platform.secrets.seal(JSON.stringify(state)));
}

/**
 * Reads and deletes the state of this browser's login, and records it as used: a second callback fails. Throws
 * UNAUTHENTICATED if this browser started no such login, or too long ago.
 */
export async function takeLoginState({ platform, request }: PublicContext, parameters: string): Promise<LoginState> {
  const sealed = request.loginCookie?.get();
  request.loginCookie?.set(null);
  const state = sealed === undefined ? null : open(platform, sealed);
  if (!state || state.startedAt + LOGIN_LIFETIME_MS < Date.now()) throw loginGone();
  // The URL proves that the provider responds to this login, and not to an attacker's login.
  if (new URLSearchParams(parameters).get('state') !== state.state) throw loginGone();
  const used = await platform.system.query({
    text: `insert into dws.used_login (state_hash) values ($1) on conflict do nothing returning state_hash`,
    values: [digest(state.state)],
  });
  if (used.length === 0) throw loginGone();
  return state;
}

/** Returns null for a cookie that this service did not write. */
function open({ secrets }: Pick<PublicContext['platform'], 'secrets'>, sealed: string): LoginState | null {
  try {
    const state = JSON.parse(secrets.open(sealed, 'the login')) as LoginState;
    return state.purpose === 'login' ? state : null;
  } catch {
    return null;
  }
}

/**
 * Returns the path that the browser opens after a login. Throws BAD_USER_INPUT for anything that a browser could
 * take for the address of another site, and for characters that a header cannot contain.
 */
export function checkReturnPath(path: string): string {
  const base = 'http://service.invalid';
  const isPath = /^\/(?![/\\])[!-[\]-~]*$/.test(path) && path.length <= 2000;
  const url = URL.parse(path, base);
  // `/.//host` is resolved to `//host`, which a proxy may send as it is.
  if (!isPath || url?.origin !== base || url.pathname.startsWith('//'))
    throw invalid('returnTo', 'must be a path of this service, e.g. /');
  return path;
}
