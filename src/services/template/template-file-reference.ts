import { TemplateFile } from '../../../entities/template-file.ts';
import type { Template } from '../../../entities/template.ts';
import { notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';
import type { Transaction } from '../../core/platform.ts';

/** Media types of letterheads. */
const LETTERHEAD_TYPES: ReadonlySet<string> = new Set(['application/pdf', 'image/png', 'image/jpeg', 'image/svg+xml']);

/** Returns whether a file of this media type can be a letterhead. */
export const isLetterheadType = (contentType: string): boolean =>
  LETTERHEAD_TYPES.has(contentType.split(';', 1)[0]!.trim().toLowerCase());

/** Returns a file of a template by its id. Throws NOT_FOUND for a file of another one. */
async function findFile(tx: Transaction, template: Template, id: string): Promise<TemplateFile> {
  const file = isUuid(id) ? await tx.findOne(TemplateFile, { id: id.toLowerCase(), templateId: template.id }) : null;
  if (!file) throw notFound({ what: 'template file', id });
  return file;
}

/** Returns the id of a file that can be rendered. Throws BAD_USER_INPUT for a file of another role. */
export async function findTemplateFileId(tx: Transaction, template: Template, id: string): Promise<string> {
  const file = await findFile(tx, template, id);
  if (file.role !== 'TEMPLATE') throw invalid('templateFileId', 'must be a file with the role TEMPLATE');
  return file.id;
}

/** Returns the id of a file that can be a letterhead. Throws BAD_USER_INPUT for a file of another role or type. */
export async function findLetterheadId(tx: Transaction, template: Template, id: string): Promise<string> {
  const file = await findFile(tx, template, id);
  if (file.role !== 'ASSET' || !isLetterheadType(file.contentType))
    throw invalid('letterheadId', 'must be a PDF, PNG, JPEG or SVG with the role ASSET');
  return file.id;
}
