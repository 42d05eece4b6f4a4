import { isDeepStrictEqual } from 'node:util';
import { AppAccess, type AppAccessInput } from '../../../entities/app-access.ts';
import type { CreateAppInput, UpdateAppInput } from '../../../entities/app-input.ts';
import type { App } from '../../../entities/app.ts';
import { APP } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/input-checks.ts';
import { MASK } from '../../core/mask.ts';
import { CHANNELS } from '../../core/operations.ts';
import type { Transaction } from '../../core/platform.ts';
import { isOtherUser } from '../../core/viewer.ts';
import { cancelRunning } from '../operation/operation.ts';
import { loadResource } from '../resource/load-resource.ts';
import { createOwned, updateOwned } from '../resource/owned-kind.ts';
import { checkUnused } from '../resource/references.ts';
import { resolvePrincipal } from '../resource/resolve-ids.ts';
import { deleteUnreferenced } from '../resource/stored-file.ts';
import { setMonthlyBudget } from '../usage/monthly-budget.ts';
import { concurrencyKeyOf, loadForMigrations } from './app-part.ts';
import { openEnv } from './find-running-app.ts';
import { insertHookToken } from './hook-token.ts';

const MAX_HOSTS = 20;
/** A host name with an optional port, as URLs have it. */
const HOST = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*(?::[1-9]\d{0,4})?$/;

type Env = ReadonlyMap<string, string>;

/** Creates an app without a deployment. Returns its id. */
export async function create(ctx: Context, { env, access, monthlyBudget, ...input }: CreateAppInput): Promise<string> {
  const content: Partial<App> = sealEnv(ctx, mergeEnv(new Map(), env ?? {}));
  if (access) content.access = readAccess(access);
  setMonthlyBudget(ctx, content, monthlyBudget);
  return ctx.transaction(async (tx) => {
    const ownerId = input.ownerId ? await resolvePrincipal(tx, ctx.viewer.tenantId, input.ownerId) : undefined;
    content.accepted = !ownerId || !isOtherUser(ctx.viewer, ownerId);
    const app = await createOwned(ctx, tx, APP, { ...input, ownerId }, content);
    insertHookToken(ctx.platform.secrets, tx, app);
    return app.id;
  });
}

/** Updates an app. Its code gets a new environment from its next call. Returns its id. */
export async function update(
  ctx: Context,
  id: string,
  { env, access, monthlyBudget, ...input }: UpdateAppInput,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const app = await loadResource(ctx, tx, APP, id, 'app:write', { ifMatch: ctx.ifMatch });
    setMonthlyBudget(ctx, app, monthlyBudget);
    if (access !== undefined) app.access = readAccess(access);
    if (env !== undefined) {
      // An environment that cannot be decrypted can be removed.
      const former = env === null ? null : await loadEnv(ctx, tx, app);
      const merged = env === null || !former ? new Map<string, string>() : mergeEnv(former, env);
      // Each encryption of an equal environment differs, which would count as a change.
      if (former ? !isDeepStrictEqual(merged, former) : app.envNames.length > 0)
        Object.assign(app, sealEnv(ctx, merged));
    }
    await updateOwned(ctx, tx, APP, app, input);
    return app.id;
  });
}

/**
 * Deletes an app with its files, its datasource and its workspace, and ends its runs. Throws CONFLICT listing the
 * datasets and queries that read its datasource. The janitor deletes a workspace that cannot be deleted now.
 */
export async function remove(ctx: Context, id: string): Promise<void> {
  const { platform } = ctx;
  const { app, storedIds } = await ctx.transaction(async (tx) => {
    const found = await loadForMigrations(ctx, tx, id, 'app:delete', { ifMatch: ctx.ifMatch });
    const [files] = await Promise.all([
      tx.query<{ id: string }>({
        text: `
          select file_id as id from dws.app_file where tenant_id = $1 and app_id = $2
          union
          select f.file_id
          from dws.app_release_file f
          join dws.app_release r on r.tenant_id = f.tenant_id and r.id = f.release_id
          where r.tenant_id = $1 and r.app_id = $2`,
        values: [found.tenantId, found.id],
      }),
      checkUnused(ctx, tx, 'app', found.id),
    ]);
    cancelRunning(tx, found.tenantId, concurrencyKeyOf(found.id));
    tx.remove(found);
    tx.execute({ text: `select pg_notify('${CHANNELS.app}', $1)`, values: [found.id] });
    return { app: found, storedIds: files.map((file) => file.id) };
  });
  platform.notifications.notifyLocally(CHANNELS.app, app.id);
  await deleteUnreferenced(ctx, storedIds);
  if (app.schemaName)
    await platform.workspaces
      .remove({ tenantId: app.tenantId, appId: app.id })
      .catch((error: unknown) => platform.log.warn({ err: error, app: app.id }, 'Could not delete a workspace'));
}

/** Returns an environment with all names and masked values. */
export const maskEnv = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, MASK]));

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,254}$/;
const MAX_NAMES = 100;
const MAX_VALUE_CHARACTERS = 10_000;

/** Returns an environment with the changes of an input. Throws BAD_USER_INPUT for an invalid name or value. */
function mergeEnv(env: Env, changes: Record<string, unknown>): Env {
  const merged = new Map(env);
  for (const [name, value] of Object.entries(changes)) {
    if (!NAME.test(name)) throw invalid('env', `has a name that does not match ${NAME.source}`);
    if (value === null) merged.delete(name);
    else if (typeof value !== 'string' || value.length > MAX_VALUE_CHARACTERS)
      throw invalid(`env.${name}`, `must be a text of at most ${MAX_VALUE_CHARACTERS} characters, or null`);
    else if (value !== MASK) merged.set(name, value);
    else if (!merged.has(name)) throw invalid(`env.${name}`, 'has no stored value');
  }
  if (merged.size > MAX_NAMES) throw invalid('env', `must have at most ${MAX_NAMES} names`);
  return merged;
}

async function loadEnv(
  { platform, viewer }: Context,
  tx: Transaction,
  { id, name }: Pick<App, 'id' | 'name'>,
): Promise<Env> {
  const [row] = await tx.query<{ env: string | null }>({
    text: `select env from dws.app where tenant_id = $1 and id = $2`,
    values: [viewer.tenantId, id],
  });
  return openEnv(platform.secrets, { name, env: row?.env ?? null });
}

const sealEnv = ({ platform }: Context, env: Env): Pick<App, 'env' | 'envNames'> => ({
  env: env.size > 0 ? platform.secrets.seal(JSON.stringify([...env])) : null,
  envNames: [...env.keys()].toSorted(),
});

/** Returns the declaration of an app. Throws BAD_USER_INPUT for an invalid one. */
function readAccess(input: AppAccessInput | null): AppAccess {
  const scopes = [...new Set(input?.scopes ?? [])];
  const required = [...new Set(input?.required ?? [])];
  const hosts = [...new Set((input?.hosts ?? []).map((host) => host.toLowerCase()))];
  if (required.some((scope) => !scopes.includes(scope))) throw invalid('access.required', 'must be among the scopes');
  if (hosts.length > MAX_HOSTS) throw invalid('access.hosts', `must have at most ${MAX_HOSTS} items`);
  const other = hosts.find((host) => !HOST.test(host));
  if (other !== undefined) throw invalid('access.hosts', `contains ${JSON.stringify(other)}, which is not a host`);
  if (hosts.length > 0 && !scopes.includes('send')) throw invalid('access.hosts', 'requires the scope send');
  return Object.assign(new AppAccess(), { scopes, required, hosts });
}
