import type { AppGrantInput } from '../../../entities/app-grant-input.ts';
import { AppGrant } from '../../../entities/app-grant.ts';
import {
  effectiveAccess,
  Received,
  type AppLimit,
  type AppScope,
  type DeclaredAccess,
  type GrantedAccess,
} from '../../core/app-access.ts';
import type { RunningApp } from '../../core/app-run.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { conflict, notFound } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';
import { newRow } from '../../core/new-row.ts';
import { NEW_USER_PERMISSIONS } from '../../core/permissions.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import { actingPrincipal, requireUser, type Viewer } from '../../core/viewer.ts';
import { resourceKey } from '../resource/load-resource.ts';
import { findViewedApp } from './find-running-app.ts';

const NONE: GrantedAccess = { scopes: [], hosts: [] };
const NEW_USER: ReadonlySet<string> = new Set(NEW_USER_PERMISSIONS);

/**
 * Replaces the permissions that the viewer grants to an app. Returns the id of the grant. Throws BAD_USER_INPUT for
 * permissions that the active release does not declare, and CONFLICT if it is not the release that the viewer names.
 */
export async function set(ctx: Context, appKey: string, { scopes, hosts, releaseId }: AppGrantInput): Promise<string> {
  const userId = requireUser(ctx.viewer);
  const { app } = await findGrantedApp(ctx, appKey);
  if (isOwnApp(ctx.viewer, app)) throw conflict('You own the app: it has your rights without a grant');
  return ctx.transaction(async (tx) => {
    const release = await lockRelease(tx, app);
    if (releaseId != null && releaseId.toLowerCase() !== release.id)
      throw conflict('The app has another release now: read its declaration, and choose again');
    const granted = checkGrant(release.access, scopes, hosts ?? []);
    const content = { ...granted, ownerId: app.ownerId, releaseId: release.id };
    const former = await tx.findOne(AppGrant, { userId, appId: app.id });
    if (former) return Object.assign(former, content).id;
    return tx.insert(newRow(AppGrant, { tenantId: app.tenantId, userId, appId: app.id, ...content })).id;
  });
}

/**
 * Locks an app and returns its active release, which then stays. A user who grants twice concurrently has one grant,
 * and an app that is deleted during the call has none. Throws CONFLICT if the app was deleted or has another owner.
 */
async function lockRelease(
  tx: Transaction,
  { tenantId, id, ownerId }: RunningApp,
): Promise<{ id: string; access: DeclaredAccess }> {
  const [found] = await tx.query({
    text: `select from dws.app where tenant_id = $1 and id = $2 and owner_id = $3 for update`,
    values: [tenantId, id, ownerId],
  });
  // A separate statement: after waiting for the lock, the first one still sees the release from before.
  const [release] = found
    ? await tx.query<{ id: string; access: DeclaredAccess }>({
        text: `select id, access from dws.app_release where tenant_id = $1 and app_id = $2 and active`,
        values: [tenantId, id],
      })
    : [];
  if (!release) throw conflict('The app was changed during the request: look at it again');
  return release;
}

/**
 * Deletes the viewer's grant to an app. This takes effect on the next call of the app. Throws NOT_FOUND without a
 * grant.
 */
export async function remove(ctx: Context, appKey: string): Promise<void> {
  const userId = requireUser(ctx.viewer);
  const { id, slug } = resourceKey(ctx.viewer, appKey);
  await ctx.transaction(async (tx) => {
    // Includes apps that the user may no longer read.
    const [app] = await tx.query<{ id: string }>({
      text: `select id from dws.app where tenant_id = $1 and (id = $2 or slug = $3)`,
      values: [ctx.viewer.tenantId, id, slug],
    });
    const grant = app && (await tx.findOne(AppGrant, { userId, appId: app.id }));
    if (!grant) throw notFound({ what: 'grant to the app', id: appKey });
    tx.remove(grant);
  });
}

/** Returns a deployed app that the viewer may read. Throws NOT_FOUND. */
export async function findGrantedApp(ctx: Context, key: string) {
  const found = await findViewedApp(ctx, key);
  if (!found) throw notFound({ what: 'deployed app', id: key });
  recordAuditTarget(ctx.request, 'app', key, found.app.id);
  return found;
}

