import { describe, expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import { startService } from '../support/service.ts';
import { deployApp, echo, sendRaw } from './echo-app.ts';

const NAVIGATE = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'same-origin' };
const FILES = { 'webhooks/index.js': echo(['get', 'post']), 'server/index.js': echo(['get']) };

/** Calls a route that redirects. Returns status, target and body. */
async function redirect(client: Client, path: string, location: string, headers: Record<string, string> = NAVIGATE) {
  const respond = JSON.stringify({ status: 302, headers: { location }, body: null });
  const response = await sendRaw(client, 'GET', path, { headers: { 'x-respond': respond, ...headers } });
  return { status: response.status, location: response.headers.location, text: String(response.body), response };
}

describe('a redirect of an app', () => {
  test('is followed by browsers to known targets only; another is a page that names it', async () => {
    const service = await startService({
      PUBLIC_URL: 'https://data.example',
      CORS_ORIGINS: 'https://shop.example,capacitor://localhost',
      REDIRECT_HOSTS: 'Pay.example',
    });
    const admin = await service.user('admin', { superuser: true });
    const app = await deployApp(admin, 'Redirects', FILES);
    const { hookToken } = (await admin.get(`/apps/${app}/webhooks`)).body;
    const { host } = new URL(service.url);
    const known = [
      'https://data.example/api/me',
      'https://shop.example/x?y',
      'capacitor://localhost/x',
      'https://pay.example:8443/x',
      `/api/apps/${app}/view/x`,
      `http://${host}/api/apps/${app}/_hook/x`,
    ];
    const unknown = [
      ['https://evil.example/login?a="b"', 'https://evil.example/login?a=%22b%22'],
      ['//evil.example', 'https?://evil.example/'],
      ['https://data.example.evil.example/', 'https://data.example.evil.example/'],
      ['https://data.example@evil.example/', 'https://data.example@evil.example/'],
      [`/api/apps/${app}x/view`, `/api/apps/${app}x/view`],
      [`/api/apps/${app}/../../me`, '/api/me'],
      ['/api/me', '/api/me'],
    ] as const;
    for (const path of [`/apps/${app}/_hook`, `/apps/${app}/view`]) {
      for (const location of known)
        expect(await redirect(admin, path, location), location).toMatchObject({ status: 302, location });
      for (const [location, shown] of unknown) {
        const { status, text, response, ...page } = await redirect(admin, path, location);
        expect([status, page.location], location).toEqual([200, undefined]);
        expect(text).toMatch(
          new RegExp(shown.replaceAll(/[.?]/g, (char) => (shown.startsWith('https?') ? char : `\\${char}`))),
        );
        expect(text).toContain('rel="noreferrer"');
        expect(response.headers['content-security-policy']).toContain("frame-ancestors 'none'");
        expect(response.headers['cache-control']).toBe('no-store');
      }
      const script = await redirect(admin, path, 'javascript:alert(1)//<b>');
      expect([script.status, script.text.includes('href="javascript'), script.text.includes('<b>')]).toEqual([
        200,
        false,
        false,
      ]);
    }
    const byToken = `/hooks/${hookToken.token}`;
    expect((await redirect(admin, byToken, `/api${byToken}/x`)).status).toBe(302);
    expect((await redirect(admin, byToken, 'https://evil.example/')).status).toBe(200);
    await service.close();
  });

  test('is passed to clients that do not open it, and asked of those that may', async ({ admin }) => {
    const path = `/apps/${await deployApp(admin, 'Clients', FILES)}/_hook`;
    const location = 'https://evil.example/';
    const others = [
      { accept: '*/*' },
      { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', accept: 'text/html' },
    ] as Record<string, string>[];
    for (const headers of others)
      expect(await redirect(admin, path, location, headers)).toMatchObject({ status: 302, location });
    const browsers = [
      { accept: 'text/html,*/*;q=0.8' },
      { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
    ] as Record<string, string>[];
    for (const headers of browsers) expect((await redirect(admin, path, location, headers)).status).toBe(200);
  });
});

test('a webhook sets headers of a list only, and is not stored by shared caches', async ({ admin, anonymous }) => {
  const path = `/apps/${await deployApp(admin, 'Headers', FILES)}/_hook`;
  const given = {
    'cache-control': 'public, max-age=31536000',
    age: '1',
    vary: '*',
    link: '</x>; rel=preload',
    'x-hook-secret': 'echoed',
    'webhook-allowed-origin': 'events.example',
    'content-type': 'text/plain',
  };
  const { headers } = await sendRaw(anonymous, 'GET', path, {
    headers: { 'x-respond': JSON.stringify({ headers: given, body: 'x' }) },
  });
  expect(headers).toMatchObject({
    'cache-control': 'private, max-age=31536000',
    'x-hook-secret': 'echoed',
    'webhook-allowed-origin': 'events.example',
    'content-type': 'text/plain; charset=utf-8',
  });
  for (const name of ['age', 'link']) expect(headers).not.toHaveProperty(name);
  expect(headers.vary ?? '').not.toContain('*');
});
