import { Client } from '../support/client.ts';
import { startService, type Service } from '../support/service.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { FIXTURES, READABLE_BY_ALL } from './fixtures.ts';

/** A service with callers of every kind, and resources of every kind. */
export interface ConformanceClients {
  service: Service;
  /** Superuser who owns the private resources. */
  admin: Client;
  /** Member of the team that owns the shared resources. */
  reader: Client;
  /** Superuser of another tenant. */
  stranger: Client;
  /** User without global permissions. */
  powerless: Client;
  /** Superuser whose token has the scope `read` only. */
  readOnly: Client;
  /** Superuser whose token has expired. */
  expired: Client;
  /** Superuser who is disabled. */
  disabled: Client;
  /** Client without credentials. */
  anonymous: Client;
  /** Path parameters by kind, e.g. `datasets`: of a resource of `admin`, and of one of the team of `reader`. */
  resources: Record<string, { private: string; shared: string }>;
}

/** Starts a service with the callers and resources of the conformance tests. */
export async function startConformanceClients(): Promise<ConformanceClients> {
  const service = await startService();
  const { system } = service.platform;
  const admin = await service.user('admin', { superuser: true });
  const stranger = await service.user('stranger', { tenant: 'other', superuser: true });
  const reader = await service.user('reader');
  const powerless = await service.user('powerless', { permissions: [] });
  const readOnly = await service.user('readonly', { superuser: true, scopes: ['read'] });
  const expired = await service.user('expired', { superuser: true });
  const disabled = await service.user('disabled', { superuser: true });
  await system.query({ text: `update dws.app_user set enabled = false where id = $1`, values: [disabled.id] });
  await system.query({
    text: `update dws.api_token set expires_at = now() - interval '1 second' where user_id = $1`,
    values: [expired.id],
  });

  const team = await admin.creates('/teams', { name: 'Readers' });
  await admin.put(`/teams/${team.id}/members/reader`, { role: 'member' });
  const resources: ConformanceClients['resources'] = {};
  for (const [kind, fixture] of Object.entries(FIXTURES)) {
    resources[kind] = {
      private: await fixture.create(admin, `private ${kind}`),
      shared: READABLE_BY_ALL.has(kind) ? '' : await fixture.create(admin, `shared ${kind}`, `team:${team.id}`),
    };
  }
  const anonymous = new Client(service.url);
  return { service, admin, reader, stranger, powerless, readOnly, expired, disabled, anonymous, resources };
}

/** Returns the path parameter of a private resource of a kind, an unknown id for other kinds. */
export const privateOf = ({ resources }: ConformanceClients, kind: string | undefined): string =>
  resources[kind ?? '']?.private ?? UNKNOWN_ID;
