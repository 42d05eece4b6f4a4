import { expect, test } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { migrate, MIGRATIONS } from '../../src/server/migrate.ts';
import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';

const BEFORE = MIGRATIONS[MIGRATIONS.indexOf('m064-event-binding') - 1]!;

const [tenant, ann, bob, leader, team] = [newId(), newId(), newId(), newId(), newId()];
const [ofAnn, alsoOfAnn, ofBob, ofTeam] = [newId(), newId(), newId(), newId()];
const [shop, shared, silent] = [newId(), newId(), newId()];
const [own, inherited, foreign, lost, quiet] = [newId(), newId(), newId(), newId(), newId()];

const COLUMNS = '(id, tenant_id, name, slug, owner_id';
const userRow = (id: string, name: string) => `('${id}', '${tenant}', '${name}')`;
const appRow = (id: string, owner: string) => `('${id}', '${tenant}', 'App', '${id}', '${owner}')`;
const assistantRow = (id: string, owner: string, events: string[]) =>
  `('${id}', '${tenant}', 'A', '${id}', '${owner}', '${JSON.stringify(events)}')`;
const agentRow = (id: string, assistant: string, owner: string, events: string[]) =>
  `('${id}', '${tenant}', 'Clerk', '${assistant}', '${owner}', '${JSON.stringify(events)}')`;

const SETUP = `
  set role dws_system;
  insert into dws.tenant (id, slug) values ('${tenant}', 'old');
  insert into dws.app_user (id, tenant_id, username) values
    ${[userRow(ann, 'ann'), userRow(bob, 'bob'), userRow(leader, 'leader')].join(', ')};
  insert into dws.team (id, tenant_id, name, slug) values ('${team}', '${tenant}', 'Team', 'team');
  insert into dws.team_member (id, tenant_id, team_id, user_id, role)
    values ('${newId()}', '${tenant}', '${team}', '${leader}', 'admin');
  insert into dws.app ${COLUMNS}) values
    ${[appRow(ofAnn, `user:${ann}`), appRow(alsoOfAnn, `user:${ann}`)].join(', ')},
    ${[appRow(ofBob, `user:${bob}`), appRow(ofTeam, `team:${team}`)].join(', ')};
  insert into dws.assistant ${COLUMNS}, events) values
    ${assistantRow(shop, `user:${ann}`, ['x'])}, ${assistantRow(shared, `team:${team}`, ['y'])},
    ${assistantRow(silent, `user:${leader}`, [])};
  insert into dws.agent (id, tenant_id, name, assistant_id, owner_id, events) values
    ${agentRow(own, shop, ann, ['x', 'y'])}, ${agentRow(inherited, shop, ann, [])},
    ${agentRow(foreign, shop, bob, [])}, ${agentRow(lost, shared, leader, ['y'])}, ${agentRow(quiet, silent, ann, [])};
  insert into dws.app_event (id, tenant_id, app_id, name, payload, principal, depth) values
    ('${newId()}', '${tenant}', '${alsoOfAnn}', 'y', 'null', 'user:${ann}', 0),
    ('${newId()}', '${tenant}', '${ofBob}', 'y', 'null', 'user:${bob}', 0)`;

test('names become events of the apps of the owner, and who loses others is notified', async () => {
  const database = await createDatabase('template0');
  const { url } = database;
  await migrate(url, { last: BEFORE });
  await runSql(url, SETUP);
  await migrate(url);

  const on = (appId: string, name: string) => ({ appId, name });
  const ofOwner = `user:${ann}`;
  const agents = await runSql(url, 'select id, events, accepted_apps from dws.agent order by id');
  expect(agents).toEqual([
    {
      id: own,
      // First what an app has emitted.
      events: [on(alsoOfAnn, 'y'), on(ofAnn, 'x'), on(alsoOfAnn, 'x'), on(ofAnn, 'y')],
      accepted_apps: { [ofAnn]: ofOwner, [alsoOfAnn]: ofOwner },
    },
    { id: inherited, events: [], accepted_apps: { [ofAnn]: ofOwner, [alsoOfAnn]: ofOwner } },
    { id: foreign, events: [on(ofBob, 'x')], accepted_apps: { [ofBob]: `user:${bob}` } },
    { id: lost, events: [], accepted_apps: {} },
    { id: quiet, events: [], accepted_apps: {} },
  ]);
  expect(await runSql(url, 'select id, events from dws.assistant order by id')).toEqual([
    { id: shop, events: [on(ofAnn, 'x'), on(alsoOfAnn, 'x')] },
    { id: shared, events: [on(ofTeam, 'y')] },
    { id: silent, events: [] },
  ]);
  const notifications = await runSql(
    url,
    'select user_id, type, message, resource_id from dws.notification order by type, resource_id',
  );
  const runs = 'The agent Clerk runs on events of your own apps only: ';
  const since = 'since an update, agents run on events of the apps that they are bound to';
  expect(notifications).toEqual([
    { user_id: ann, type: 'agent.events.dropped', message: runs + since, resource_id: own },
    { user_id: leader, type: 'agent.events.dropped', message: runs + since, resource_id: lost },
    {
      user_id: leader,
      type: 'assistant.events.dropped',
      message: `The assistant A has events of the apps of its owner only: ${since}`,
      resource_id: shared,
    },
  ]);
  await database.drop();
});
