import type { LoginChecks, OidcRegistration } from '../../adapters/oidc/oidc-client.ts';
import { isAccountName } from '../../core/account-rules.ts';
import { addressRange } from '../../core/address-range.ts';
import type { PublicContext } from '../../core/context.ts';
import { ApiError, defineError, notFound } from '../../core/errors.ts';
import { FairGate } from '../../core/fair-gate.ts';
import type { Platform } from '../../core/platform.ts';
import { DEFAULT_TENANT, isSlug, tenantOrDefault } from '../../core/slug.ts';
import { invalidateCredentials } from './credential-invalidation.ts';
import { countLoginAttempt } from './login.ts';
import { readClaims } from './provider-claims.ts';
import { checkReturnPath, storeLoginState, takeLoginState } from './provider-login-state.ts';
import { findLoginUser, type ProviderSettings } from './provider-login-user.ts';
import { openSession } from './session-opening.ts';

/**
 * Logins that call an identity provider concurrently. Callers without credentials share it by tenants and their
 * addresses.
 */
const PROVIDER_GATE = FairGate.shared({ places: 16, maxWaiting: 200, taskNoun: 'logins' });

/** Number of starts of an address for each attempt of a user, because many people can share an address. */
const STARTS_PER_ATTEMPT = 10;

const accountRefused = defineError(
  401,
  'UNAUTHENTICATED',
  () => 'You cannot log in here with this account. Ask an administrator for access',
);

/** A provider on the login page. */
export interface LoginProviderLink extends Record<string, unknown> {
  domain: string;
  name: string;
  /** Path that starts the login. */
  href: string;
}

/** An enabled provider as it is stored. */
interface StoredProvider extends ProviderSettings {
  name: string;
  issuer: string;
  clientId: string;
  sealedClientSecret: string | null;
  scope: string;
  tenant: string;
}

const SELECT_PROVIDER = `
  select p.id, p.version, p.tenant_id as "tenantId", t.slug as tenant, p.domain, p.name, p.issuer, p.client_id as "clientId",
    p.sealed_client_secret as "sealedClientSecret", p.scope, p.username_claim as "usernameClaim",
    p.create_users as "createUsers", p.email_domains as "emailDomains", p.team_ids as "teamIds"
  from dws.identity_provider p
  join dws.tenant t on t.id = p.tenant_id
  where p.enabled`;

/** Lists the enabled identity providers of a tenant, by name. A tenant that does not exist has none. */
export async function listLoginProviders(
  { platform }: PublicContext,
  tenant: string | null | undefined,
): Promise<LoginProviderLink[]> {
  const slug = tenantOrDefault(tenant);
  const providers = await platform.system.query<{ domain: string; name: string }>({
    text: `
      select p.domain, p.name
      from dws.identity_provider p
      join dws.tenant t on t.id = p.tenant_id
      where p.enabled and t.slug = $1
      order by lower(p.name), p.id`,
    values: [isSlug(slug) ? slug : ''],
  });
  return providers.map(({ domain, name }) => ({
    domain,
    name,
    href: `/api/login/${encodeURIComponent(domain)}?tenant=${encodeURIComponent(slug)}`,
  }));
}

/**
 * Starts a login at the identity provider of a domain. Returns the URL that the browser opens, and stores the state
 * of the login in a cookie. Throws NOT_FOUND if the domain has no enabled provider, UNAVAILABLE if it does not respond,
 * and 429 past the limit of starts.
 */
export async function startLogin(
  ctx: PublicContext,
  domain: string,
  { tenant, returnTo }: { tenant?: string | null | undefined; returnTo?: string | null | undefined },
): Promise<string> {
  const path = checkReturnPath(returnTo || '/');
  await countLoginAttempt(ctx.platform, `start/${addressRange(ctx.request.address)}`, {
    factor: STARTS_PER_ATTEMPT,
  });
  const slug = tenantOrDefault(tenant);
  const provider = isSlug(slug) && isAccountName(domain) ? await findProvider(ctx.platform, slug, domain) : undefined;
  if (!provider) throw notFound({ what: 'identity provider of the domain', id: domain });
  const { buildLoginUrl, generateLoginChecks } = await import('../../adapters/oidc/oidc-client.ts');
  const checks: LoginChecks = generateLoginChecks();
  const registration = registrationOf(ctx.platform, provider);
  const url = await callProvider(ctx, provider, (signal) =>
    buildLoginUrl(ctx.platform.outbound, registration, provider.scope, checks, signal),
  );
  storeLoginState(ctx, {
    ...checks,
    purpose: 'login',
    providerId: provider.id,
    issuer: provider.issuer,
    tenantId: provider.tenantId,
    tenant: provider.tenant,
    returnTo: path,
    startedAt: Date.now(),
  });
  return url;
}

/**
 * Ends a login at an identity provider: opens a session and sets its cookie. `parameters` is the query string of the
 * redirect from the provider. Returns the path that the browser opens. Throws UNAUTHENTICATED unless the provider
 * proves that its user may log in, in this browser, within ten minutes, once.
 */
