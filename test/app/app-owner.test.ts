import { expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { createApp, putFile } from './app-fixture.ts';

const FILES = {
  'webhooks/me.js': `export const post = async ({ fetch }) => (await fetch('/api/audit?limit=1')).status;`,
  'server/mail.js': `export const get = ({ email }) => email({ to: 'a@example.com', subject: 'Hello', text: 'Hello' });`,
};

const isAccepted = async (client: Client, app: string): Promise<boolean> =>
  (await client.data(`{ app(id: "${app}") { accepted } }`)).app.accepted;

test('an app that is given away acts for its new owner after they have deployed it', async ({
  admin,
  anonymous,
  service,
}) => {
  const cara = await service.user('cara', { permissions: ['apps:create'] });
  const app = await createApp(cara, 'Gift', FILES);
  await expectStatus(cara.put(`/apps/${app}`, { access: { scopes: ['email'] } }), 200);
  const { releaseId } = (await cara.post(`/apps/${app}/_deploy`)).body;
  await expectBody(cara.get(`/apps/${app}`), 200, { accepted: true });
  expect((await anonymous.post(`/apps/${app}/_hook/me`)).body).toBe(403);
  await expectStatus(cara.put(`/apps/${app}/shares/${cara.id}`, { accessLevel: 3 }), 200);

  await expectStatus(cara.put(`/apps/${app}/owner`, { ownerId: admin.id }), 200);
  await expectBody(cara.get(`/apps/${app}`), 200, { accepted: false });
  const session = await service.login('cara');
  await expectStatus(session.put(`/me/app-grants/${app}`, { scopes: ['email'] }), 200);
  const NOT_ACCEPTED = 'The app has no owner who can act';
  await expectError(anonymous.post(`/apps/${app}/_hook/me`), 503, NOT_ACCEPTED);
  await expectError(
    cara.get(`/apps/${app}/view/mail`),
    500,
    /^server\/mail\.js:1: .*The owner has not accepted the app yet$/,
  );

  // Others do not accept it: neither the former owner who deploys it, nor changes of it.
  await expectStatus(putFile(cara, app, 'lib/a.js', 'export const a = 1;'), 201);
  await expectStatus(cara.post(`/apps/${app}/_deploy`), 200);
  await expectStatus(admin.put(`/apps/${app}`, { name: 'Gift of cara' }), 200);
  expect(await isAccepted(admin, app)).toBe(false);
  await expectError(anonymous.post(`/apps/${app}/_hook/me`), 503, NOT_ACCEPTED);

  await expectStatus(admin.post(`/apps/${app}/_rollback`, { releaseId }), 200);
  expect(await isAccepted(admin, app)).toBe(true);
  expect((await anonymous.post(`/apps/${app}/_hook/me`)).body).toBe(200);
  await expectStatus(cara.get(`/apps/${app}/view/mail`), 200);
});

test('an app that is created for another user is not accepted, and one of a team is', async ({ admin, service }) => {
  const cara = await service.user('cara2', { permissions: ['apps:create', 'teams:create'] });
  const { id: forAdmin } = await cara.creates('/apps', { name: 'For admin', ownerId: admin.id });
  expect(await isAccepted(admin, forAdmin)).toBe(false);
  await expectStatus(admin.post(`/apps/${forAdmin}/_deploy`), 200);
  expect(await isAccepted(admin, forAdmin)).toBe(true);
  const { id: team } = await cara.creates('/teams', { name: 'Givers' });
  const own = await createApp(cara, 'Own', FILES);
  await expectStatus(cara.put(`/apps/${own}/owner`, { ownerId: `team:${team}` }), 200);
  expect(await isAccepted(cara, own)).toBe(true);
});

test('code of an app acts for a new owner who has not accepted it as far as they have granted', async ({
  admin,
  service,
}) => {
  const cara = await service.user('cara3', { permissions: ['apps:create'] });
  const app = await createApp(cara, 'Trap', {
    'server/users.js': `export const post = async ({ fetch }) => [
      (await fetch('/api/me')).status, (await fetch('/api/audit?limit=1')).status];`,
  });
  await expectStatus(cara.put(`/apps/${app}`, { access: { scopes: ['read'] } }), 200);
  const { releaseId } = (await cara.post(`/apps/${app}/_deploy`)).body;
  await expectStatus(cara.put(`/apps/${app}/owner`, { ownerId: admin.id }), 200);
  const run = async () => (await admin.post(`/apps/${app}/view/users`)).body;
  expect(await run()).toEqual([403, 403]);
  const session = await service.login('admin');
  await expectStatus(session.put(`/me/app-grants/${app}`, { scopes: ['read'] }), 200);
  expect(await run()).toEqual([200, 403]);
  await expectStatus(admin.post(`/apps/${app}/_rollback`, { releaseId }), 200);
  expect(await run()).toEqual([200, 200]);
  await expectError(session.put(`/me/app-grants/${app}`, { scopes: ['read'] }), 409, /You own the app/);
});
