import { expect } from 'vitest';
import type { Client } from './client.ts';
import { test as base } from './fixture.ts';
import { PASSWORD, type Service } from './service.ts';
import { systemQuery } from './system-query.ts';

/** Users with one global permission of the administration of users. */
export const test = base.extend<{ editor: Client; creator: Client; deleter: Client; session: Client }>({
  editor: [({ service }, use) => service.user('editor', { permissions: ['users:edit'] }).then(use), { scope: 'file' }],
  creator: [
    ({ service }, use) => service.user('creator', { permissions: ['users:create'] }).then(use),
    { scope: 'file' },
  ],
  deleter: [
    ({ service }, use) => service.user('deleter', { permissions: ['users:delete'] }).then(use),
    { scope: 'file' },
  ],
  /** The superuser in a session. */
  session: [({ service, admin }, use) => service.login(admin.username).then(use), { scope: 'file' }],
});

const DATE = '2030-01-01T00:00:00.000Z';
/** Another value of every field of a user that an update takes. */
export const CHANGES: Record<string, unknown> = {
  username: 'taken-over',
  domain: 'ldap',
  displayName: 'Taken Over',
  givenName: 'Taken',
  familyName: 'Over',
  middleName: 'T',
  email: 'attacker@example.com',
  timezone: 'Europe/Paris',
  settings: { theme: 'pink' },
  enabled: false,
  locked: true,
  lockedAt: DATE,
  loginAttempts: 9,
  passwordSetAt: DATE,
  passwordExpiresAt: DATE,
  superuser: true,
};

const UPDATE = `mutation ($username: String!, $input: UpdateUserInput!) {
  updateUser(username: $username, input: $input) { id }
}`;
/** Updates a user by GraphQL. */
export const updateByGraphql = (client: Client, username: string, input: object) =>
  client.gql(UPDATE, { username, input });

/** Runs calls and expects that they do not change the stored row of a user. */
export async function expectUnchanged(service: Service, { id }: Client, run: () => Promise<unknown>): Promise<void> {
  const read = () => systemQuery(service, `select to_jsonb(u)::text as row from dws.app_user u where id = $1`, id);
  const before = await read();
  expect(before).toHaveLength(1);
  await run();
  expect(await read()).toEqual(before);
}

/** Returns the input of a new user. */
export const newUser = (username: string, more = {}) => ({ username, password: PASSWORD, ...more });
