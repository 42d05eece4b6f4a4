import { Readable } from 'node:stream';
import type { Context } from '../../core/context.ts';
import type { AuditedRead } from '../../core/downloads.ts';
import { notFound } from '../../core/errors.ts';
import { auditContent } from './audit-read.ts';

/** The identity and place of contents; a `fileId` of null stands for no bytes. */
export interface StoredContents {
  fileId?: string | null;
  size: number;
  sha256: string;
}

/** Number of further look-ups of contents that were replaced before they were opened. */
const MAX_LOOKUPS = 5;

/**
 * Sends contents in response to a request for their bytes. `find` finds them, and `what` names them in an error.
 * Returns the identity of the contents; null for other requests. `audited` is their event in the audit log.
 */
export async function sendStoredContents(
  ctx: Context,
  { what, id, audited }: { what: string; id: string; audited: AuditedRead },
  find: () => Promise<StoredContents>,
): Promise<Pick<StoredContents, 'size' | 'sha256'> | null> {
  if (!ctx.sendFile) return null;
  for (let lookup = 0; lookup < MAX_LOOKUPS; lookup += 1) {
    const { fileId, size, sha256 } = await find();
    if (ctx.revalidate?.(sha256)) return { size, sha256 };
    const range = ctx.selectRange?.(size, sha256);
    const content = fileId ? await ctx.platform.files.open(fileId, range) : Readable.from([]);
    if (content) {
      ctx.sendFile(await auditContent(ctx, audited, content), size);
      return { size, sha256 };
    }
  }
  throw notFound({ what: `contents of the ${what}`, id });
}
