import type { CreateTagInput, UpdateTagInput } from '../../../entities/tag-input.ts';
import { Tag } from '../../../entities/tag.ts';
import type { Context } from '../../core/context.ts';
import { conflict } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { assignPresent, checkOptionalText, checkText, invalid } from '../../core/input-checks.ts';
import { lockKey } from '../../core/locks.ts';
import { newRow } from '../../core/new-row.ts';
import type { Transaction } from '../../core/platform.ts';
import { actingUserId } from '../../core/viewer.ts';
import { loadUnowned, type UnownedKind } from './unowned-kind.ts';

export const TAG: UnownedKind<Tag> = { entity: Tag, what: 'tag' };

/** Creates a tag. Returns its id. */
export async function create(ctx: Context, input: CreateTagInput): Promise<string> {
  const { tenantId } = ctx.viewer;
  return ctx.transaction(async (tx) => {
    const tag = newRow(Tag, {
      tenantId,
      name: await reserveName(tx, tenantId, input.name),
      color: checkColor(input.color ?? null),
      description: checkOptionalText(input.description ?? null, 'description'),
      creatorId: actingUserId(ctx.viewer),
    });
    return tx.insert(tag).id;
  });
}

/** Updates a tag. Returns its id. */
export async function update(ctx: Context, id: string, input: UpdateTagInput): Promise<string> {
  const { name, color, description } = input;
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

/** Deletes a tag and removes it from all resources. */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    tx.remove(await loadUnowned(ctx, tx, TAG, id, 'tag:delete', { ifMatch: ctx.ifMatch }));
  });
}

const MAX_NAME_CHARACTERS = 100;

/**
 * Returns the name. Throws CONFLICT if another tag of the tenant has it. A name must not look like an id, because lists
 * are filtered by the id or the name of a tag.
 */
async function reserveName(
  tx: Transaction,
  tenantId: string,
  text: string | null | undefined,
  ownId: string | null = null,
): Promise<string> {
  const name = checkText(text, 'name', MAX_NAME_CHARACTERS);
  if (isUuid(name)) throw invalid('name', 'must not be shaped like a UUID');
  // Concurrent transactions wait for each other here, so that none violates the unique index.
  lockKey(tx, `tag:${tenantId}`);
  const taken = await tx.query({
    text: `select id from dws.tag where tenant_id = $1 and lower(name) = lower($2) and id is distinct from $3`,
    values: [tenantId, name, ownId],
  });
  if (taken.length) throw conflict(`The tag "${name}" already exists`);
  return name;
}

function checkColor(color: string | null): string | null {
  if (color && !/^(#[0-9a-f]{3}|#[0-9a-f]{6}|[a-z]{3,30})$/i.test(color))
    throw invalid('color', 'must be #rgb, #rrggbb or a CSS colour name');
  return color || null;
}
