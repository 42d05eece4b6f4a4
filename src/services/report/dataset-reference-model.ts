import { DatasetReference } from '../../../entities/dataset-reference.ts';
import { Dataset } from '../../../entities/dataset.ts';
import { belongsTo, defineModel } from '../resource/define-model.ts';
import { SNAPSHOT_IDS } from './dataset-reference-view.ts';

/** Read through its report, so it has no access filter. */
export const datasetReferenceModel = defineModel(DatasetReference, {
  searchedFields: [],
  defaultSort: 'createdAt',
  relations: { dataset: belongsTo(Dataset, 'dataset_id') },
  computed: { snapshotIds: SNAPSHOT_IDS },
});
