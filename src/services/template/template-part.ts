import { TEMPLATE } from '../../../entities/owned-kinds.ts';
import { TemplateFile } from '../../../entities/template-file.ts';
import type { Template } from '../../../entities/template.ts';
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { storedPathOf } from '../../core/file-path.ts';
import { isUuid } from '../../core/id.ts';
import type { Transaction } from '../../core/platform.ts';
import type { FieldValues } from '../../core/read/list-arguments.ts';
import type { ReadRow, SelectionSource } from '../../core/read/reader.ts';
import { loadResource, resourceKey } from '../resource/load-resource.ts';

/**
 * Loads a template or a draft for a change of its files, inputs or processors, and locks it together with all of them.
 * Its version changes too. `If-Match` applies to the part.
 */
export async function loadForPart(ctx: Context, tx: Transaction, id: string): Promise<Template> {
  await lockOriginal(ctx, tx, id);
  const template = await loadResource(ctx, tx, TEMPLATE, id, 'template:write');
  template.updatedAt = new Date();
  return template;
}

/** Locks the template of a draft before the draft, as a commit does. Does nothing for a template. */
async function lockOriginal({ viewer }: Context, tx: Transaction, key: string): Promise<void> {
  const { id, slug } = resourceKey(viewer, key);
  await tx.query({
    text: `
      select
      from dws.template
      where tenant_id = $1
        and id = (select parent_id from dws.template where tenant_id = $1 and ${id ? 'id' : 'slug'} = $2)
      for update`,
    values: [viewer.tenantId, id ?? slug],
  });
}

/** Returns the columns by which a key names a file of a template: its id, or else its name. */
function fileKeys(templateId: string, key: string): Partial<TemplateFile>[] {
  const filename = storedPathOf(key);
  return [
    ...(isUuid(key) ? [{ templateId, id: key.toLowerCase() }] : []),
    ...(filename === undefined ? [] : [{ templateId, filename }]),
  ];
}

const noFile = (id: string) => notFound({ what: 'template file', id });

/** Loads a file of a template, which is locked, by its id or name. */
export async function loadFile(tx: Transaction, template: Template, key: string): Promise<TemplateFile> {
  for (const where of fileKeys(template.id, key)) {
    const file = await tx.findOne(TemplateFile, where);
    if (file) return file;
  }
  throw noFile(key);
}

/** Returns a file of a template that the caller may read, by its id or name. */
export async function findFile(
  ctx: Context,
  templateId: string,
  key: string,
  source: SelectionSource,
): Promise<ReadRow<TemplateFile>> {
  for (const where of fileKeys(templateId, key)) {
    const file = await ctx.read.find(TemplateFile, where as FieldValues, source);
    if (file) return file;
  }
  throw noFile(key);
}
