import { DatasourceLink } from '../../../entities/datasource-link.ts';
import { Datasource } from '../../../entities/datasource.ts';
import { readableThrough } from '../resource/access-filter.ts';
import { belongsTo, defineModel } from '../resource/define-model.ts';

/** Read through its source, so only the access to its target is checked. */
export const datasourceLinkModel = defineModel(DatasourceLink, {
  label: 'link',
  accessFilter: readableThrough('datasource', 'target_datasource_id'),
  relations: { target: belongsTo(Datasource, 'target_datasource_id') },
});
