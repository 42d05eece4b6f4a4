import { createHmac } from 'node:crypto';
import { describe, expect } from 'vitest';
import { KEPT_BYTES } from '../../src/services/app/webhook-idempotency.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { deployApp, echo } from './echo-app.ts';
import { neverRun, once, responseOf } from './webhook-calls.ts';

const SECRET = 'shop secret';
const idempotency = { header: 'X-Delivery' };
const FILES = {
  'webhooks/index.js': echo(['post'], { idempotency }),
  'webhooks/signed.js': echo(['post'], { idempotency, verify: { scheme: 'hmac', secret: 'SHOP_SECRET' } }),
};
const OTHER = 'The value of the header X-Delivery was used for another request';
const signed = (text: string) => ({ 'x-signature': createHmac('sha256', SECRET).update(text).digest('hex') });

/** Deploys an app. Returns the functions that call its webhooks with the key `k`. */
async function deployKeyed(admin: Client, anonymous: Client, name: string) {
  const app = await deployApp(admin, name, FILES);
  await admin.put(`/apps/${app}`, { env: { SHOP_SECRET: SECRET } });
  const { token } = (await admin.get(`/apps/${app}/webhooks`)).body.hookToken;
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    anonymous.request('POST', `/api${path}`, body, { 'x-delivery': 'k', ...headers });
  return {
    byId: (body: string, status = 200) => post(`/apps/${app}/_hook`, body, { 'x-respond': JSON.stringify({ status }) }),
    byToken: (body: string, status = 200) => post(`/hooks/${token}`, body, { 'x-respond': JSON.stringify({ status }) }),
    bySignature: (body: string) => post(`/apps/${app}/_hook/signed`, body, signed(body)),
  };
}

/** Returns a service whose database fails for the first statements that begin with a text. */
function failing({ platform }: Service, text: string, times: number): Pick<Service, 'platform'> {
  let left = times;
  const query: typeof platform.database.query = (tenantId, statement) =>
    statement.text.trimStart().startsWith(text) && left-- > 0
      ? Promise.reject(new Error('The disk is full'))
      : platform.database.query(tenantId, statement);
  return { platform: { ...platform, database: { query } as typeof platform.database } };
}

describe('a caller without proof', () => {
  test('takes no key of another request, and gets the response of its own', async ({ admin, anonymous }) => {
    const { byId } = await deployKeyed(admin, anonymous, 'Taken');
    await expectBody(byId('of a stranger', 201), 201, { rawBody: 'of a stranger' });
    await expectBody(byId('of the sender', 202), 202, { rawBody: 'of the sender' });
    for (const _ of [1, 2]) await expectBody(byId('of the sender', 200), 202, { rawBody: 'of the sender' });
    await expectBody(byId('of a stranger', 200), 201, { rawBody: 'of a stranger' });
  });

  test('neither takes keys of proven callers nor gets their responses', async ({ admin, anonymous }) => {
    const { byId, byToken, bySignature } = await deployKeyed(admin, anonymous, 'Proven');
    await expectBody(byId('x', 201), 201, {});
    await expectBody(byToken('x', 202), 202, {});
    await expectBody(byToken('x', 200), 202, {});
    await expectBody(byId('x', 200), 201, {});
    await expectBody(bySignature('y'), 200, { rawBody: 'y' });
    // The value of a proven caller stands for one request.
    await expectError(byToken('z'), 422, OTHER);
    await expectError(bySignature('z'), 422, OTHER);
    await expectBody(byId('z', 203), 203, {});
  });
});

describe('a response that cannot be stored', () => {
  test.for([1, 2])('is sent, and its call does not run again, after %i failures', async (times, { admin, service }) => {
    const app = await deployApp(admin, `Unstored ${times}`, FILES);
    const broken = failing(service, 'update dws.webhook_reply', times);
    expect(await once(broken, app, {}, responseOf('first'))).toMatchObject({ response: { status: 200 } });
    const again = () => once(service, app, {}, neverRun).catch((error: Error) => error);
    const expected = { status: 409, message: 'The call was processed before; its response was not kept' };
    await expect.poll(again, { timeout: 20_000 }).toMatchObject(expected);
  });

  test('of a run that failed leaves its failure as it is', async ({ admin, service }) => {
    const app = await deployApp(admin, 'Unreleased', FILES);
    const broken = failing(service, 'delete from dws.webhook_reply', 1);
    const fail = () => Promise.reject(new Error('The handler was stopped'));
    await expect(once(broken, app, {}, fail)).rejects.toThrow('The handler was stopped');
    await expect(once(service, app, {}, neverRun)).rejects.toMatchObject({ status: 409 });
  });
});

test('the bytes of kept responses are read from an index alone', async ({ admin, service }) => {
  const app = await deployApp(admin, 'Indexed', FILES);
  await once(service, app, {}, responseOf('12345'));
  const [row] = await systemQuery<{ tenantId: string; bytes: number; length: number }>(
    service,
    `select tenant_id as "tenantId", bytes, octet_length(response) as length from dws.webhook_reply where app_id = $1`,
    app,
  );
  expect(row!.bytes).toBe(row!.length);
  const plan = await service.platform.database.transaction(row!.tenantId, async ({ query }) => {
    await query({
      text: `select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`,
    });
    return query<{ 'QUERY PLAN': string }>({
      text: `explain ${KEPT_BYTES.replace('$6', '$3')}`,
      values: [row!.tenantId, app, true],
    });
  });
  expect(plan.map((line) => line['QUERY PLAN']).join('\n')).toMatch(/Index Only Scan using webhook_reply_bytes/);
});
