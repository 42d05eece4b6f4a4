import { Dataset } from '../../../entities/dataset.ts';
import { User } from '../../../entities/user.ts';
import { Visual } from '../../../entities/visual.ts';
import { belongsTo, defineModel } from '../resource/define-model.ts';
import { throughParent } from '../resource/node-access.ts';

/** Read through its dataset. */
export const visualModel = defineModel(Visual, {
  nodeAccess: throughParent(Dataset, 'dataset_id'),
  defaultSort: 'position',
  relations: { dataset: belongsTo(Dataset, 'dataset_id'), owner: belongsTo(User, 'owner_id') },
});
