import type { Template } from '../../../entities/template.ts';
import { newId } from '../../core/id.ts';
import type { Transaction } from '../../core/platform.ts';
import { deleteMissing, moveNew, replaceContent, type DraftPart } from '../resource/draft-parts.ts';
import { replaceTexts } from './file-references.ts';

/** The fields that a draft copies from its template, and a commit back. */
export const DRAFTED = [
  'name',
  'description',
  'type',
  'handler',
  'handlerOptions',
  'templateFileId',
  'letterheadId',
  'settings',
] as const;
export type DraftedFields = Pick<Template, (typeof DRAFTED)[number]>;

/** The columns of these fields. */
export const DRAFTED_COLUMNS = DRAFTED.map((field) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));

/** What a draft copies in addition. Copies of files share the stored bytes with their originals. */
export const TEMPLATE_PARTS: readonly DraftPart[] = [
  { table: 'template_file', columns: ['filename', 'role', 'content_type', 'embedded', 'file_id'] },
  {
    table: 'template_input',
    columns: ['position', 'name', 'label', 'description', 'required', 'default_value', 'schema'],
  },
  { table: 'template_processor', columns: ['position', 'name', 'type', 'config'] },
].map((part) => ({ ...part, parent: 'template_id' }));

/** Ids of files by those of their copies, or the other way round. */
type FileIds = ReadonlyMap<string, string>;

/** Returns the fields of a template with other ids of files. Files without another id keep theirs. */
export function draftedFields(template: Template, ids: FileIds): DraftedFields {
  const fields = Object.fromEntries(DRAFTED.map((key) => [key, template[key] ?? null])) as unknown as DraftedFields;
  const { templateFileId, letterheadId, settings } = fields;
  return {
    ...fields,
    templateFileId: templateFileId && (ids.get(templateFileId) ?? templateFileId),
    letterheadId: letterheadId && (ids.get(letterheadId) ?? letterheadId),
    settings: replaceTexts(settings, ids),
  };
}

/** Copies files, inputs and processors into a draft, by one statement each. Returns the ids of copied files by their originals'. */
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

/** Returns the ids of the originals of copied files by those of the copies. */
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
 * Replaces files, inputs and processors of a template by those of its draft. Both are locked. Copies give their content to
 * their originals, which keep their ids; new parts move. Returns which lists have changed.
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
