import { eventually } from '../operation/fixture.ts';
import type { Client } from '../support/client.ts';
import { runSql } from '../support/run-sql.ts';
import type { TestJob } from './job-fixture.ts';
import { latestRun } from './job-run-fixture.ts';

/** Waits until the latest run of a job waits for its next attempt. Returns it. */
export const lateRun = (client: Client, job: TestJob) =>
  eventually(async () => {
    const run = await latestRun(client, job);
    return run?.nextAttemptAt && run;
  });

/** Lets the next attempt of a job be due now. */
export async function makeDue(databaseUrl: string, { id }: TestJob): Promise<void> {
  await runSql(
    databaseUrl,
    `with due as (
      update dws.operation set next_attempt_at = now() - interval '1 second' where resource_id = $1 returning work_id
    )
    update dws_jobs.job_common set start_after = now() - interval '1 second'
    where state < 'active' and data->>'workId' in (select work_id::text from due)`,
    [id],
  );
}
