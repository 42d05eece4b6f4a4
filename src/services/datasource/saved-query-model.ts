import { Dataset } from '../../../entities/dataset.ts';
import { Datasource } from '../../../entities/datasource.ts';
import { SavedQuery } from '../../../entities/saved-query.ts';
import { MAX_CHILDREN } from '../../core/read/model.ts';
import { belongsTo, modelFor } from '../resource/define-model.ts';
import { defineOwnedModel } from '../resource/owned-model.ts';

export const savedQueryModel = defineOwnedModel(SavedQuery, {
  label: 'query',
  relations: {
    datasource: belongsTo(Datasource, 'datasource_id'),
    datasets: {
      kind: 'many',
      model: () => modelFor(Dataset),
      join: 'r.query_id = p.id and r.parent_id is null',
      sort: 'name',
      limit: MAX_CHILDREN,
    },
  },
});
