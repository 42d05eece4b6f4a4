import { expect } from 'vitest';
import type { Context } from '../../src/core/context.ts';
import { CHANNELS } from '../../src/core/operations.ts';
import { HORIZON, inWindow, type NewRowSource, type RowWindow } from '../../src/services/resource/new-row-poller.ts';
import { followNewRows } from '../../src/services/resource/new-rows.ts';
import { test } from '../support/fixture.ts';
import { inTransaction } from '../support/notification-fixture.ts';
import type { Service } from '../support/service.ts';
import { addFeedItem, createTeam } from '../support/team-fixture.ts';

/** A poll, and the number of ids that it read. */
interface Poll {
  window: RowWindow;
  userIds: string[];
  found: number;
}

/** Follows the feed of a team for users, and records each poll. */
async function recordPolls({ platform }: Service, tenantId: string, team: string) {
  const polls: Poll[] = [];
  const refused = new Set<string>();
  const source: NewRowSource = {
    channel: CHANNELS.feed,
    payload: `team:${team}`,
    async find(window, userIds) {
      const [row] = await platform.database.query<{ ids: string[]; horizon: string }>(tenantId, {
        text: `select array(
            select id::text from dws.activity
            where tenant_id = $1 and owner_id = $2 and in_feed and ${inWindow('$3', '$4')}
            order by created_at, id
          ) as ids, ${HORIZON} as horizon`,
        values: [tenantId, `team:${team}`, window.since, window.horizon],
      });
      polls.push({ window, userIds, found: row!.ids.length });
      return { ...row!, refusalOf: (userId) => (refused.has(userId) ? new Error(`not for ${userId}`) : undefined) };
    },
  };
  const follow = (userId: string) =>
    followNewRows({ platform, viewer: { userId } } as Context, source)[Symbol.asyncIterator]();
  return { polls, refused, follow };
}

const tenantOf = (service: Service) => inTransaction(service, async (_, tenantId) => tenantId);

test('subscriptions share one poller, which begins with the first and ends with the last', async ({
  service,
  admin,
  ann,
}) => {
  const team = await createTeam(admin, 'Polled', ann);
  const { polls, refused, follow } = await recordPolls(service, await tenantOf(service), team);
  const add = () => addFeedItem(service, team, 'item');
  const untilPoll = (count: number) => expect.poll(() => polls.length).toBeGreaterThanOrEqual(count);

  const one = follow('a');
  const first = one.next();
  await untilPoll(1);
  expect(polls[0]).toMatchObject({ window: { horizon: null }, userIds: ['a'] });
  expect(polls[0]!.found).toBeGreaterThan(0);
  const two = follow('b');
  const second = two.next();
  await untilPoll(2);
  expect(polls.at(-1)).toMatchObject({ window: { horizon: expect.stringMatching(/^\d+$/) }, userIds: ['a', 'b'] });

  await add();
  const { value } = await first;
  expect((await second).value.id).toBe(value.id);
  // One user does not get the rows that another one reads.
  expect((await second).value.reads).not.toBe(value.reads);
  const next = one.next();
  const refusal = two.next().catch((error: Error) => error.message);
  refused.add('b');
  await add();
  expect(await refusal).toBe('not for b');
  expect((await next).value.id).not.toBe(value.id);

  await one.return!();
  const before = polls.length;
  await add();
  const again = follow('c');
  const third = again.next();
  await untilPoll(before + 1);
  // Nothing polled for the item before, and the new subscription does not get it.
  expect([...new Set(polls.slice(before).flatMap(({ userIds }) => userIds))]).toEqual(['c']);
  expect(polls[before]!.window.horizon).toBeNull();
  await add();
  const { value: last } = await third;
  expect(last.id).not.toBe(value.id);
  await again.return!();
});

test('a poll reads only the ids that the one before did not see', async ({ service, admin, ann }) => {
  const team = await createTeam(admin, 'Many', ann);
  for (let count = 0; count < 30; count++) await addFeedItem(service, team, 'before');
  const { polls, follow } = await recordPolls(service, await tenantOf(service), team);
  const rows = follow('a');
  const pending = rows.next();
  await expect.poll(() => polls.length).toBeGreaterThan(0);
  expect(polls[0]!.found).toBeGreaterThanOrEqual(30);
  await addFeedItem(service, team, 'new');
  await pending;
  // Another transaction of the server that has not ended adds what was written since it began.
  await expect
    .poll(async () => {
      await addFeedItem(service, team, 'new');
      await rows.next();
      return polls.at(-1)!.found;
    })
    .toBe(1);
  await rows.return!();
});