export async function finishLogin(
  ctx: PublicContext,
  domain: string,
  parameters: string,
  tenant: string | null | undefined,
): Promise<string> {
  const { platform, request } = ctx;
  const state = await takeLoginState(ctx, parameters);
  const { mutation } = request;
  // From here on the tenant is known, whose audit log records the refusals.
  if (mutation) Object.assign(mutation, { actor: { tenant: { id: state.tenantId }, userId: null, username: '' } });
  const [provider] = await platform.system.query<StoredProvider>({
    text: `${SELECT_PROVIDER} and p.id = $1 and p.issuer = $2`,
    values: [state.providerId, state.issuer],
  });
  if (!provider) throw recordRefusal(ctx, state.tenantId, 'The provider was changed or deleted during the login');
  if (provider.domain.toLowerCase() !== domain.toLowerCase() || provider.tenant !== tenantOrDefault(tenant))
    throw recordRefusal(ctx, state.tenantId, 'The callback belongs to another domain or tenant');
  const { redeemCode } = await import('../../adapters/oidc/oidc-client.ts');
  const registration = registrationOf(platform, provider);
  const wanted = [provider.usernameClaim, 'email', 'email_verified'];
  const { claims, userInfoError } = await callProvider(ctx, provider, (signal) =>
    redeemCode(platform.outbound, registration, parameters, state, wanted, signal),
  ).catch((error: unknown) => {
    throw recordRefusedResponse(ctx, provider.id, error);
  });
  const external = readClaims(provider, claims);
  const user = await findLoginUser(platform, provider, external);
  if (userInfoError) {
    platform.log.info(
      { requestId: request.id, providerId: provider.id, err: userInfoError },
      'The user info of an identity provider failed',
    );
    // Claims that the ID token lacks may be the reason.
    if (user.refusal !== undefined && user.id === null) throw userInfoError;
  }
  if (user.refusal !== undefined)
    throw recordRefusal(ctx, state.tenantId, user.refusal, external.username ?? '', user.id ?? undefined);
  // A first login has ended the credentials that the user had before.
  invalidateCredentials(ctx, [user.id]);
  const session = await openSession(ctx, {
    id: user.id,
    tenantId: user.tenantId,
    username: user.username,
    isLocked: false,
    proof: { provider },
  });
  if (!session)
    throw recordRefusal(
      ctx,
      state.tenantId,
      'The user or the provider has changed during the login',
      user.username,
      user.id,
    );
  request.setSession(session.secret);
  return state.returnTo;
}

async function findProvider({ system }: Platform, tenant: string, domain: string): Promise<StoredProvider | undefined> {
  const [provider] = await system.query<StoredProvider>({
    text: `${SELECT_PROVIDER} and t.slug = $1 and lower(p.domain) = lower($2)`,
    values: [tenant, domain],
  });
  return provider;
}

/**
 * The redirect URI comes from `PUBLIC_URL`, never from the request. Every tenant and domain has its own. A provider
 * that knows the URI of one tenant then sends no code to another tenant, whose provider could redeem it.
 */
const registrationOf = (
  { secrets, publicUrl }: Platform,
  { name, issuer, clientId, sealedClientSecret, domain, tenant }: StoredProvider,
): OidcRegistration => ({
  issuer,
  clientId,
  clientSecret:
    sealedClientSecret === null
      ? null
      : secrets.open(sealedClientSecret, `the client secret of identity provider "${name}"`),
  redirectUri: `${publicUrl}/api/login/${encodeURIComponent(domain)}/callback${tenant === DEFAULT_TENANT ? '' : `/${tenant}`}`,
});

const callProvider = <T>(
  { request: { address, signal } }: PublicContext,
  { tenantId }: StoredProvider,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> => PROVIDER_GATE.run({ tenantId, userId: addressRange(address) }, signal, () => call(signal));

/** Logs why a response of the provider does not log a user in, and records the refusal. Returns the error. */
function recordRefusedResponse({ platform, request }: PublicContext, providerId: string, error: unknown): unknown {
  if (!(error instanceof ApiError) || error.status !== 401) return error;
  platform.log.info(
    { requestId: request.id, providerId, err: error },
    'The response of an identity provider was refused',
  );
  if (request.mutation) request.mutation.isDenied = true;
  return error;
}

/** Records a refused login in the audit log, with the name that was used and the user concerned. Returns the error. */
function recordRefusal(
  { platform, request: { id, mutation } }: PublicContext,
  tenantId: string,
  reason: string,
  username = '',
  userId?: string,
): Error {
  platform.log.info({ requestId: id, userId, reason }, 'A login with an identity provider was refused');
  if (mutation)
    Object.assign(mutation, {
      isDenied: true,
      kind: 'user',
      key: username || null,
      resourceId: userId ?? null,
      actor: { tenant: { id: tenantId }, userId: null, username },
    });
  return accountRefused();
}
