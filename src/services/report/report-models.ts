import { DatasetReference } from '../../../entities/dataset-reference.ts';
import { Dataset } from '../../../entities/dataset.ts';
import { Report } from '../../../entities/report.ts';
import { belongsTo, defineModel, hasMany } from '../resource/define-model.ts';
import { throughParent } from '../resource/node-access.ts';
import { defineOwnedModel } from '../resource/owned-model.ts';
import { snapshotIdsColumn } from './dataset-reference-snapshots.ts';

export const reportModel = defineOwnedModel(Report, {
  relations: { datasetReferences: hasMany(DatasetReference, 'report_id', 'createdAt') },
});

/** Read through its report. */
export const datasetReferenceModel = defineModel(DatasetReference, {
  nodeAccess: throughParent(Report, 'report_id'),
  searchedFields: [],
  defaultSort: 'createdAt',
  relations: { dataset: belongsTo(Dataset, 'dataset_id'), report: belongsTo(Report, 'report_id') },
  computed: { snapshotIds: snapshotIdsColumn('dataset_reference') },
});
