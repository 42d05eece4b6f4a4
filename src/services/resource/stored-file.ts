import type { Context } from '../../core/context.ts';
import type { SavedFile } from '../../core/files.ts';
import type { Transaction } from '../../core/platform.ts';

/** SHA-256 of no bytes. */
export const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** A file in the file store, with the further columns of its row. */
export interface LabelledFile extends SavedFile {
  filename: string;
  contentType: string;
}

/** Inserts the row of a file in the file store. */
export function insertStoredFile(tx: Pick<Transaction, 'execute'>, tenantId: string, file: LabelledFile): void {
  tx.execute({
    text: `
      insert into dws.stored_file (id, tenant_id, filename, content_type, size, sha256)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [file.id, tenantId, file.filename, file.contentType, file.size, file.sha256],
  });
}

/** Deletes the rows of files that nothing refers to. */
export function deleteStoredFiles(tx: Pick<Transaction, 'execute'>, tenantId: string, ids: readonly string[]): void {
  if (ids.length > 0)
    tx.execute({
      text: `delete from dws.stored_file where tenant_id = $1 and id = any($2::uuid[])`,
      values: [tenantId, ids],
    });
}

/**
 * Deletes the rows of the files whose ids a subquery returns. `$1` in it, the first of `values`, is the tenant. Returns the
 * ids.
 */
export async function deleteSelectedFiles(
  tx: Pick<Transaction, 'query'>,
  subquery: string,
  values: readonly [tenantId: string, ...unknown[]],
): Promise<string[]> {
  const deleted = await tx.query<{ id: string }>({
    text: `delete from dws.stored_file where tenant_id = $1 and id in (${subquery}) returning id`,
    values: [...values],
  });
  return deleted.map(({ id }) => id);
}

/** Deletes the bytes of files that have no rows. If that fails, the janitor deletes them later. */
export async function deleteStoredBytes(
  { platform }: Pick<Context, 'platform'>,
  ids: readonly string[],
): Promise<void> {
  for (const id of ids)
    await platform.files
      .remove(id)
      .catch((err: unknown) => platform.log.warn({ err, file: id }, 'Could not delete a stored file'));
}

/** Deletes the bytes of files unless rows refer to them. If that fails, the janitor deletes them later. */
export async function deleteUnreferenced(
  ctx: Pick<Context, 'platform' | 'query'>,
  ids: readonly string[],
): Promise<void> {
  try {
    const rows = await ctx.query<{ id: string }>({
      text: `select id from dws.stored_file where id = any($1::uuid[])`,
      values: [ids],
    });
    const named = new Set(rows.map(({ id }) => id));
    await deleteStoredBytes(
      ctx,
      ids.filter((id) => !named.has(id)),
    );
  } catch (error) {
    ctx.platform.log.warn({ err: error, files: ids }, 'Could not delete stored files');
  }
}

/**
 * Inserts the row of saved bytes with `attach`, which returns the id of the file that it replaces. The bytes of that
 * file are then deleted. If `attach` throws, the saved bytes are deleted.
 */
export async function replaceBytes(
  ctx: Pick<Context, 'platform' | 'query'>,
  savedId: string,
  attach: () => Promise<string | null | undefined>,
): Promise<void> {
  try {
    const former = await attach();
    if (former) await deleteUnreferenced(ctx, [former]);
  } catch (error) {
    await deleteStoredBytes(ctx, [savedId]);
    throw error;
  }
}
