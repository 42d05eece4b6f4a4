import type { App } from '../../../entities/app.ts';
import type { Context } from '../../core/context.ts';
import { tooLarge } from '../../core/errors.ts';
import { lockKey } from '../../core/locks.ts';
import { extensionOf } from '../../core/media-types.ts';
import type { Transaction } from '../../core/platform.ts';
import { checkQuota, loadBytesLeft } from '../resource/quota.ts';
import { migrationOf } from './app-migration-path.ts';

const MAX_FILES = 500;
const MAX_FILE_BYTES = 5_000_000;
/** Modules and migrations are read into memory when they run. */
const MAX_CODE_BYTES = 1_000_000;
const MAX_APP_BYTES = 50_000_000;

const tooMany = () => tooLarge(`An app has at most ${MAX_FILES} files`);
const tooManyBytes = () => tooLarge(`The files of an app have at most ${MAX_APP_BYTES} bytes together`);

const isCode = (path: string): boolean => ['js', 'ts'].includes(extensionOf(path) ?? '') || migrationOf(path) !== null;

interface Usage extends Record<string, unknown> {
  files: number;
  bytes: number;
}

/** Returns the number and bytes of the files of an app, without the one at a path. */
async function loadUsage(tx: Transaction, { tenantId, id }: App, exceptPath: string | null): Promise<Usage> {
  const [usage] = await tx.query<Usage>({
    text: `
      select count(*)::int as files, coalesce(sum(s.size), 0)::bigint as bytes
      from dws.app_file f
      join dws.stored_file s on s.tenant_id = f.tenant_id and s.id = f.file_id
      where f.tenant_id = $1 and f.app_id = $2 and f.path is distinct from $3`,
    values: [tenantId, id, exceptPath],
  });
  return usage!;
}

/**
 * Returns the maximum size in bytes of the file at a path while it is received. `replaced` is the size of the file that
 * it replaces. Throws 413 if there is no space left, or if the sender announces more (`minSize`).
 */
export async function maxFileBytes(
  ctx: Context,
  tx: Transaction,
  app: App,
  path: string,
  { minSize, replaced }: { minSize: number; replaced: number },
): Promise<number> {
  const { MAX_UPLOAD_BYTES, TENANT_QUOTA_BYTES } = ctx.platform.config;
  const { files, bytes } = await loadUsage(tx, app, path);
  if (files >= MAX_FILES) throw tooMany();
  const left = await loadBytesLeft(tx, app.tenantId, TENANT_QUOTA_BYTES, replaced);
  const inApp = MAX_APP_BYTES - bytes;
  if (inApp <= 0) throw tooManyBytes();
  const ofType = isCode(path) ? MAX_CODE_BYTES : MAX_FILE_BYTES;
  const maxBytes = Math.min(ofType, MAX_UPLOAD_BYTES || Infinity, inApp, left);
  if (minSize > maxBytes) throw tooLarge(`The file is larger than the maximum of ${maxBytes} bytes`);
  return maxBytes;
}

/** Throws 413 if the files of an app, which is locked, or of its tenant exceed their limits with the new one. */
export async function checkUsage(ctx: Context, tx: Transaction, app: App): Promise<void> {
  tx.flush();
  const { files, bytes } = await loadUsage(tx, app, null);
  if (files > MAX_FILES) throw tooMany();
  if (bytes > MAX_APP_BYTES) throw tooManyBytes();
  // Files that are saved concurrently see each other. This is the last of all locks, so that no transaction waits in a
  // circle.
  lockKey(tx, `quota:${app.tenantId}`);
  // The new file is already counted, and the replaced one no longer.
  await checkQuota(tx, app.tenantId, ctx.platform.config.TENANT_QUOTA_BYTES, 0);
}
