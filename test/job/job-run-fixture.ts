import { eventually } from '../operation/fixture.ts';
import type { Client } from '../support/client.ts';
import { runSql } from '../support/run-sql.ts';
import type { Shop } from '../support/shop-fixture.ts';
import { createJob, test as base, type TestJob } from './job-fixture.ts';

export { createNotify, type TestJob } from './job-fixture.ts';

/** A dataset whose refresh the test lets fail or last. */
interface SwitchedDataset {
  id: string;
  path: string;
  /**
   * From now on a refresh fails, succeeds, or waits for a minute. Before it `waits`, statements that still do are ended:
   * a cancelled run leaves one for a moment, and a failed test for longer.
   */
  set(state: 'fails' | 'works' | 'waits'): Promise<unknown>;
  /** Number of statements of the service in the source that wait. */
  waiting(): Promise<number>;
  /** Ends the statements that wait, which then fail. */
  release(): Promise<unknown>;
}

const SWITCH_QUERY = `
  select case state when 'fails' then 1 / (length(state) - 5) when 'waits' then length(pg_sleep(60)::text) else 1 end as x
  from switch`;

/** The statements of the service in the source that wait. Those that precede them are active for an instant, too. */
const WAITING = `
  from pg_stat_activity
  where application_name = 'data-workspace-service' and datname = current_database() and state = 'active'
    and wait_event = 'PgSleep'`;

/** Creates a dataset of a client whose refresh the test controls. */
export async function createSwitched(owner: Client, shop: Shop, datasourceId: string): Promise<SwitchedDataset> {
  await shop.sql(`create table if not exists switch (state text)`);
  await shop.sql(`delete from switch`);
  await shop.sql(`insert into switch values ('works')`);
  const { id } = await owner.creates('/datasets', { name: 'Switched', datasourceId, query: SWITCH_QUERY });
  const waiting = async () => (await runSql(shop.url, `select ${WAITING}`)).length;
  const release = () => runSql(shop.url, `select pg_cancel_backend(pid) ${WAITING}`);
  return {
    id,
    path: `/datasets/${id}`,
    waiting,
    release,
    async set(state) {
      if (state === 'waits')
        await eventually(async () => {
          await release();
          return (await waiting()) === 0;
        });
      await shop.sql(`update switch set state = $1`, [state]);
    },
  };
}

interface RunFixtures {
  switched: SwitchedDataset;
  /** Creates a job of ann's with one action that refreshes the switched dataset. `data` is more of the action's. */
  refreshJob: (data?: object, job?: object) => Promise<TestJob & { actionId: string; key: string }>;
}

/** Adds a refresh of a dataset to a job. Returns the id of the action. */
export const createRefresh = async (
  client: Client,
  { path }: TestJob,
  datasetId: string,
  name = 'Refresh',
  data: object = {},
): Promise<string> =>
  (await client.creates(`${path}/actions`, { type: 'refresh', name, data: { datasetId, ...data } })).id;

/** Returns the latest run of a job. */
export const latestRun = async (client: Client, { path }: TestJob) =>
  (await client.get(`${path}/history?limit=1`)).body._embedded['svc:job-history'][0];

export const test = base.extend<RunFixtures>({
  switched: [async ({ ann, shop, source }, use) => use(await createSwitched(ann, shop, source.id)), { scope: 'file' }],
  refreshJob: [
    async ({ ann, switched }, use) =>
      use(async (data = {}, more = {}) => {
        await switched.set('works');
        const job = await createJob(ann, more);
        const actionId = await createRefresh(ann, job, switched.id, 'Refresh', data);
        return { ...job, actionId, key: `action:${actionId}` };
      }),
    { scope: 'file' },
  ],
});
