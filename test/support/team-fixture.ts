import { storeActivities } from '../../src/services/resource/activity.ts';
import type { Client } from './client.ts';
import { expectStatus } from './expect.ts';
import { inTransaction } from './notification-fixture.ts';
import type { Service } from './service.ts';

/** A feed item as REST returns it. */
export interface FeedRecord {
  id: string;
  type: string;
  entityType: string;
  entityId: string;
  message: string;
  viewed: boolean;
  createdAt: string;
}

/** Creates a team with these members, each with the role `member`. Returns its id. */
export async function createTeam(admin: Client, name: string, ...members: Client[]): Promise<string> {
  const { id } = await admin.creates('/teams', { name });
  for (const { username } of members)
    await expectStatus(admin.put(`/teams/${id}/members/${username}`, { role: 'member' }), 200);
  return id;
}

/** Returns the feed of a team by REST. */
export const readFeed = async (client: Client, team: string, query = ''): Promise<FeedRecord[]> =>
  (await client.get(`/teams/${team}/feed${query}`)).body._embedded['svc:feed-item'];

/** Adds an item with this message to the feed of a team of the tenant `default`. */
export const addFeedItem = (service: Service, team: string, message: string): Promise<void> =>
  inTransaction(service, async (tx, tenantId) => {
    const resource = { id: team, name: 'Team', ownerId: `team:${team}` };
    storeActivities(tx, { tenantId, userId: null }, [{ kind: 'team', resource, event: 'updated', message }]);
  });
