import type { DeclaredAccess } from '../../core/app-access.ts';
import type { HandlerRoute, HandlerUser, RunningApp } from '../../core/app-run.ts';
import type { Context } from '../../core/context.ts';
import { isUuid } from '../../core/id.ts';
import { LEVEL, type Level } from '../../core/permissions.ts';
import type { SecretBox, SystemDatabase } from '../../core/platform.ts';
import { digest } from '../../core/secret.ts';
import { printPrincipal } from '../../core/viewer.ts';
import { accessLevel } from '../resource/access-level.ts';
import { isActive } from '../resource/active-user.ts';
import { resourceKey } from '../resource/load-resource.ts';

/** An app that is deployed, with the routes below `view` of its active release. */
export interface ViewedApp {
  app: RunningApp;
  routes: HandlerRoute[];
  /** Level of the caller, at least View. */
  level: Level;
  /** Username of the owner, or name of the team; null if it cannot act. */
  ownerName: string | null;
  /** The access that the active release declares. */
  access: DeclaredAccess;
  /** Display name of the caller; null for a team, and without one. */
  displayName: string | null;
}

/** An app that is deployed, with the webhooks of its active release. */
export interface WebhookApp {
  app: RunningApp;
  webhooks: HandlerRoute[];
  /** The owner, as whom its webhooks run; null if it is disabled, locked by an administrator or was deleted. */
  owner: HandlerUser | null;
}

type AppRow = RunningApp & Record<string, unknown>;

const SLUG = '[a-z0-9][a-z0-9-]*';
const APP_SLUG = new RegExp(`^${SLUG}$`);
const NATURAL_ID = new RegExp(`^(${SLUG}):(${SLUG})$`);

const COLUMNS = `
  a.id, a.tenant_id as "tenantId", t.slug as tenant, a.slug, a.name, a.owner_id as "ownerId", a.accepted, a.env,
  r.id as "releaseId"`;
const DEPLOYED = `
  dws.app a
  join dws.tenant t on t.id = a.tenant_id
  join dws.app_release r on r.tenant_id = a.tenant_id and r.app_id = a.id and r.active`;
/** Name of the owner; null if it cannot act. */
const OWNER_NAME = `
  case split_part(a.owner_id, ':', 1)
    when 'user' then (
      select u.username from dws.app_user u
      where u.tenant_id = a.tenant_id and u.id = split_part(a.owner_id, ':', 2)::uuid
        and ${isActive('u')}
    )
    when 'team' then (
      select o.name from dws.team o where o.tenant_id = a.tenant_id and o.id = split_part(a.owner_id, ':', 2)::uuid
    )
  end`;

/** Returns an app by its id, slug or natural id. Null if it is not deployed, or the caller may not read it. */
export async function findViewedApp(ctx: Context, key: string): Promise<ViewedApp | null> {
  const { id, slug } = resourceKey(ctx.viewer, key);
  if (slug !== undefined && !APP_SLUG.test(slug)) return null;
  const [row] = await ctx.query<AppRow & Pick<ViewedApp, 'routes' | 'ownerName' | 'access' | 'displayName'>>({
    text: `
      select ${COLUMNS}, r.routes, r.access, ${OWNER_NAME} as "ownerName",
        (select display_name from dws.app_user where tenant_id = $1 and id = $3) as "displayName"
      from ${DEPLOYED}
      where a.tenant_id = $1 and a.${id ? 'id' : 'slug'} = $2`,
    values: [ctx.viewer.tenantId, id ?? slug, ctx.viewer.userId],
  });
  if (!row) return null;
  const { routes, ownerName, access, displayName, ...app } = row;
  const level = await accessLevel(ctx, app);
  return level === LEVEL.none ? null : { app, routes, level, ownerName, access, displayName };
}

/** Returns an app of any tenant by its id or natural id. Null if it is not deployed. */
export async function findWebhookApp(system: SystemDatabase, key: string): Promise<WebhookApp | null> {
  const [, tenant, slug] = NATURAL_ID.exec(key) ?? [];
  if (tenant !== undefined) return findDeployed(system, 't.slug = $1 and a.slug = $2', [tenant, slug]);
  return isUuid(key) ? findDeployed(system, 'a.id = $1', [key.toLowerCase()]) : null;
}

/** Returns an app of any tenant by its hook token, or by its former one while that is valid. Null if it is not deployed. */
export const findAppByToken = (system: SystemDatabase, token: string): Promise<WebhookApp | null> =>
  findDeployed(
    system,
    `a.id in (
      select app_id from dws.app_hook_token where digest = $1 or (former_digest = $1 and former_until > now())
    )`,
    [digest(token)],
  );

async function findDeployed(system: SystemDatabase, where: string, values: unknown[]): Promise<WebhookApp | null> {
  const [row] = await system.query<
    AppRow & { webhooks: HandlerRoute[]; ownerName: string | null; displayName: string | null }
  >({
    text: `
      select ${COLUMNS}, r.webhooks, ${OWNER_NAME} as "ownerName",
        (
          select display_name from dws.app_user
          where tenant_id = a.tenant_id and id = split_part(a.owner_id, ':', 2)::uuid
        ) as "displayName"
      from ${DEPLOYED}
      where ${where}`,
    values,
  });
  if (!row) return null;
  const { webhooks, ownerName, displayName, ...app } = row;
  const owner = ownerName === null ? null : handlerUserOf(app.ownerId, { username: ownerName, displayName });
  return { app, webhooks, owner };
}

/** Returns a user or team as handlers get it. `username` is the name of a team. */
export function handlerUserOf(
  principal: string,
  { username, displayName }: { username: string; displayName: string | null },
): HandlerUser {
  const isTeam = principal.startsWith('team:');
  return {
    id: printPrincipal(principal),
    name: displayName ?? username,
    type: isTeam ? 'team' : 'user',
    username: isTeam ? null : username,
  };
}

/** Returns the environment of an app by the names of its variables. */
export const openEnv = (
  secrets: SecretBox,
  { name, env }: Pick<RunningApp, 'name' | 'env'>,
): ReadonlyMap<string, string> =>
  new Map(
    env === null ? [] : (JSON.parse(secrets.open(env, `the environment of app "${name}"`)) as [string, string][]),
  );
