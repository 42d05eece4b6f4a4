import { Tag } from '../../../entities/tag.ts';
import type { Context } from '../../core/context.ts';
import { conflict } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { assignPresent, checkOptionalText, checkText, invalid } from '../../core/input-checks.ts';
import type { Transaction } from '../../core/platform.ts';
import { loadUnowned, type UnownedKind } from './unowned-kind.ts';

export const TAG: UnownedKind<Tag> = { entity: Tag, what: 'tag', table: 'tag' };

export interface TagInput {
  name?: string | null;
  color?: string | null;
  description?: string | null;
}

/** Makes a tag; everybody may. Answers the id. */
export async function create(ctx: Context, input: TagInput): Promise<string> {
  const { tenantId, userId } = ctx.viewer;
  return ctx.transaction(async (tx) => {
    const name = await reserveName(tx, tenantId, input.name);
    const tag = tx.em.create(
      Tag,
      {
        tenantId,
        name,
        color: checkColor(input.color ?? null),
        description: checkOptionalText(input.description ?? null, 'description'),
        creatorId: userId,
      },
      { partial: true },
    );
    tx.em.persist(tag);
    return tag.id;
  });
}

/** Changes a tag, wherever it is assigned. Answers the id. */
export async function update(ctx: Context, id: string, { name, color, description }: TagInput): Promise<string> {
  return ctx.transaction(async (tx) => {
    const tag = await loadUnowned(ctx, tx, TAG, id, 'tag:edit', { ifMatch: ctx.ifMatch });
    assignPresent<Tag>(
      tag,
      {
        name: name === undefined ? undefined : await reserveName(tx, ctx.viewer.tenantId, name, tag.id),
        color: color === undefined ? undefined : checkColor(color),
        description: description === undefined ? undefined : checkOptionalText(description, 'description'),
      },
      ['color', 'description'],
    );
    return tag.id;
  });
}

/** Deletes a tag and takes it off every resource. */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    tx.em.remove(await loadUnowned(ctx, tx, TAG, id, 'tag:delete', { ifMatch: ctx.ifMatch }));
  });
}

/** A name that no other tag of the tenant has. Lists are filtered by id or name, so that no name may look like an id. */
async function reserveName(
  tx: Transaction,
  tenantId: string,
  given: string | null | undefined,
  own: string | null = null,
): Promise<string> {
  const name = checkText(given, 'name', 100);
  if (isUuid(name)) throw invalid('name', 'must not be shaped like a UUID');
  // Two who take a name at once wait for each other, so that neither meets the unique index.
  await tx.query({ text: `select pg_advisory_xact_lock(hashtextextended($1, 0))`, values: [`tag:${tenantId}`] });
  const taken = await tx.query({
    text: `select id from dws.tag where tenant_id = $1 and lower(name) = lower($2) and id is distinct from $3`,
    values: [tenantId, name, own],
  });
  if (taken.length) throw conflict(`There is a tag "${name}" already`);
  return name;
}

function checkColor(color: string | null): string | null {
  if (color && !/^(#[0-9a-f]{3}|#[0-9a-f]{6}|[a-z]{3,30})$/i.test(color))
    throw invalid('color', 'must be #rgb, #rrggbb or a colour’s name in CSS');
  return color || null;
}
