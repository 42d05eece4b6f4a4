import { Datasource } from '../../../entities/datasource.ts';
import { SavedQuery } from '../../../entities/saved-query.ts';
import { belongsTo } from '../resource/define-model.ts';
import { defineOwnedModel } from '../resource/owned-model.ts';

export const savedQueryModel = defineOwnedModel(SavedQuery, {
  label: 'query',
  relations: { datasource: belongsTo(Datasource, 'datasource_id') },
});
