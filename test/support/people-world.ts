import { yieldOnce } from '../../src/core/files.ts';
import { newId } from '../../src/core/id.ts';
import { digest, generateSecret } from '../../src/core/secret.ts';
import { pictureForm } from './avatar-fixture.ts';
import { Client } from './client.ts';
import { startForgingProvider } from './forging-provider.ts';
import { notifyUser } from './notification-fixture.ts';
import { pngOf, RED } from './picture-files.ts';
import { startService, type Service } from './service.ts';
import { systemQuery } from './system-query.ts';

/** The callers of the matrix of routes about people, in the order of its columns. */
export const CALLERS = ['anonymous', 'stranger', 'outsider', 'member', 'editor', 'superuser', 'readOnly'] as const;
type CallerName = (typeof CALLERS)[number];

/** Records for the path parameters of one call, unused so far. */
export interface Targets {
  /** A user of the tenant with an avatar who is a member of `team`. */
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

/** Domain of an identity provider that responds. */
export const PROVIDER_DOMAIN = 'corp';

/** A service with callers of all kinds. */
export interface PeopleWorld {
  /** Returns a caller: all but `readOnly` in a session of their own, `anonymous` without credentials. */
  caller(name: CallerName): Promise<Client>;
  /** Creates targets that no call has changed yet. */
  createTargets(): Promise<Targets>;
  close(): Promise<void>;
}

/** Starts the service of the matrix. */
export async function startPeopleWorld(): Promise<PeopleWorld> {
  const service = await startService({ OUTBOUND_ALLOW: '127.0.0.1' });
  const provider = await startForgingProvider();
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
  await member.put('/users/member/avatar', pictureForm(await pngOf(RED)));
  await (
    await openSession(service, admin)
  ).client.creates('/identity-providers', {
    ...createProviderInput('reachable'),
    domain: PROVIDER_DOMAIN,
    issuer: provider.url,
  });
  let number = 0;

  const createTargets = async (): Promise<Targets> => {
    number += 1;
    const username = `target-${number}`;
    await copyRow(service, 'app_user', member.id, { username, settings: {}, ...(await copyAvatar(service, member)) });
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
    createTargets,
    async close() {
      await service.close();
      await provider.close();
    },
    async caller(name) {
      if (name === 'anonymous') return new Client(service.url);
      const user = users[name]!;
      return name === 'readOnly' ? user : (await openSession(service, user)).client;
    },
  };
}

/** Copies the files of a user's avatar. Returns the columns that name the copies. */
async function copyAvatar(service: Service, { id }: Client): Promise<Record<string, string>> {
  const columns = ['avatar_id', 'avatar_original_id'];
  const [user] = await systemQuery<Record<string, string>>(
    service,
    `select ${columns.join()} from dws.app_user where id = $1`,
    id,
  );
  const { files } = service.platform;
  const copies: Record<string, string> = {};
  for (const column of columns) {
    const copy = await files.save(yieldOnce((await files.read(user![column]!))!), 0);
    copies[column] = await copyRow(service, 'stored_file', user![column]!, {}, copy.id);
  }
  return copies;
}

/** Copies a row with other values. Returns the id of the copy. */
async function copyRow(service: Service, table: string, id: string, values: object, copyId = newId()): Promise<string> {
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
