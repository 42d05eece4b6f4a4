import { Dataset } from '../../../entities/dataset.ts';
import { DatasourceLink } from '../../../entities/datasource-link.ts';
import { Datasource } from '../../../entities/datasource.ts';
import { SavedQuery } from '../../../entities/saved-query.ts';
import { StoredFile } from '../../../entities/stored-file.ts';
import { belongsTo, hasMany, hasManyJoined } from '../resource/define-model.ts';
import { defineOwnedModel } from '../resource/owned-model.ts';

export const datasourceModel = defineOwnedModel(Datasource, {
  sortable: ['name', 'slug', 'type', 'createdAt', 'updatedAt'],
  relations: {
    datasets: hasManyJoined(Dataset, 'r.datasource_id = p.id and r.parent_id is null', 'name'),
    savedQueries: hasMany(SavedQuery, 'datasource_id', 'name'),
    links: hasMany(DatasourceLink, 'source_datasource_id', 'createdAt'),
    storedFile: belongsTo(StoredFile, 'file_id'),
  },
});
