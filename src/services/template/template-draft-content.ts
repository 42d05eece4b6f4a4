import type { TemplateFile } from '../../../entities/template-file.ts';
import type { TemplateInput } from '../../../entities/template-input.ts';
import type { TemplateProcessor } from '../../../entities/template-processor.ts';
import type { Template } from '../../../entities/template.ts';
import { newId } from '../../core/id.ts';
import type { Transaction } from '../../core/platform.ts';
import {
  deleteMissing,
  draftPart,
  moveNew,
  replaceContent,
  type DraftedField,
  type DraftPart,
} from '../resource/draft-parts.ts';
import { replaceAddresses, replaceTexts } from './file-references.ts';

/** The columns of the fields that a draft copies from its template, and a commit back. */
const DRAFTED_FIELDS = {
  name: 'name',
  description: 'description',
  type: 'type',
  handler: 'handler',
  handlerOptions: 'handler_options',
  templateFileId: 'template_file_id',
  letterheadId: 'letterhead_id',
  settings: 'settings',
} satisfies Record<DraftedField<Template, 'slug' | 'tags' | 'folderId' | 'ownerId' | 'parentId' | 'draftBase'>, string>;
export const DRAFTED = Object.keys(DRAFTED_FIELDS) as (keyof typeof DRAFTED_FIELDS)[];
export const DRAFTED_COLUMNS = Object.values(DRAFTED_FIELDS);
export type DraftedFields = Pick<Template, keyof typeof DRAFTED_FIELDS>;

/** The parts that a draft copies in addition. Copies of files share the stored bytes with their originals. */
export const TEMPLATE_PARTS: readonly DraftPart[] = [
  draftPart<TemplateFile, 'templateId' | 'size' | 'sha256'>({
    table: 'template_file',
    parent: 'template_id',
    columns: {
      filename: 'filename',
      role: 'role',
      contentType: 'content_type',
      embedded: 'embedded',
      fileId: 'file_id',
    },
  }),
  draftPart<TemplateInput, 'templateId'>({
    table: 'template_input',
    parent: 'template_id',
    columns: {
      position: 'position',
      name: 'name',
      label: 'label',
      description: 'description',
      required: 'required',
      defaultValue: 'default_value',
      schema: 'schema',
    },
  }),
  draftPart<TemplateProcessor, 'templateId'>({
    table: 'template_processor',
    parent: 'template_id',
    columns: { position: 'position', name: 'name', type: 'type', config: 'config' },
  }),
];

/** Ids of files by the ids of their copies, or the other way round. */
type FileIds = ReadonlyMap<string, string>;

/**
 * Returns the fields of a template for its draft, or the other way round: with other ids of files, and with the id of that
 * template in addresses of files. Files without another id keep theirs.
 */
export function draftedFields(template: Template, ids: FileIds, templateId: string): DraftedFields {
  const fields = Object.fromEntries(DRAFTED.map((key) => [key, template[key] ?? null])) as unknown as DraftedFields;
  const { templateFileId, letterheadId, settings } = fields;
  return {
    ...fields,
    templateFileId: templateFileId && (ids.get(templateFileId) ?? templateFileId),
    letterheadId: letterheadId && (ids.get(letterheadId) ?? letterheadId),
    settings: replaceAddresses(replaceTexts(settings, ids), ids, { from: template.id, to: templateId }),
  };
}

/**
 * Copies files, inputs and processors into a draft, by one statement each. Returns the ids of copied files by the ids
 * of their originals.
 */
export async function copyParts(tx: Transaction, template: Template, draftId: string): Promise<FileIds> {
  const copies = await Promise.all(
    TEMPLATE_PARTS.map(async ({ table, columns }) => {
      const rows = await tx.query<{ id: string }>({
        text: `select id from dws.${table} where tenant_id = $1 and template_id = $2 order by id`,
        values: [template.tenantId, template.id],
      });
      const ids = new Map(rows.map(({ id }) => [id, newId()]));
      return { table, columns, ids };
    }),
  );
  for (const { table, columns, ids } of copies)
    tx.execute({
      text: `
        insert into dws.${table} (id, tenant_id, template_id, original_id, ${columns.join(', ')})
        select n.id, o.tenant_id, $2, o.id, ${columns.map((column) => `o.${column}`).join(', ')}
        from unnest($3::uuid[], $4::uuid[]) as n(id, original_id)
        join dws.${table} o on o.tenant_id = $1 and o.id = n.original_id`,
      values: [template.tenantId, draftId, [...ids.values()], [...ids.keys()]],
    });
  return copies[0]!.ids;
}

/** Returns the ids of the originals of copied files by the ids of the copies. */
export async function loadOriginalIds(tx: Transaction, { tenantId, id }: Template): Promise<FileIds> {
  const files = await tx.query<{ id: string; originalId: string }>({
    text: `
      select id, original_id as "originalId"
      from dws.template_file
      where tenant_id = $1 and template_id = $2 and original_id is not null`,
    values: [tenantId, id],
  });
  return new Map(files.map((file) => [file.id, file.originalId]));
}

/**
 * Replaces files, inputs and processors of a template by the parts of its draft. Both are locked. Originals get the
 * content of their copies and keep their ids; new parts move. Returns which lists have changed.
 */
export async function commitParts(tx: Transaction, template: Template, draft: Template): Promise<string[]> {
  const values = [template.tenantId, template.id, draft.id];
  const changed = await Promise.all(
    TEMPLATE_PARTS.map(async (part) => {
      const results = await Promise.all(
        [deleteMissing(part), replaceContent(part), moveNew(part)].map((text) =>
          tx.query({ text: `${text} returning 1`, values }),
        ),
      );
      return results.some((rows) => rows.length > 0);
    }),
  );
  return ['files', 'inputs', 'processors'].filter((_, index) => changed[index]);
}
