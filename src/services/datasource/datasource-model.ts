import { DatasourceLink } from '../../../entities/datasource-link.ts';
import { Datasource } from '../../../entities/datasource.ts';
import { StoredFile } from '../../../entities/stored-file.ts';
import { belongsTo, hasMany } from '../resource/define-model.ts';
import { defineOwnedModel } from '../resource/owned-model.ts';

export const datasourceModel = defineOwnedModel(Datasource, {
  sortable: ['name', 'slug', 'type', 'createdAt', 'updatedAt'],
  relations: {
    links: hasMany(DatasourceLink, 'source_datasource_id', 'createdAt'),
    storedFile: belongsTo(StoredFile, 'file_id'),
  },
});
