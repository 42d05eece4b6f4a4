import { Dataset } from '../../../entities/dataset.ts';
import { JobActionCondition } from '../../../entities/job-action-condition.ts';
import { JobAction } from '../../../entities/job-action.ts';
import { JobDataset } from '../../../entities/job-dataset.ts';
import { JobRun } from '../../../entities/job-run.ts';
import { Job } from '../../../entities/job.ts';
import { Operation } from '../../../entities/operation.ts';
import { User } from '../../../entities/user.ts';
import type { ListFilter, Relation } from '../../core/read/model.ts';
import { snapshotIdsColumn } from '../report/dataset-reference-snapshots.ts';
import { readableJobs } from '../resource/access-filter.ts';
import { belongsTo, defineModel, hasMany, modelFor } from '../resource/define-model.ts';
import { throughParent } from '../resource/node-access.ts';
import { defineOwnedModel } from '../resource/owned-model.ts';
import { usedDatasetIn } from './used-dataset.ts';

const enabledFilter: ListFilter = (value) => ({ sql: 'enabled = ?', params: [value] });

const lastRunStatusFilter: ListFilter = (value) => ({
  sql: `? = (
    select run.status from dws.job_run run where run.job_id = r.id order by run.created_at desc, run.id desc limit 1)`,
  params: [value],
});

export const jobModel = defineOwnedModel(Job, {
  accessFilter: readableJobs,
  sortable: ['name', 'slug', 'type', 'nextRunAt', 'createdAt', 'updatedAt'],
  filters: { enabled: enabledFilter, lastRunStatus: lastRunStatusFilter },
  relations: {
    parent: belongsTo(Job, 'parent_id'),
    drafts: hasMany(Job, 'parent_id', 'createdAt'),
    datasets: hasMany(JobDataset, 'job_id', 'position'),
    actions: hasMany(JobAction, 'job_id', 'order'),
    runs: hasMany(JobRun, 'job_id', '-createdAt'),
  },
});

export const jobDatasetModel = defineModel(JobDataset, {
  nodeAccess: throughParent(Job, 'job_id'),
  searchedFields: [],
  defaultSort: 'position',
  relations: { dataset: belongsTo(Dataset, 'dataset_id'), job: belongsTo(Job, 'job_id') },
  computed: { snapshotIds: snapshotIdsColumn('job_dataset') },
});

/** The file of an action. */
const ACTION_COLUMNS = {
  storedFile: {
    sql: `(
      select json_build_object('filename', f.filename, 'contentType', f.content_type, 'size', f.size)
      from dws.stored_file f
      where f.tenant_id = p.tenant_id and f.id = p.file_id)`,
    type: 'json',
  },
} as const;

/** The relation to the dataset that settings name by its id or by an alias of the job, whose id is `jobId` in SQL. */
const usedDataset = (jobId: string): Relation => ({
  kind: 'one',
  model: () => modelFor(Dataset),
  join: `r.id = ${usedDatasetIn('p', jobId)}`,
});

export const jobActionModel = defineModel(JobAction, {
  nodeAccess: throughParent(Job, 'job_id'),
  defaultSort: 'order',
  relations: {
    job: belongsTo(Job, 'job_id'),
    usedDataset: usedDataset('p.job_id'),
    conditions: hasMany(JobActionCondition, 'job_action_id', 'createdAt'),
  },
  computed: ACTION_COLUMNS,
});

export const jobActionConditionModel = defineModel(JobActionCondition, {
  nodeAccess: throughParent(JobAction, 'job_action_id'),
  defaultSort: 'createdAt',
  relations: {
    jobAction: belongsTo(JobAction, 'job_action_id'),
    usedDataset: usedDataset('(select a.job_id from dws.job_action a where a.id = p.job_action_id)'),
  },
});

export const jobRunModel = defineModel(JobRun, {
  nodeAccess: throughParent(Job, 'job_id'),
  defaultSort: '-createdAt',
  relations: {
    job: belongsTo(Job, 'job_id'),
    user: belongsTo(User, 'user_id'),
    retryOf: belongsTo(JobRun, 'retry_of_id'),
    operation: belongsTo(Operation, 'operation_id'),
  },
});
