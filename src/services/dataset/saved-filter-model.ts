import { Dataset } from '../../../entities/dataset.ts';
import { SavedFilter } from '../../../entities/saved-filter.ts';
import type { AccessFilter } from '../../core/read/condition.ts';
import { readableThrough, shareable } from '../resource/access-filter.ts';
import { belongsTo, defineModel } from '../resource/define-model.ts';
import { OWNER_RELATIONS } from '../resource/owned-model.ts';

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
