import { Dataset } from '../../../entities/dataset.ts';
import { UserSetting, type UserSettings } from '../../../entities/user-setting.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';
import type { AccessFilter } from '../../core/read/condition.ts';
import type { Model, Relation } from '../../core/read/model.ts';
import { requireUser } from '../../core/viewer.ts';

/** Size as JSON. */
const MAX_SETTINGS_BYTES = 100_000;

/** A user's settings are visible to that user only, not even to superusers. */
export const USER_SETTING_ACCESS: AccessFilter = ({ userId }) => ({ sql: 'r.user_id = ?', params: [userId] });

/**
 * Returns the relation from a dataset to the viewer's settings. A draft or snapshot has the settings of its dataset.
 */
export const viewerSettings = (model: () => Model): Relation => ({
  kind: 'one',
  model,
  join: 'r.dataset_id = coalesce(p.parent_id, p.id)',
});

/** Returns stored settings, or empty ones. */
export const settingsOrDefault = (stored: UserSettings | null): UserSettings =>
  stored ?? { settings: {}, updatedAt: null };

/** Replaces the viewer's settings for a dataset that they may read. Returns them. */
export async function set(ctx: Context, id: string, settings: Record<string, unknown>): Promise<UserSettings> {
  const { tenantId } = ctx.viewer;
  const userId = requireUser(ctx.viewer);
  if (Buffer.byteLength(JSON.stringify(settings)) > MAX_SETTINGS_BYTES)
    throw invalid('settings', 'must have at most 100 kB as JSON');
  const datasetId = await rootIdOf(ctx, id);
  await ctx.transaction(async (tx) => {
    // Nothing is inserted for a dataset that has been deleted since it was read.
    const stored = await tx.query({
      text: `
        insert into dws.user_setting (id, tenant_id, dataset_id, user_id, settings)
        select $3, tenant_id, id, $4, $5
        from dws.dataset
        where tenant_id = $1 and id = $2
        for key share
        on conflict (dataset_id, user_id) do update
        set settings = excluded.settings, updated_at = now(), version = dws.user_setting.version + 1
        returning id`,
      values: [tenantId, datasetId, newId(), userId, JSON.stringify(settings)],
    });
    if (stored.length === 0) throw notFound({ what: 'dataset', id });
  });
  return settingsOrDefault(await ctx.read.find(UserSetting, { datasetId, userId }, ['settings', 'updatedAt']));
}

/** Deletes the viewer's settings for a dataset that they may read, if there are any. */
export async function remove(ctx: Context, id: string): Promise<void> {
  const datasetId = await rootIdOf(ctx, id);
  await ctx.transaction(async (tx) => {
    tx.execute({
      text: `delete from dws.user_setting where tenant_id = $1 and dataset_id = $2 and user_id = $3`,
      values: [ctx.viewer.tenantId, datasetId, ctx.viewer.userId],
    });
  });
}

async function rootIdOf(ctx: Context, id: string): Promise<string> {
  const dataset = await ctx.read.one(Dataset, id, ['id', 'parentId']);
  recordAuditTarget(ctx.request, 'dataset', id, dataset.id);
  return dataset.parentId ?? dataset.id;
}
