import { Dataset } from '../../../entities/dataset.ts';
import { Datasource } from '../../../entities/datasource.ts';
import { SavedQuery } from '../../../entities/saved-query.ts';
import { belongsTo, hasManyJoined } from '../resource/define-model.ts';
import { defineOwnedModel } from '../resource/owned-model.ts';

export const savedQueryModel = defineOwnedModel(SavedQuery, {
  label: 'query',
  relations: {
    datasource: belongsTo(Datasource, 'datasource_id'),
    datasets: hasManyJoined(Dataset, 'r.query_id = p.id and r.parent_id is null', 'name'),
  },
});
