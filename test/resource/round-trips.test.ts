import { describe, expect } from 'vitest';
import { statementName } from '../../src/adapters/database/statement-names.ts';
import { FIXTURES, namesOf, PARTS, READABLE_BY_ALL } from '../conformance/fixtures.ts';
import type { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import { recordRoundTrips, type RoundTrip } from '../support/round-trips.ts';

/** The most that a mutation of one row of a kind may take: check, load, write, and read what is returned. */
const MAX_ROUND_TRIPS = 4;

const kinds = Object.keys(FIXTURES).filter((kind) => kind !== 'users');

/** Creates a resource. Returns its id and the round trips of its own creation, without what it depends on. */
async function create(kind: string, caller: Client, name: string): Promise<{ id: string; trips: RoundTrip[] }> {
  let id = '';
  const trips = await recordRoundTrips(async (restart) => {
    const counting = Object.create(caller) as Client;
    counting.creates = (...args) => (restart(), caller.creates(...args));
    id = await FIXTURES[kind]!.create(counting, name);
  });
  return { id, trips };
}

/** The most that a deletion may take where it is more: a library ends its connection, and deletes its files in parts. */
const MAX_OF_DELETION: Record<string, number> = { libraries: 5 };

/** Checks that a mutation takes few round trips, and that its activity and audit event go with the commit. */
function expectFew(trips: RoundTrip[], kind: string, maxTrips = MAX_ROUND_TRIPS): void {
  expect(trips.length, JSON.stringify(trips, null, 1)).toBeLessThanOrEqual(maxTrips);
  const commits = trips.filter((texts) => texts.at(-1) === 'commit');
  expect(commits).toHaveLength(1);
  expect(commits[0]!.filter((text) => text.includes('into dws.audit_event'))).toHaveLength(1);
  const activities = commits[0]!.filter((text) => text.includes('into dws.activity'));
  const hasActivities = kind === 'teams' || !(PARTS.has(kind) || READABLE_BY_ALL.has(kind));
  expect(activities).toHaveLength(hasActivities ? 1 : 0);
}

const unprepared = (trips: RoundTrip[]) =>
  trips.flat().filter((text) => !(statementName(text) ?? statementName(text, true)));

describe.each(kinds)('a mutation of one of the %s', (kind) => {
  test('by REST takes few round trips and is prepared', async ({ admin }) => {
    await create(kind, admin, `first ${kind}`);
    const { id, trips: creation } = await create(kind, admin, `measured ${kind}`);
    const update = await recordRoundTrips(() => admin.put(`/${kind}/${id}`, { name: `renamed ${kind}` }));
    const deletion = await recordRoundTrips(() => admin.delete(`/${kind}/${id}`));
    for (const trips of [creation, update]) expectFew(trips, kind);
    expectFew(deletion, kind, MAX_OF_DELETION[kind]);
    expect(unprepared(creation), 'a second creation is prepared').toEqual([]);
  });

  test('by GraphQL takes no further ones', async ({ admin }) => {
    const { id } = await create(kind, admin, `graph ${kind}`);
    const { type } = namesOf(kind);
    const byRest = await recordRoundTrips(() => admin.put(`/${kind}/${id}`, { name: `rest ${kind}` }));
    const byGraphql = await recordRoundTrips(() =>
      admin.data(`mutation ($id: ID!, $input: Update${type}Input!) { update${type}(id: $id, input: $input) { id } }`, {
        id,
        input: { name: `graphql ${kind}` },
      }),
    );
    expect(byGraphql.length).toBeLessThanOrEqual(byRest.length);
    const deletion = await recordRoundTrips(() => admin.data(`mutation ($id: ID!) { delete${type}(id: $id) }`, { id }));
    expectFew(deletion, kind, MAX_OF_DELETION[kind]);
  });
});
