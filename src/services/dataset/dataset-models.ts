import { Dataset } from '../../../entities/dataset.ts';
import { Datasource } from '../../../entities/datasource.ts';
import { SavedFilter } from '../../../entities/saved-filter.ts';
import { SavedQuery } from '../../../entities/saved-query.ts';
import { UserSetting } from '../../../entities/user-setting.ts';
import { Visual } from '../../../entities/visual.ts';
import type { AccessFilter } from '../../core/read/condition.ts';
import type { ListFilter, Relation } from '../../core/read/model.ts';
import { fullyVisible, readableDatasets, readableThrough, shareable } from '../resource/access-filter.ts';
import { belongsTo, defineModel, hasMany, hasManyJoined, modelFor } from '../resource/define-model.ts';
import { OWNER_RELATIONS, defineOwnedModel } from '../resource/owned-model.ts';
import { DRAFT_STALE } from './draft-base.ts';
import { USER_SETTING_ACCESS, viewerSettings } from './user-setting.ts';

/** The relation to drafts or snapshots, which are datasets themselves. */
const hasManyParts = (condition: string, sort: string): Relation =>
  hasManyJoined(Dataset, `r.parent_id = p.id and ${condition}`, sort);

/** SQL of whether rows do not come from a successful refresh: there was none, or the last one failed. */
const STALE = `(data_updated_at is null or coalesce(last_refresh ->> 'success', '') = 'false')`;

const staleFilter: ListFilter = (value) => ({ sql: value ? STALE : `not ${STALE}`, params: [] });

/** The number of rows is known only to those who may read all of them. */
const recordsFilter =
  (operator: '>=' | '<='): ListFilter =>
  (value, viewer) => {
    const access = fullyVisible(viewer);
    const sql = `r.records ${operator} ?`;
    return access ? { sql: `${sql} and (${access.sql})`, params: [value, ...access.params] } : { sql, params: [value] };
  };

export const datasetModel = defineOwnedModel(Dataset, {
  accessFilter: readableDatasets,
  sortable: ['name', 'slug', 'records', 'size', 'dataUpdatedAt', 'createdAt', 'updatedAt'],
  sortAccess: { records: fullyVisible, size: fullyVisible },
  computed: { stale: DRAFT_STALE },
  filters: { stale: staleFilter, minRecords: recordsFilter('>='), maxRecords: recordsFilter('<=') },
  relations: {
    parent: belongsTo(Dataset, 'parent_id'),
    drafts: hasManyParts('r.is_draft', 'createdAt'),
    ownSettings: viewerSettings(() => modelFor(UserSetting)),
    snapshots: hasManyParts('r.is_snapshot', '-snapshotDate'),
    filters: hasMany(SavedFilter, 'dataset_id', 'name'),
    visuals: hasMany(Visual, 'dataset_id', '-pinned,position'),
    datasource: belongsTo(Datasource, 'datasource_id'),
    savedQuery: belongsTo(SavedQuery, 'query_id'),
  },
});

const usedBySharesOf = (filterId: string): string =>
  `exists (select 1 from dws.share u where u.dataset_filter_id = ${filterId})`;

const inReadableDataset = readableThrough('dataset', 'dataset_id');
const inShareableDataset = readableThrough('dataset', 'dataset_id', shareable);

/**
 * Filters are private: their owners may read them. Users who may share the dataset may also read the filters that its
 * shares use.
 */
const ownOrShared: AccessFilter = (viewer) => {
  const [inReadable, inShareable] = [inReadableDataset(viewer), inShareableDataset(viewer)];
  if (!inReadable || !inShareable) return null;
  const used = `${inShareable.sql} and ${usedBySharesOf('r.id')}`;
  return {
    sql: `${inReadable.sql} and (r.owner_id = any(?) or ${used})`,
    params: [...inReadable.params, viewer.principals, ...inShareable.params],
  };
};

export const savedFilterModel = defineModel(SavedFilter, {
  label: 'filter',
  accessFilter: ownOrShared,
  computed: { used: { sql: usedBySharesOf('p.id'), type: 'boolean' } },
  relations: { dataset: belongsTo(Dataset, 'dataset_id'), ...OWNER_RELATIONS },
});

export const userSettingModel = defineModel(UserSetting, { accessFilter: USER_SETTING_ACCESS });
