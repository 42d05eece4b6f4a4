import type { AccessFilter } from '../../core/read/condition.ts';
import { readableThrough, shareable } from '../resource/access-filter.ts';

/** Whether a share shows the rows of the filter `p`. */
export const FILTER_USED = {
  sql: 'exists (select 1 from dws.share u where u.dataset_filter_id = p.id)',
  type: 'boolean',
} as const;

const readable = readableThrough('dataset', 'dataset_id');
const managed = readableThrough('dataset', 'dataset_id', shareable);

/** Filters are private: their owners read them, and of those that a share uses, those who may share the dataset. */
export const FILTER_ACCESS: AccessFilter = (viewer) => {
  const [ofReadable, ofManaged] = [readable(viewer), managed(viewer)];
  return (
    ofReadable &&
    ofManaged && {
      sql: `${ofReadable.sql} and (r.owner_id = any(?) or ${ofManaged.sql} and exists (select 1 from dws.share u where u.dataset_filter_id = r.id))`,
      params: [...ofReadable.params, viewer.principals, ...ofManaged.params],
    }
  );
};
