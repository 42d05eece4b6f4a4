import { DatasourceLink } from '../../../entities/datasource-link.ts';
import { Datasource } from '../../../entities/datasource.ts';
import { readableThrough } from '../resource/access-filter.ts';
import { belongsTo, defineModel } from '../resource/define-model.ts';
import { throughParent } from '../resource/node-access.ts';

/** Read through its source, so only the access to its target is checked. */
export const datasourceLinkModel = defineModel(DatasourceLink, {
  label: 'link',
  accessFilter: readableThrough('datasource', 'target_datasource_id'),
  nodeAccess: throughParent(Datasource, 'source_datasource_id'),
  relations: {
    source: belongsTo(Datasource, 'source_datasource_id'),
    target: belongsTo(Datasource, 'target_datasource_id'),
  },
});
