import { Dataset } from '../../../entities/dataset.ts';
import { UserSetting } from '../../../entities/user-setting.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';
import type { AccessFilter } from '../../core/read/condition.ts';
import type { Model, Relation } from '../../core/read/model.ts';

/** What a user keeps for a dataset. */
export interface UserSettings {
  settings: Record<string, unknown>;
  /** ISO 8601; null when there are none. */
  updatedAt: string | null;
}

/** What the read path brings of them. */
export type OwnSettings = UserSettings | null;

/** Bytes that they may have as JSON. */
const LARGEST = 100_000;

/** Nobody sees another's settings, superusers neither. */
export const ownSettings: AccessFilter = ({ userId }) => ({ sql: 'r.user_id = ?', params: [userId] });

/** The viewer's settings for a dataset, of a draft or snapshot for the dataset it belongs to. */
export const settingsOfViewer = (model: () => Model): Relation => ({
  kind: 'one',
  model,
  join: 'r.dataset_id = coalesce(p.parent_id, p.id)',
});

/** The settings as they are shown. */
export const shownSettings = (own: OwnSettings): UserSettings => own ?? { settings: {}, updatedAt: null };

/** Keeps settings of the viewer for a dataset that they read, in place of those before. */
export async function set(ctx: Context, id: string, settings: Record<string, unknown>): Promise<UserSettings> {
  const { tenantId, userId } = ctx.viewer;
  if (Buffer.byteLength(JSON.stringify(settings)) > LARGEST)
    throw invalid('settings', 'must have at most 100 kB as JSON');
  const datasetId = await rootIdOf(ctx, id);
  await ctx.transaction(async (tx) => {
    // For a dataset that vanishes meanwhile nothing is kept.
    const kept = await tx.query({
      text: `insert into dws.user_setting (id, tenant_id, dataset_id, user_id, settings) select $3, tenant_id, id, $4, $5 from dws.dataset where tenant_id = $1 and id = $2 for key share
        on conflict (dataset_id, user_id) do update set settings = excluded.settings, updated_at = now(), version = dws.user_setting.version + 1 returning id`,
      values: [tenantId, datasetId, newId(), userId, JSON.stringify(settings)],
    });
    if (kept.length === 0) throw notFound({ what: 'dataset', id });
  });
  return shownSettings(await ctx.read.find(UserSetting, { datasetId, userId }, ['settings', 'updatedAt']));
}

/** Forgets the viewer's settings for a dataset that they read, where there are any. */
export async function remove(ctx: Context, id: string): Promise<void> {
  const datasetId = await rootIdOf(ctx, id);
  await ctx.transaction(async (tx) => {
    await tx.em.nativeDelete(UserSetting, { datasetId, userId: ctx.viewer.userId });
  });
}

async function rootIdOf(ctx: Context, id: string): Promise<string> {
  const dataset = await ctx.read.one(Dataset, id, ['id', 'parentId']);
  recordAuditTarget(ctx.request, 'dataset', id, dataset.id);
  return dataset.parentId ?? dataset.id;
}
