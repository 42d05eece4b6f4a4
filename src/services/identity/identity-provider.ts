import type {
  CreateIdentityProviderInput,
  UpdateIdentityProviderInput,
} from '../../../entities/identity-provider-input.ts';
import { IdentityProvider } from '../../../entities/identity-provider.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { conflict, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { assignPresent, checkText, invalid } from '../../core/input-checks.ts';
import { OUTBOUND_URL_RULE } from '../../core/input-rules.ts';
import { lockKey } from '../../core/locks.ts';
import { newRow } from '../../core/new-row.ts';
import type { Transaction } from '../../core/platform.ts';
import { checkVersion } from '../resource/load-resource.ts';
import { canSuperuserLogIn } from './user-permissions.ts';

const PROVIDER_NOUN = 'identity provider';

/** Creates an identity provider. Returns its id. Throws CONFLICT if the domain has an enabled one. */
export async function create(ctx: Context, { clientSecret, ...input }: CreateIdentityProviderInput): Promise<string> {
  const { tenantId } = ctx.viewer;
  const provider = newRow(IdentityProvider, { tenantId, sealedClientSecret: seal(ctx, clientSecret) });
  assignPresent(provider, checkInput(input));
  return ctx.transaction(async (tx) => {
    await Promise.all([
      requireTeams(ctx, tx, provider.teamIds),
      requireFreeDomain(ctx, tx, provider),
      requireSuperuser(ctx, tx, provider),
    ]);
    return tx.insert(provider).id;
  });
}

/**
 * Updates an identity provider. Returns its id. A change of the issuer unlinks all users from their accounts there,
 * since another issuer may give the same id to another person.
 */
export async function update(
  ctx: Context,
  id: string,
  { clientSecret, ...input }: UpdateIdentityProviderInput,
): Promise<string> {
  const changes = checkInput(input);
  return ctx.transaction(async (tx) => {
    const provider = await loadProvider(ctx, tx, id);
    const hasNewIssuer = changes.issuer !== undefined && changes.issuer !== provider.issuer;
    await Promise.all([
      requireTeams(ctx, tx, changes.teamIds ?? []),
      requireFreeDomain(ctx, tx, { ...provider, ...changes }),
      requireSuperuser(ctx, tx, { ...provider, ...changes }),
      hasNewIssuer && clientSecret === undefined ? requireNoSecret(ctx, tx, provider.id) : undefined,
    ]);
    assignPresent(provider, changes);
    if (clientSecret !== undefined) provider.sealedClientSecret = seal(ctx, clientSecret);
    if (hasNewIssuer)
      tx.execute({
        text: `delete from dws.user_identity where tenant_id = $1 and provider_id = $2`,
        values: [ctx.viewer.tenantId, provider.id],
      });
    return provider.id;
  });
}

/** Deletes an identity provider. Its users stay, unlinked from their accounts at the provider. */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => tx.remove(await loadProvider(ctx, tx, id)));
}

async function loadProvider(ctx: Context, tx: Transaction, id: string): Promise<IdentityProvider> {
  const provider = isUuid(id) ? await tx.findOne(IdentityProvider, { id: id.toLowerCase() }, { lock: 'update' }) : null;
  if (!provider) throw notFound({ what: PROVIDER_NOUN, id });
  recordAuditTarget(ctx.request, 'identityProvider', id, provider.id);
  checkVersion(ctx, PROVIDER_NOUN, provider.version);
  return provider;
}

/**
 * Returns the input with `name` trimmed, and `emailDomains` and `teamIds` in lower case without duplicates. Throws
 * BAD_USER_INPUT that names the invalid field.
 */
function checkInput<T extends Omit<UpdateIdentityProviderInput, 'clientSecret'>>(input: T): T {
  const checked = { ...input };
  if (checked.domain?.toLowerCase() === 'local')
    throw invalid('domain', 'must not be local, whose users have passwords');
  if (checked.name !== undefined) checked.name = checkText(checked.name, 'name');
  if (checked.issuer !== undefined && !URL.canParse(checked.issuer))
    throw invalid('issuer', OUTBOUND_URL_RULE.patternMessage);
  if (checked.emailDomains) checked.emailDomains = distinct(checked.emailDomains);
  if (checked.teamIds) checked.teamIds = distinct(checked.teamIds);
  return checked;
}

const distinct = (texts: readonly string[]): string[] => [...new Set(texts.map((text) => text.toLowerCase()))];

/** Throws NOT_FOUND for a team that does not exist. */
async function requireTeams({ viewer }: Context, tx: Transaction, ids: readonly string[]): Promise<void> {
  const malformed = ids.find((id) => !isUuid(id));
  if (malformed !== undefined) throw notFound({ what: 'team', id: malformed });
  if (ids.length === 0) return;
  const found = await tx.query<{ id: string }>({
    text: `select id from dws.team where tenant_id = $1 and id = any($2)`,
    values: [viewer.tenantId, ids],
  });
  const missing = ids.find((id) => !found.some((team) => team.id === id));
  if (missing !== undefined) throw notFound({ what: 'team', id: missing });
}

/** Throws CONFLICT if the provider is enabled and the domain already has another enabled one. */
async function requireFreeDomain(
  { viewer }: Context,
  tx: Transaction,
  provider: Pick<IdentityProvider, 'id' | 'domain' | 'enabled'>,
): Promise<void> {
  if (!provider.enabled) return;
  // Concurrent transactions wait for each other here, so that none violates the unique index.
  lockKey(tx, `identity-provider:${viewer.tenantId}`);
  const taken = await tx.query({
    text: `
      select id from dws.identity_provider
      where tenant_id = $1 and lower(domain) = lower($2) and enabled and id <> $3`,
    values: [viewer.tenantId, provider.domain, provider.id],
  });
  if (taken.length) throw conflict(`The domain "${provider.domain}" already has an enabled identity provider`);
}

/**
 * Throws CONFLICT if the provider is enabled and would leave no superuser who can log in, since it never logs one in.
 */
async function requireSuperuser(
  ctx: Context,
  tx: Transaction,
  { domain, enabled }: Pick<IdentityProvider, 'domain' | 'enabled'>,
): Promise<void> {
  if (enabled && !(await canSuperuserLogIn(ctx, tx, { butDomain: domain })))
    throw conflict(`The domain "${domain}" has the last superuser who can log in with a password`);
}

/** Throws BAD_USER_INPUT if there is a stored secret: it must not be sent to another issuer. */
async function requireNoSecret({ viewer }: Context, tx: Transaction, id: string): Promise<void> {
  const rows = await tx.query({
    text: `
      select id from dws.identity_provider
      where tenant_id = $1 and id = $2 and sealed_client_secret is not null`,
    values: [viewer.tenantId, id],
  });
  if (rows.length > 0) throw invalid('clientSecret', 'is required when issuer changes');
}

const seal = ({ platform }: Context, secret: string | null | undefined): string | null =>
  secret == null ? null : platform.secrets.seal(secret);
