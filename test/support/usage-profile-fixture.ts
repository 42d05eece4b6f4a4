import type { Client } from './client.ts';
import { test as base } from './fixture.ts';

interface ProfileWorld {
  /** Has `billing:manage`, but is not a superuser. */
  billing: Client;
  /** Has `usage:write`, but is not a superuser. */
  writer: Client;
  /** A superuser whose token may only read. */
  readOnly: Client;
}

export const test = base.extend<ProfileWorld>({
  billing: [
    async ({ service }, use) => use(await service.user('billing', { permissions: ['billing:manage'] })),
    { scope: 'file' },
  ],
  writer: [
    async ({ service }, use) => use(await service.user('writer', { permissions: ['usage:write'] })),
    { scope: 'file' },
  ],
  readOnly: [
    async ({ service }, use) => use(await service.user('readonly', { superuser: true, scopes: ['read'] })),
    { scope: 'file' },
  ],
});

let count = 0;

/** Returns the body of a new usage profile, with a slug of its own. */
export const profileBody = (values: object = {}) => {
  count += 1;
  return { name: `Profile ${count}`, slug: `profile-${count}`, description: 'Of a test.', ...values };
};

/** Creates a usage profile. Returns the record. */
export const createProfile = (client: Client, values: object = {}) =>
  client.creates('/usage-profiles', profileBody(values));

/** Returns the slugs of the usage profiles in the order of the list. */
export const slugsOf = (body: { _embedded: { 'svc:usage-profile': { slug: string }[] } }): string[] =>
  body._embedded['svc:usage-profile'].map(({ slug }) => slug);
