import type { CreateAiProviderInput, UpdateAiProviderInput } from '../../../entities/ai-provider-input.ts';
import { AiProvider } from '../../../entities/ai-provider.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { forbidden, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { checkText, invalid } from '../../core/input-checks.ts';
import { OUTBOUND_URL_RULE } from '../../core/input-rules.ts';
import { newRow } from '../../core/new-row.ts';
import type { Transaction } from '../../core/platform.ts';
import { requireUser, type Viewer } from '../../core/viewer.ts';
import { checkVersion } from '../resource/load-resource.ts';
import { parseModels } from './parse-models.ts';

const PROVIDER_NOUN = 'AI provider';

/**
 * Creates an AI provider. Returns its id. Throws FORBIDDEN for a provider of the tenant unless the caller is a
 * superuser, and BAD_USER_INPUT for an address that outgoing calls may not reach.
 */
export async function create(
  ctx: Context,
  { name, baseUrl, apiKey, models, enabled, own }: CreateAiProviderInput,
): Promise<string> {
  const { viewer } = ctx;
  if (!own && !viewer.superuser) throw forbidden({ permission: 'tenant:superuser' });
  const content = {
    tenantId: viewer.tenantId,
    name: checkText(name, 'name'),
    baseUrl: await checkBaseUrl(ctx, baseUrl),
    sealedApiKey: seal(ctx, apiKey),
    models: parseModels(models ?? []),
    enabled: enabled ?? true,
    ownerId: own ? requireUser(viewer) : null,
  };
  return ctx.transaction(async (tx) => tx.insert(newRow(AiProvider, content)).id);
}

/**
 * Updates an AI provider. Returns its id. A new address requires the key again: the stored key must not be sent there.
 */
export async function update(
  ctx: Context,
  id: string,
  { name, baseUrl, apiKey, models, enabled }: UpdateAiProviderInput,
): Promise<string> {
  const changes: Partial<AiProvider> = {
    ...(name !== undefined && { name: checkText(name, 'name') }),
    ...(baseUrl !== undefined && { baseUrl: withoutSlash(baseUrl) }),
    ...(models !== undefined && { models: parseModels(models) }),
    ...(enabled !== undefined && { enabled }),
  };
  return ctx.transaction(async (tx) => {
    const provider = await loadProvider(ctx, tx, id);
    if (baseUrl !== undefined && changes.baseUrl !== provider.baseUrl) {
      await checkBaseUrl(ctx, baseUrl);
      if (apiKey === undefined) await requireNoKey(ctx, tx, provider.id);
    }
    Object.assign(provider, changes);
    if (apiKey !== undefined) provider.sealedApiKey = seal(ctx, apiKey);
    return provider.id;
  });
}

/** Deletes an AI provider. Its running calls continue. */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => tx.remove(await loadProvider(ctx, tx, id)));
}

/** Returns whether the viewer may change and delete an AI provider that they may read. */
export const isEditable = ({ viewer }: { viewer: Viewer }, { ownerId }: Pick<AiProvider, 'ownerId'>): boolean =>
  ownerId ? ownerId === viewer.userId : viewer.superuser;

/**
 * Loads a provider for a change. Throws NOT_FOUND for another user's provider, and FORBIDDEN for a provider of the
 * tenant if the caller is not a superuser.
 */
async function loadProvider(ctx: Context, tx: Transaction, id: string): Promise<AiProvider> {
  const provider = isUuid(id) ? await tx.findOne(AiProvider, { id: id.toLowerCase() }, { lock: 'update' }) : null;
  const isHidden = provider?.ownerId && provider.ownerId !== ctx.viewer.userId;
  if (!provider || isHidden) throw notFound({ what: PROVIDER_NOUN, id });
  recordAuditTarget(ctx.request, 'aiProvider', id, provider.id);
  if (!isEditable(ctx, provider)) throw forbidden({ permission: 'tenant:superuser' });
  checkVersion(ctx, PROVIDER_NOUN, provider.version);
  return provider;
}

const withoutSlash = (url: string): string => url.replace(/(?<!\/)\/+$/, '');

/** Returns the URL without a slash at its end. Throws BAD_USER_INPUT for one that outgoing calls refuse at any time. */
async function checkBaseUrl({ platform }: Context, url: string): Promise<string> {
  if (!URL.canParse(url)) throw invalid('baseUrl', OUTBOUND_URL_RULE.patternMessage);
  await platform.outbound.checkUrl(url);
  return withoutSlash(url);
}

/** Throws BAD_USER_INPUT if there is a stored key: it must not be sent to another address. */
async function requireNoKey({ viewer }: Context, tx: Transaction, id: string): Promise<void> {
  const rows = await tx.query({
    text: `select id from dws.ai_provider where tenant_id = $1 and id = $2 and sealed_api_key is not null`,
    values: [viewer.tenantId, id],
  });
  if (rows.length > 0) throw invalid('apiKey', 'is required when baseUrl changes');
}

const seal = ({ platform }: Context, key: string | null | undefined): string | null =>
  key == null ? null : platform.secrets.seal(key);
