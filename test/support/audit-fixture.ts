import { expect } from 'vitest';
import { FIXTURES } from '../conformance/fixtures.ts';
import type { Client } from './client.ts';
import type { Service } from './service.ts';
import { systemQuery } from './system-query.ts';

export interface RecordedEvent extends Record<string, unknown> {
  action: string;
  outcome: string;
  kind: string | null;
  resourceId: string | null;
  userId: string | null;
  username: string;
  channel: string;
  address: string | null;
  tokenId: string | null;
  sessionId: string | null;
  requestId: string;
  tenant: string;
}

/** Returns the audit events that `work` causes, oldest first. */
export async function recordEvents(service: Service, work: () => Promise<unknown>): Promise<RecordedEvent[]> {
  const earlier = await systemQuery<{ id: string }>(service, 'select id from dws.audit_event');
  await work();
  return systemQuery<RecordedEvent>(
    service,
    `select e.action, e.outcome, e.kind, e.resource_id as "resourceId", e.user_id as "userId", e.username, e.channel,
      e.address, e.token_id as "tokenId", e.session_id as "sessionId", e.request_id as "requestId", t.slug as tenant
    from dws.audit_event e
    join dws.tenant t on t.id = e.tenant_id
    where e.id <> all($1)
    order by e.created_at`,
    earlier.map(({ id }) => id),
  );
}

/** Creates a resource of a kind, e.g. `reports`, that `admin` owns. Returns its id. */
export const createResource = (kind: string, admin: Client, name: string): Promise<string> =>
  FIXTURES[kind]!.create(admin, name);

/** The event of a download. */
interface RecordedRead extends Record<string, unknown> {
  action: string;
  outcome: string;
}

/** Returns the downloads and refused downloads that `work` causes, once they have ended, oldest first. */
export async function recordReads(service: Service, work: () => Promise<unknown>): Promise<RecordedRead[]> {
  const earlier = await systemQuery<{ id: string }>(service, 'select id from dws.audit_event');
  await work();
  const load = () =>
    systemQuery<RecordedRead>(
      service,
      `select e.action, e.kind, e.resource_id as "resourceId", e.outcome, e.channel, e.username, e.parameters, e.rows, e.bytes
      from dws.audit_event e
      where e.id <> all($1) and e.parameters is not null
      order by e.created_at`,
      earlier.map(({ id }) => id),
    );
  await expect.poll(async () => (await load()).map(({ outcome }) => outcome)).not.toContain('started');
  return load();
}
