import type { SetAppFileInput } from '../../../entities/app-file-input.ts';
import { AppFile } from '../../../entities/app-file.ts';
import type { App } from '../../../entities/app.ts';
import { APP } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { downloadOf } from '../../core/downloads.ts';
import { conflict, notFound, preconditionFailed } from '../../core/errors.ts';
import { checkFilePath, storedPathOf } from '../../core/file-path.ts';
import { cleanFilename } from '../../core/files.ts';
import { DEFAULT_MEDIA_TYPE, isMediaType, mediaTypeOf } from '../../core/media-types.ts';
import { newRow } from '../../core/new-row.ts';
import type { Transaction } from '../../core/platform.ts';
import type { ReadRow, SelectionSource } from '../../core/read/reader.ts';
import { loadResource } from '../resource/load-resource.ts';
import { sendStoredContents } from '../resource/send-contents.ts';
import { deleteUnreferenced, insertStoredFile, replaceBytes } from '../resource/stored-file.ts';
import { checkUsage, maxFileBytes } from './app-file-limits.ts';
import { migrationOf } from './app-migration-path.ts';
import { checkNoMigrationRuns, loadForMigrations } from './app-part.ts';

const noFile = (path: string) => notFound({ what: 'file of the app', id: path });

/** Returns a file of an app by its path. Throws NOT_FOUND. The caller has checked that the viewer may read code. */
export async function findFile(
  ctx: Context,
  appId: string,
  path: string,
  source: SelectionSource,
): Promise<ReadRow<AppFile>> {
  const stored = storedPathOf(path);
  const file = stored === undefined ? null : await ctx.read.find(AppFile, { appId, path: stored }, source);
  if (!file) throw noFile(path);
  return { ...file, ...(await sendFileContents(ctx, appId, file)) };
}

const sendFileContents = (ctx: Context, appId: string, { id }: Pick<AppFile, 'id'>) =>
  sendStoredContents(ctx, { what: 'file of the app', id, audited: downloadOf('app.file', appId) }, () =>
    ctx.read.one(AppFile, { id }, ['size', 'sha256', 'fileId']),
  );

/**
 * Saves a file of an app. Returns its id, and whether it is new. `If-Match` applies to the contents. Throws CONFLICT for
 * other contents of a migration that has run.
 */
export async function setFile(
  ctx: Context,
  appId: string,
  givenPath: string,
  { file }: SetAppFileInput,
): Promise<{ id: string; created: boolean }> {
  // Access, path, `If-Match` and space are checked before the contents are received, and again after.
  const { path, maxBytes } = await ctx.transaction(async (tx) => {
    const app = await loadResource(ctx, tx, APP, appId, 'app:write');
    const checked = checkFilePath(givenPath, 'path');
    const { size } = await loadStored(ctx, tx, await findByPath(tx, app, checked));
    return {
      path: checked,
      maxBytes: await maxFileBytes(ctx, tx, app, checked, { minSize: file.minSize, replaced: size }),
    };
  });
  const saved = await ctx.platform.files.save(file.content, maxBytes);
  let result = { id: '', created: false };
  await replaceBytes(ctx, saved.id, async () => {
    await file.wholeInput?.();
    return ctx.transaction(async (tx) => {
      const app = await loadForMigrations(ctx, tx, appId, 'app:write');
      const former = await findByPath(tx, app, path);
      await loadStored(ctx, tx, former);
      await checkMigrationsStay(ctx, tx, app, new Map([[path, saved.sha256]]));
      if (!former) await checkNoFolder(tx, app, path);
      const stated = isMediaType(file.contentType) ? file.contentType : DEFAULT_MEDIA_TYPE;
      const contentType = mediaTypeOf(path) ?? stated;
      insertStoredFile(tx, app.tenantId, { ...saved, filename: cleanFilename(path), contentType });
      app.updatedAt = new Date();
      const replacedId = former?.fileId;
      const { tenantId } = app;
      const changed =
        former ?? tx.insert(newRow(AppFile, { tenantId, appId: app.id, path, contentType, fileId: saved.id }));
      Object.assign(changed, { fileId: saved.id, contentType });
      await checkUsage(ctx, tx, app);
      result = { id: changed.id, created: !former };
      return replacedId;
    });
  });
  return result;
}

