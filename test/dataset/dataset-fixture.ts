import type { ApiResponse, Client } from '../support/client.ts';
import { ORDERS_QUERY } from '../support/shop-fixture.ts';

/** Creates a dataset of the shop's orders: 20 rows, once it is refreshed. */
export const createOrders = (
  owner: Client,
  datasource: { id: string },
  input: object = {},
): Promise<ApiResponse['body']> =>
  owner.creates('/datasets', { name: 'Orders', datasourceId: datasource.id, query: ORDERS_QUERY, ...input });

/** Creates a team with members, by username and role. Returns its id. */
export async function createTeam(admin: Client, name: string, roles: Record<string, string>): Promise<string> {
  const { id } = await admin.creates('/teams', { name });
  for (const [username, role] of Object.entries(roles)) await admin.put(`/teams/${id}/members/${username}`, { role });
  return id;
}

/** Returns the records of a page of rows. */
export const recordsOf = (page: ApiResponse['body']): Record<string, unknown>[] => page._embedded['svc:record'];
