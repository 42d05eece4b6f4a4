import type { Template } from '../../../entities/template.ts';
import type { Context } from '../../core/context.ts';
import type { Query } from '../../core/database.ts';
import { tooLarge } from '../../core/errors.ts';
import type { Transaction } from '../../core/platform.ts';
import { loadBytesLeft } from '../resource/quota.ts';

const MAX_FILES = 200;
const MAX_FILE_BYTES = 25_000_000;
const MAX_TEMPLATE_BYTES = 100_000_000;

interface Usage extends Record<string, unknown> {
  files: number;
  bytes: number;
}

/** Returns the number and bytes of the files of a template, without one of them. */
async function loadUsage(
  { query }: { query: Query },
  { tenantId, id }: Pick<Template, 'tenantId' | 'id'>,
  exceptFileId: string | null,
): Promise<Usage> {
  const [usage] = await query<Usage>({
    text: `
      select count(*)::int as files, coalesce(sum(s.size), 0)::bigint as bytes
      from dws.template_file f
      left join dws.stored_file s on s.tenant_id = f.tenant_id and s.id = f.file_id
      where f.tenant_id = $1 and f.template_id = $2 and f.id is distinct from $3`,
    values: [tenantId, id, exceptFileId],
  });
  return usage!;
}

/** Throws 413 if a template has reached the maximum number of files. */
export async function checkFileCount(tx: Transaction, template: Template): Promise<void> {
  const { files } = await loadUsage(tx, template, null);
  if (files >= MAX_FILES) throw tooMany();
}

const tooMany = () => tooLarge(`A template has at most ${MAX_FILES} files`);
const tooManyBytes = () => tooLarge(`The files of a template have at most ${MAX_TEMPLATE_BYTES} bytes together`);

/**
 * Returns the maximum size in bytes of a file while it is received. `replaced` is the file that gets the bytes, null
 * for a new one. Throws 413 if there is no space left, or if the sender announces more (`minSize`).
 */
export async function maxFileBytes(
  ctx: Context,
  tx: Transaction,
  template: Template,
  minSize: number,
  replaced: { id: string; size: number } | null,
): Promise<number> {
  const { MAX_UPLOAD_BYTES, TENANT_QUOTA_BYTES } = ctx.platform.config;
  const { files, bytes } = await loadUsage(tx, template, replaced?.id ?? null);
  if (!replaced && files >= MAX_FILES) throw tooMany();
  const left = await loadBytesLeft(tx, template.tenantId, TENANT_QUOTA_BYTES, replaced?.size ?? 0);
  const inTemplate = MAX_TEMPLATE_BYTES - bytes;
  if (inTemplate <= 0) throw tooManyBytes();
  const maxBytes = Math.min(MAX_FILE_BYTES, MAX_UPLOAD_BYTES || Infinity, inTemplate, left);
  if (minSize > maxBytes) throw tooLarge(`The file is larger than the maximum of ${maxBytes} bytes`);
  return maxBytes;
}

/** Throws 413 if the files of a template, which is locked, exceed their limits. They already include the new one. */
export async function checkUsage(tx: Transaction, template: Template): Promise<void> {
  const { files, bytes } = await loadUsage(tx, template, null);
  if (files > MAX_FILES) throw tooMany();
  if (bytes > MAX_TEMPLATE_BYTES) throw tooManyBytes();
}
