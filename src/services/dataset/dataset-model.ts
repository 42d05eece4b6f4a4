import { Dataset } from '../../../entities/dataset.ts';
import { Datasource } from '../../../entities/datasource.ts';
import { SavedFilter } from '../../../entities/saved-filter.ts';
import { SavedQuery } from '../../../entities/saved-query.ts';
import { UserSetting } from '../../../entities/user-setting.ts';
import { Visual } from '../../../entities/visual.ts';
import type { Relation } from '../../core/read/model.ts';
import { fullyVisible, readableDatasets } from '../resource/access-filter.ts';
import { belongsTo, hasMany, modelFor, hasManyJoined } from '../resource/define-model.ts';
import { defineOwnedModel } from '../resource/owned-model.ts';
import { DRAFT_STALE } from './draft-base.ts';
import { viewerSettings } from './user-setting.ts';

/** The relation to drafts or snapshots, which are datasets themselves. */
const hasManyParts = (condition: string, sort: string): Relation =>
  hasManyJoined(Dataset, `r.parent_id = p.id and ${condition}`, sort);

export const datasetModel = defineOwnedModel(Dataset, {
  accessFilter: readableDatasets,
  sortable: ['name', 'slug', 'records', 'size', 'dataUpdatedAt', 'createdAt', 'updatedAt'],
  sortAccess: { records: fullyVisible, size: fullyVisible },
  computed: { stale: DRAFT_STALE },
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
