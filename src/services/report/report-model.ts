import { DatasetReference } from '../../../entities/dataset-reference.ts';
import { Report } from '../../../entities/report.ts';
import { hasMany } from '../resource/define-model.ts';
import { defineOwnedModel } from '../resource/owned-model.ts';

export const reportModel = defineOwnedModel(Report, {
  relations: { datasetReferences: hasMany(DatasetReference, 'report_id', 'createdAt') },
});