const findByPath = (tx: Transaction, app: App, path: string): Promise<AppFile | null> =>
  tx.findOne(AppFile, { appId: app.id, path });

/** Returns the size of a file, 0 without one. Throws 412 if `If-Match` does not allow its contents. */
async function loadStored(ctx: Context, tx: Transaction, file: AppFile | null): Promise<{ size: number }> {
  const [stored] = file
    ? await tx.query<{ size: number; sha256: string }>({
        text: `select size, sha256 from dws.stored_file where tenant_id = $1 and id = $2`,
        values: [file.tenantId, file.fileId],
      })
    : [];
  if (ctx.ifMatchTags && !(stored && ctx.ifMatchTags.includes(stored.sha256)))
    throw preconditionFailed({ what: 'file of the app' });
  return { size: stored?.size ?? 0 };
}

/** Throws CONFLICT if the path of a new file is a folder, or one of its folders a file. */
async function checkNoFolder(tx: Transaction, { tenantId, id }: App, path: string): Promise<void> {
  const folders = path.split('/').map((_, i, parts) => parts.slice(0, i).join('/'));
  const [other] = await tx.query<{ path: string }>({
    text: `
      select path from dws.app_file
      where tenant_id = $1 and app_id = $2 and (path = any($3) or starts_with(path, $4))
      limit 1`,
    values: [tenantId, id, folders, `${path}/`],
  });
  if (other) throw conflict(`The app has the file ${other.path}, so that ${path} cannot be a file`);
}

/** Deletes a file of an app, or a folder with all files below. Throws CONFLICT for a migration that has run. */
export async function removeFile(ctx: Context, appId: string, path: string): Promise<void> {
  const storedIds = await ctx.transaction(async (tx) => {
    const app = await loadForMigrations(ctx, tx, appId, 'app:write');
    const name = checkFilePath(path.replace(/\/$/, ''), 'path');
    const below = await tx.query<{ id: string }>({
      text: `
        select id from dws.app_file
        where tenant_id = $1 and app_id = $2 and (path = $3 or starts_with(path, $4))`,
      values: [app.tenantId, app.id, name, `${name}/`],
    });
    if (below.length === 0) throw noFile(path);
    const files = (await tx.find(AppFile, { appId: app.id })).filter(({ id }) => below.some((one) => one.id === id));
    if (files.length === 1) await loadStored(ctx, tx, files[0]!);
    await checkMigrationsStay(ctx, tx, app, new Map(files.map((file) => [file.path, null])));
    app.updatedAt = new Date();
    for (const file of files) tx.remove(file);
    return files.map(({ fileId }) => fileId);
  });
  await deleteUnreferenced(ctx, storedIds);
}

/**
 * Throws CONFLICT if one of the files is a migration that has run, unless its new contents are the same, and while
 * migrations run. `files` has the SHA-256 of the new contents by path; null deletes the file.
 */
async function checkMigrationsStay(
  { platform }: Context,
  tx: Transaction,
  app: App,
  files: ReadonlyMap<string, string | null>,
): Promise<void> {
  const names = [...files].flatMap(([path, sha256]) => {
    const filename = migrationOf(path);
    return filename === null ? [] : [{ filename, path, sha256 }];
  });
  if (names.length === 0) return;
  await checkNoMigrationRuns(tx, app);
  if (!app.schemaName) return;
  const applied = await platform.workspaces.appliedMigrations({ tenantId: app.tenantId, appId: app.id });
  const checksums = new Map(applied.map(({ filename, checksum }) => [filename, checksum]));
  const changed = names.find(({ filename, sha256 }) => checksums.has(filename) && checksums.get(filename) !== sha256);
  if (changed) throw conflict(`The migration ${changed.path} has run: add another one instead`);
}
