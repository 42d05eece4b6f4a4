import { expect } from 'vitest';
import { expectBody } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { startService } from '../support/service.ts';
import { deployApp, deployAppWith, grantApp, poolsOf } from './echo-app.ts';

/** A handler that calls the route of `next` by the API, until `n` is 0. */
const nested = (next: string) => `
  export const get = async ({ fetch, context, request: { query, user } }) => {
    if (query.n === '0') return { user: user.name };
    const response = await fetch(\`/api/apps/\${context.app.id}/${next}?n=\${query.n - 1}\`);
    return { status: response.status, body: await response.json() };
  };`;
const FILES = {
  'server/a.js': nested('view/a'),
  'server/b.js': nested('_hook/b'),
  'webhooks/b.js': nested('view/b'),
};

test('handlers call handlers of view routes as their caller, 3 deep', async ({ service, admin, ann }) => {
  const app = await deployAppWith(admin, 'Nested', FILES, { scopes: ['read'] });
  await grantApp(service, admin, ann, app, ['read']);
  for (const n of [0, 1, 2]) await expectBody(ann.get(`/apps/${app}/view/a?n=${n}`), 200, { user: 'ann' });
  const tooDeep = await expectBody(ann.get(`/apps/${app}/view/a?n=3`), 503, { code: 'UNAVAILABLE' });
  expect(tooDeep.message).toMatch(/3 deep/);
});

test('a webhook that a handler calls acts as the owner, and counts as a level', async ({
  service,
  admin,
  ann,
  anonymous,
}) => {
  const app = await deployAppWith(admin, 'Nested webhooks', FILES, { scopes: ['read', 'keep'] });
  await grantApp(service, admin, ann, app, ['read', 'keep']);
  for (const n of [1, 2]) await expectBody(ann.get(`/apps/${app}/view/b?n=${n}`), 200, { user: 'admin' });
  await expectBody(ann.get(`/apps/${app}/view/b?n=3`), 503, { message: expect.stringMatching(/3 deep/) });
  await expectBody(anonymous.get(`/apps/${app}/_hook/b?n=1`), 200, { user: 'admin' });
});

test('a body of a handler that finds no memory ends with 503, and the service goes on', async () => {
  const service = await startService({}, { bodyLimits: { poolBytes: poolsOf(1000), callerShare: 0.5, closeMs: 1 } });
  const admin = await service.user('admin', { superuser: true });
  const app = await deployApp(admin, 'Nested bodies', {
    'server/inner.js': 'export const post = () => 1;',
    'server/outer.js': `export const post = async ({ fetch, context }) => {
      const url = \`/api/apps/\${context.app.id}/view/inner\`;
      return (await fetch(url, { method: 'POST', body: 'x'.repeat(600) })).status;
    };`,
  });
  for (let calls = 0; calls < 3; calls++)
    expect((await admin.post(`/apps/${app}/view/outer`, { a: 1 })).body).toBe(503);
  await service.close();
});
