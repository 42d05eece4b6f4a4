import { LibraryFile } from '../../../entities/library-file.ts';
import type { Context } from '../../core/context.ts';
import { downloadOf } from '../../core/downloads.ts';
import { notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import type { ReadRow, SelectionSource } from '../../core/read/reader.ts';
import { sendStoredContents } from '../resource/send-contents.ts';

const FILE_NOUN = 'file of the library';

/** The columns that identify contents. The columns of the stored file are null if the contents are not kept. */
interface ContentColumns {
  storedFileId: string | null;
  storedSize: number | null;
  sha256: string | null;
}

/**
 * Returns a file of a library, and sends its contents in response to a request for its bytes. Throws NOT_FOUND for an
 * unknown file, and in such a request for a file whose contents are not kept. The caller has checked that the viewer
 * may read the library.
 */
export async function findFile(
  ctx: Context,
  libraryId: string,
  id: string,
  source: SelectionSource,
): Promise<ReadRow<LibraryFile>> {
  const file = isUuid(id) ? await ctx.read.find(LibraryFile, { id: id.toLowerCase(), libraryId }, source) : null;
  if (!file) throw notFound({ what: FILE_NOUN, id });
  const audited = downloadOf('library.file', libraryId);
  const sent = await sendStoredContents(ctx, { what: FILE_NOUN, id, audited }, () => loadContents(ctx, file.id));
  return { ...file, ...(sent && { sha256: sent.sha256 }) };
}

async function loadContents(ctx: Context, id: string) {
  const columns = ['storedFileId', 'storedSize', 'sha256'];
  const { storedFileId, storedSize, sha256 } = (await ctx.read.one(
    LibraryFile,
    { id },
    columns,
  )) as unknown as ContentColumns;
  if (storedFileId === null || storedSize === null || sha256 === null)
    throw notFound({ what: `contents of the ${FILE_NOUN}`, id });
  return { fileId: storedFileId, size: storedSize, sha256 };
}