function checkGrant(declared: DeclaredAccess, scopes: readonly AppScope[], hosts: readonly string[]): GrantedAccess {
  const other = scopes.find((scope) => !declared.scopes.includes(scope));
  if (other) throw invalid('scopes', `contains ${other}, which the app does not declare`);
  const stranger = hosts.find((host) => !declared.hosts.includes(host));
  if (stranger !== undefined) throw invalid('hosts', `contains ${stranger}, which the app does not declare`);
  if (hosts.length > 0 && !scopes.includes('send')) throw invalid('hosts', 'requires the scope send');
  return { scopes: [...new Set(scopes)], hosts: [...new Set(hosts)] };
}

/** Returns the URL of the page on which a user grants access to an app. */
const grantUrl = ({ publicUrl }: Pick<Platform, 'publicUrl'>, appId: string): string =>
  `${publicUrl}/app-access/${appId}`;

/** A user's grant, in the columns of its row. */
interface GrantRow extends GrantedAccess, Record<string, unknown> {
  id: string;
  releaseId: string;
  /** Whether the last use must be recorded again. */
  isStale: boolean;
}

/** Returns the grant of the viewer to an app, if it still holds: not for another owner, nor another release if that counts. */
async function loadGrant({ query, viewer }: Context, app: RunningApp): Promise<GrantRow | null> {
  const [grant] = await query<GrantRow>({
    text: `
      select id, scopes, hosts, release_id as "releaseId",
        coalesce(last_used_at < now() - interval '1 minute', true) as "isStale"
      from dws.app_grant
      where tenant_id = $1 and app_id = $2 and user_id = $3 and owner_id = $4`,
    values: [viewer.tenantId, app.id, viewer.userId, app.ownerId],
  });
  return grant && (grant.releaseId === app.releaseId || !hasGlobalPermissions(viewer)) ? grant : null;
}

/** Returns what the viewer has granted to an app: nothing without a grant that holds. */
export const findGrant = async (ctx: Context, app: RunningApp): Promise<GrantedAccess> =>
  (await loadGrant(ctx, app)) ?? NONE;

/**
 * Returns the limit of an app that the viewer calls: the viewer's grant, as far as it still holds. Null for the user or
 * the team that owns the app and has accepted it. Records the use of a grant.
 */
export async function loadLimit(ctx: Context, app: RunningApp, declared: DeclaredAccess): Promise<AppLimit | null> {
  if (isOwnApp(ctx.viewer, app)) return null;
  const grant = await loadGrant(ctx, app);
  if (grant?.isStale) await noteUse(ctx, grant.id);
  return {
    tenantId: app.tenantId,
    appId: app.id,
    grantId: grant?.id ?? null,
    url: grantUrl(ctx.platform, app.id),
    declared,
    granted: grant ? effectiveAccess(declared, grant) : NONE,
    received: new Received(),
  };
}

/**
 * Returns a limit reduced to what its user still grants: never more than when the run began, and nothing after the
 * grant has ended or the app got another owner.
 */
export async function currentLimit({ database }: Pick<Platform, 'database'>, limit: AppLimit): Promise<AppLimit> {
  const { tenantId, grantId, declared, granted } = limit;
  if (grantId === null) return limit;
  const [grant] = await database.query<GrantedAccess & Record<string, unknown>>(tenantId, {
    text: `
      select g.scopes, g.hosts
      from dws.app_grant g
      join dws.app a on a.tenant_id = g.tenant_id and a.id = g.app_id and a.owner_id = g.owner_id
      where g.tenant_id = $1 and g.id = $2`,
    values: [tenantId, grantId],
  });
  return { ...limit, granted: effectiveAccess({ ...declared, ...granted }, grant ?? NONE) };
}

/**
 * Returns whether an app acts with all rights of the viewer. An app that was given away does not until its new owner
 * accepts it.
 */
const isOwnApp = (viewer: Viewer, { accepted, ownerId }: RunningApp): boolean =>
  accepted && ownerId === actingPrincipal(viewer);

/** Returns whether a viewer may do more than a new user: the code of an app may change after they agreed. */
const hasGlobalPermissions = ({ superuser, permissions }: Viewer): boolean =>
  superuser || [...permissions].some((permission) => !NEW_USER.has(permission));

/** Does not count as a change of the grant. */
const noteUse = ({ query, viewer }: Context, id: string): Promise<unknown> =>
  query({
    text: `update dws.app_grant set last_used_at = now() where tenant_id = $1 and id = $2`,
    values: [viewer.tenantId, id],
  });
