import { isDeepStrictEqual } from 'node:util';
import { TEMPLATE } from '../../../entities/owned-kinds.ts';
import { Template } from '../../../entities/template.ts';
import type { Context } from '../../core/context.ts';
import { conflict, notFound } from '../../core/errors.ts';
import { newRow } from '../../core/new-row.ts';
import type { Transaction } from '../../core/platform.ts';
import { recordActivities } from '../resource/activity.ts';
import { checkVersion, loadResource } from '../resource/load-resource.ts';
import { setSlug } from '../resource/resource-slug.ts';
import { loadDraftBase } from './template-draft-base.ts';
import { copyParts, DRAFTED, draftedFields, loadOriginalIds, commitParts } from './template-draft-content.ts';

const UNCHANGED_IDS: ReadonlyMap<string, string> = new Map();

/**
 * Returns the id of the draft of a template. Without one, creates the draft as a copy. Of two concurrent calls, the
 * second returns the draft of the first. Throws CONFLICT for a draft.
 */
export function edit(ctx: Context, id: string): Promise<string> {
  return ctx.transaction(async (tx) => {
    const template = await loadResource(ctx, tx, TEMPLATE, id, 'template:write');
    if (template.parentId) throw conflict('A draft has no draft');
    return ((await findDraft(tx, template)) ?? (await createDraft(tx, template))).id;
  });
}

async function createDraft(tx: Transaction, template: Template): Promise<Template> {
  const { tenantId, ownerId, id } = template;
  const draft = newRow(Template, {
    ...draftedFields(template, UNCHANGED_IDS, template.id),
    tenantId,
    ownerId,
    parentId: id,
    draftBase: await loadDraftBase(tx, tenantId, id),
    slug: '',
  });
  await setSlug(tx, TEMPLATE, draft);
  // Its file ids are replaced by the ids of the copies before the transaction ends.
  tx.insert(draft);
  Object.assign(draft, draftedFields(template, await copyParts(tx, template, draft.id), draft.id));
  return draft;
}

/** Returns the draft of a template, locked like the template, or null. */
const findDraft = (tx: Transaction, { id }: Template): Promise<Template | null> =>
  tx.findOne(Template, { parentId: id }, { lock: 'update' });

/** Loads a template with its draft for a change of the draft, and locks both. Throws NOT_FOUND without a draft. */
async function loadWithDraft(
  ctx: Context,
  tx: Transaction,
  id: string,
): Promise<[template: Template, draft: Template]> {
  // Locked before its draft, as by `edit` and by a deletion.
  const template = await loadResource(ctx, tx, TEMPLATE, id, 'template:write');
  const draft = await findDraft(tx, template);
  if (!draft) throw notFound({ what: 'draft of template', id });
  checkVersion(ctx, 'draft', draft.version);
  return [template, draft];
}

/**
 * Replaces fields, files, inputs and processors of a template by the contents of its draft, and deletes the draft.
 * Copied parts keep their original ids. Returns the id of the template. Throws NOT_FOUND without a draft.
 */
export function commit(ctx: Context, id: string): Promise<string> {
  return ctx.transaction(async (tx) => {
    const [template, draft] = await loadWithDraft(ctx, tx, id);
    const drafted = draftedFields(draft, await loadOriginalIds(tx, draft), template.id);
    const changed = DRAFTED.filter((key) => !isDeepStrictEqual(drafted[key] ?? null, template[key] ?? null));
    const lists = await commitParts(tx, template, draft);
    // Not as a change of the unit of work, which would record a separate update.
    tx.writeUnrecorded(template, {
      ...Object.fromEntries(changed.map((key) => [key, drafted[key]])),
      updatedAt: new Date(),
    });
    recordActivities(
      ctx.viewer,
      tx,
      TEMPLATE,
      'updated',
      [template],
      (name) => `${ctx.viewer.username} committed a draft of ${name}`,
      { fields: [...changed, ...lists] },
    );
    // Deletes the copies too, since the originals have their content.
    tx.remove(draft);
    return template.id;
  });
}

/** Deletes the draft of a template. Throws NOT_FOUND without one. */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const [, draft] = await loadWithDraft(ctx, tx, id);
    tx.remove(draft);
  });
}
