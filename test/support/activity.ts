import type { Client } from './client.ts';
import type { Service } from './service.ts';

/** An activity as REST returns it. */
interface ActivityRecord {
  type: string;
  message: string;
  data: Record<string, unknown>;
  userId: string;
}

/** Returns the activities of a resource, latest first, by REST. */
export const readActivities = async (client: Client, path: string): Promise<ActivityRecord[]> =>
  (await client.get(`${path}/activity`)).body._embedded['svc:activity'];

interface StoredActivity extends Record<string, unknown> {
  type: string;
  message: string;
  name: string;
  owner: string;
  data: Record<string, unknown>;
}

/** Returns the activities of a resource in the database, oldest first. */
export const readStoredActivities = (service: Service, resourceId: string): Promise<StoredActivity[]> =>
  service.platform.system.query({
    text: `
      select type, message, name, owner_id as owner, data
      from dws.activity
      where resource_id = $1
      order by created_at`,
    values: [resourceId],
  });

/** Returns the actions in the audit log of a resource, latest first. */
export const readAuditActions = async (client: Client, resourceId: string): Promise<string[]> =>
  (await client.get(`/audit?resourceId=${resourceId}`)).body._embedded['svc:audit-event'].map(
    ({ action }: { action: string }) => action,
  );
