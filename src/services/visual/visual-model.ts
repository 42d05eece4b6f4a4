import { Dataset } from '../../../entities/dataset.ts';
import { Visual } from '../../../entities/visual.ts';
import { belongsTo, defineModel } from '../resource/define-model.ts';

/** Read through its dataset, so it has no access filter. */
export const visualModel = defineModel(Visual, {
  defaultSort: 'position',
  relations: { dataset: belongsTo(Dataset, 'dataset_id') },
});
