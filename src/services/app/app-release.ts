import { AppRelease } from '../../../entities/app-release.ts';
import { App } from '../../../entities/app.ts';
import type { Context } from '../../core/context.ts';
import type { Query } from '../../core/database.ts';
import { conflict, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { newRow } from '../../core/new-row.ts';
import type { Transaction } from '../../core/platform.ts';
import type { AppRoutes } from './app-code.ts';
import { loadForMigrations } from './app-part.ts';

/** Number of releases of an app that are kept. */
const MAX_RELEASES = 10;

/** A file of an app, as a release contains it. */
export interface ReleaseFile {
  path: string;
  contentType: string;
  fileId: string;
}

const FILES_CHANGED = 'Files of the app were changed while it was deployed: deploy it again';

/** Returns the error for files that were replaced or deleted while a deployment read them. */
export const filesChanged = () => conflict(FILES_CHANGED);

/** Returns the files of an app, by path. */
export const loadReleaseFiles = (query: Query, tenantId: string, appId: string): Promise<ReleaseFile[]> =>
  query<ReleaseFile & Record<string, unknown>>({
    text: `
      select path, content_type as "contentType", file_id as "fileId"
      from dws.app_file
      where tenant_id = $1 and app_id = $2
      order by path`,
    values: [tenantId, appId],
  });

interface NewRelease extends AppRoutes {
  files: readonly ReleaseFile[];
  deployedBy: string;
}

/**
 * Creates a release of an app and switches to it. Returns the release, and the ids of the stored files that older
 * releases had, which were deleted. Throws CONFLICT if files have been replaced since they were read.
 */
export async function createRelease(
  tx: Transaction,
  appId: string,
  { files, deployedBy, routes, webhooks }: NewRelease,
): Promise<{ release: AppRelease; formerFiles: string[] }> {
  const app = await tx.findOne(App, { id: appId }, { lock: 'update' });
  if (!app) throw notFound({ what: 'app', id: appId });
  const { tenantId } = app;
  const [last] = await tx.query<{ number: number }>({
    text: `select coalesce(max(number), 0) as number from dws.app_release where tenant_id = $1 and app_id = $2`,
    values: [tenantId, appId],
  });
  const [user] = await tx.query({
    text: `select from dws.app_user where tenant_id = $1 and id = $2 for key share`,
    values: [tenantId, deployedBy],
  });
  const release = tx.insert(
    newRow(AppRelease, {
      tenantId,
      appId,
      number: last!.number + 1,
      deployedBy: user ? deployedBy : null,
      deployedAt: new Date(),
      routes,
      webhooks,
      access: app.access,
    }),
  );
  await insertFiles(tx, release, files);
  app.deployedAt = release.deployedAt;
  acceptBy(app, deployedBy);
  await activate(tx, app, release);
  return { release, formerFiles: await deleteOldest(tx, app) };
}

/** Marks an app as accepted when its owner deploys it or returns to a release. */
function acceptBy(app: App, userId: string): void {
  app.accepted ||= app.ownerId === `user:${userId}`;
}

/** Inserts the files of a release, whose contents it shares with the app. */
async function insertFiles(
  tx: Transaction,
  { id, tenantId }: AppRelease,
  files: readonly ReleaseFile[],
): Promise<void> {
  const column = (key: keyof ReleaseFile) => files.map((file) => file[key]);
  const inserted = await tx.query({
    text: `
      with stored as (
        select id from dws.stored_file where tenant_id = $1 and id = any($5::uuid[]) order by id for key share
      )
      insert into dws.app_release_file (tenant_id, release_id, path, content_type, file_id)
      select $1, $2, f.path, f.content_type, f.file_id
      from unnest($3::text[], $4::text[], $5::uuid[]) f (path, content_type, file_id)
      join stored s on s.id = f.file_id
      returning path`,
    values: [tenantId, id, column('path'), column('contentType'), column('fileId')],
  });
  if (inserted.length !== files.length) throw filesChanged();
}

/** Switches an app, which is locked, to a release. Requests read the active release, so that the commit suffices. */
async function activate(tx: Transaction, app: App, release: AppRelease): Promise<void> {
  const actives = await tx.find(AppRelease, { appId: app.id, active: true });
  for (const active of actives) active.active = false;
  // One release of an app is active at any time.
  tx.flush();
  release.active = true;
  app.status = 'deployed';
}

/** Deletes the oldest releases that are not active beyond the limit. Returns the ids of the stored files that they had. */
async function deleteOldest(tx: Transaction, { id, tenantId }: App): Promise<string[]> {
  const old = await tx.query<{ id: string }>({
    text: `
      select id from dws.app_release
      where tenant_id = $1 and app_id = $2 and not active
      order by number desc
      offset $3`,
    values: [tenantId, id, MAX_RELEASES - 1],
  });
  const ids = old.map((release) => release.id);
  if (ids.length === 0) return [];
  const files = await tx.query<{ id: string }>({
    text: `select file_id as id from dws.app_release_file where tenant_id = $1 and release_id = any($2::uuid[])`,
    values: [tenantId, ids],
  });
  tx.execute({
    text: `delete from dws.app_release where tenant_id = $1 and id = any($2::uuid[])`,
    values: [tenantId, ids],
  });
  return files.map((file) => file.id);
}

/** Switches an app to one of its releases. Its schema and files stay. Returns the id. Throws NOT_FOUND. */
export const rollBack = (ctx: Context, appId: string, releaseId: string): Promise<string> =>
  ctx.transaction(async (tx) => {
    const app = await loadForMigrations(ctx, tx, appId, 'app:write', { ifMatch: ctx.ifMatch });
    const release = isUuid(releaseId) ? await tx.findOne(AppRelease, { id: releaseId, appId: app.id }) : null;
    if (!release) throw notFound({ what: 'release of the app', id: releaseId });
    acceptBy(app, ctx.viewer.userId);
    if (!release.active || app.status !== 'deployed') await activate(tx, app, release);
    return release.id;
  });
