import { Dataset } from '../../../entities/dataset.ts';
import { DatasourceLink } from '../../../entities/datasource-link.ts';
import { Datasource } from '../../../entities/datasource.ts';
import { SavedQuery } from '../../../entities/saved-query.ts';
import { StoredFile } from '../../../entities/stored-file.ts';
import { MAX_CHILDREN } from '../../core/read/model.ts';
import { belongsTo, hasMany, modelFor } from '../resource/define-model.ts';
import { defineOwnedModel } from '../resource/owned-model.ts';

export const datasourceModel = defineOwnedModel(Datasource, {
  sortable: ['name', 'slug', 'type', 'createdAt', 'updatedAt'],
  relations: {
    datasets: {
      kind: 'many',
      model: () => modelFor(Dataset),
      join: 'r.datasource_id = p.id and r.parent_id is null',
      sort: 'name',
      limit: MAX_CHILDREN,
    },
    savedQueries: hasMany(SavedQuery, 'datasource_id', 'name'),
    links: hasMany(DatasourceLink, 'source_datasource_id', 'createdAt'),
    storedFile: belongsTo(StoredFile, 'file_id'),
  },
});
