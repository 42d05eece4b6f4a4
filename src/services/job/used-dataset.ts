/**
 * Returns SQL for the id of the dataset that the settings in a row name, by its id or by an alias of the job; null for
 * none. `row` is the alias of an action or run condition in SQL, `jobId` the id of its job.
 */
export const usedDatasetIn = (row: string, jobId = `${row}.job_id`): string => `
  coalesce(${row}.dataset_id, (
    select d.dataset_id
    from dws.job_dataset d
    where d.tenant_id = ${row}.tenant_id and d.job_id = ${jobId} and d.alias = ${row}.data ->> 'alias'
  ))`;
