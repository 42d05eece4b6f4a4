import { expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { Payers } from '../../src/migrations/m068-payer.ts';
import { test } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';

test('the migration fills who pays for the usage of the current month', async ({ service, ann }) => {
  const { databaseUrl } = service;
  const { id: assistantId } = await ann.creates('/assistants', { name: 'Painter' });
  const { id: agentId } = await ann.creates('/agents', { name: 'Clerk', assistantId });
  const [gone, unknown] = [newId(), newId()];
  await runSql(databaseUrl, `alter table dws.usage_day drop column payer`);
  await runSql(databaseUrl, `alter table dws.usage_event drop column payer`);
  await runSql(databaseUrl, `alter table dws.credit_reservation drop column payer`);
  await runSql(
    databaseUrl,
    `insert into dws.ai_call (id, tenant_id, actor, user_id, action, entity_type, entity_id, provider_id, provider_name,
      own_provider, model, duration, status)
    select gen_random_uuid(), tenant_id, 'agent:' || $2::text, id, 'chat', 'agent', $2::uuid, id, 'Fake', false, 'x', 1, 'succeeded'
    from dws.app_user where id = $1`,
    [ann.id, gone],
  );
  const actors = [`user:${ann.id}`, `agent:${agentId}`, `agent:${gone}`, `agent:${unknown}`];
  await runSql(
    databaseUrl,
    `insert into dws.usage_day (tenant_id, day, actor, entity_type, entity_id, resource_type, quantity, credits, events)
    select u.tenant_id, (date_trunc('month', now() at time zone 'UTC') - n * interval '1 day')::date, a, 'user', u.id, 'ai', 1, 100, 1
    from dws.app_user u, unnest($2::text[]) a, generate_series(0, 1) n where u.id = $1`,
    [ann.id, actors],
  );
  const migration = new Payers(undefined as never, undefined as never);
  migration.up();
  for (const statement of migration.getQueries()) await runSql(databaseUrl, String(statement));
  const rows = await runSql(
    databaseUrl,
    `select actor, payer from dws.usage_day where day >= date_trunc('month', now() at time zone 'UTC')::date`,
  );
  expect(Object.fromEntries(rows.map(({ actor, payer }) => [actor, payer]))).toEqual({
    [`user:${ann.id}`]: ann.id,
    [`agent:${agentId}`]: ann.id,
    [`agent:${gone}`]: ann.id,
    [`agent:${unknown}`]: null,
  });
  const forced = await runSql(
    databaseUrl,
    `select relname from pg_class where relname in ('usage_day', 'credit_reservation', 'agent', 'ai_call')
      and relnamespace = 'dws'::regnamespace and relforcerowsecurity`,
  );
  expect(forced.length).toBe(4);
});
