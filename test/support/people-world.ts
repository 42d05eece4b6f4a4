import { newId } from '../../src/core/id.ts';
import { digest, generateSecret } from '../../src/services/identity/credential.ts';
import { Client } from './client.ts';
import { notifyUser } from './notification-fixture.ts';
import { startService, type Service } from './service.ts';
import { systemQuery } from './system-query.ts';

/** The callers of the matrix of routes about people, in the order of its columns. */
export const CALLERS = ['anonymous', 'stranger', 'outsider', 'member', 'editor', 'superuser', 'readOnly'] as const;
type CallerName = (typeof CALLERS)[number];

/** The names of path parameters, for new targets of one call. */
export interface Targets {
  /** A user of the tenant who is a member of `team`. */
  username: string;
  /** A team of the members `member` and `username`. */
  team: string;
  /** A session, a token and a notification of `member`, and a comment of theirs in the team. */
  session: string;
  token: string;
  notification: string;
  comment: string;
  identityProvider: string;
}

/** Returns an input of an identity provider that is not called. */
export const createProviderInput = (name: string) => ({
  domain: `${name}.example`,
  name,
  issuer: 'https://login.example.com',
  clientId: 'workspace',
});

/** A service with callers of all kinds. */
export interface PeopleWorld {
  service: Service;
  /** Returns a caller: all but `readOnly` in a session of their own, `anonymous` without credentials. */
  caller(name: CallerName): Promise<Client>;
  /** Creates targets that no call has changed yet. */
  createTargets(): Promise<Targets>;
}

/** Starts the service of the matrix. */
export async function startPeopleWorld(): Promise<PeopleWorld> {
  const service = await startService();
  const admin = await service.user('superuser', { superuser: true });
  const users: Partial<Record<CallerName, Client>> = {
    stranger: await service.user('stranger', { tenant: 'other', superuser: true }),
    outsider: await service.user('outsider'),
    member: await service.user('member'),
    editor: await service.user('editor', { permissions: ['users:edit'] }),
    superuser: admin,
    readOnly: await service.user('read-only', { superuser: true, scopes: ['read'] }),
  };
  const member = users.member!;
  let number = 0;

  const createTargets = async (): Promise<Targets> => {
    number += 1;
    const username = `target-${number}`;
    await copyRow(service, 'app_user', member.id, { username, settings: {} });
    const { id: team } = await admin.creates('/teams', { name: `Team ${number}` });
    for (const name of ['member', username]) await admin.put(`/teams/${team}/members/${name}`, { role: 'member' });
    const { id: session } = await openSession(service, member);
    const [known] = await systemQuery<{ id: string }>(
      service,
      `select id from dws.api_token where user_id = $1 limit 1`,
      member.id,
    );
    const token = await copyRow(service, 'api_token', known!.id, { token_hash: digest(generateSecret()) });
    await notifyUser(service, member, `Message ${number}`);
    const [notification] = await systemQuery<{ id: string }>(
      service,
      `select id from dws.notification where user_id = $1 order by id desc limit 1`,
      member.id,
    );
    const { id: comment } = await member.creates(`/teams/${team}/comments`, { message: 'Done' });
    const { client } = await openSession(service, admin);
    const { id: identityProvider } = await client.creates('/identity-providers', createProviderInput(username));
    return { username, team, session, token, notification: notification!.id, comment, identityProvider };
  };

  return {
    service,
    createTargets,
    async caller(name) {
      if (name === 'anonymous') return new Client(service.url);
      const user = users[name]!;
      return name === 'readOnly' ? user : (await openSession(service, user)).client;
    },
  };
}

/** Copies a row with other values. Returns the id of the copy. */
async function copyRow(service: Service, table: string, id: string, values: object): Promise<string> {
  const copyId = newId();
  await systemQuery(
    service,
    `insert into dws.${table} select (jsonb_populate_record(r, $2)).* from dws.${table} r where id = $1`,
    id,
    JSON.stringify({ ...values, id: copyId }),
  );
  return copyId;
}

/** Opens a session of a user without a login, which would cost a password hash. */
async function openSession(service: Service, user: Client): Promise<{ id: string; client: Client }> {
  const [id, secret] = [newId(), generateSecret()];
  await systemQuery(
    service,
    `insert into dws.session (id, tenant_id, user_id, token_hash, expires_at, last_used_at)
    select $1, tenant_id, id, $3, now() + interval '1 hour', now() from dws.app_user where id = $2`,
    id,
    user.id,
    digest(secret),
  );
  const headers = { cookie: `dws_session=${secret}`, 'sec-fetch-site': 'same-origin' };
  return { id, client: new Client(service.url, headers, user) };
}
