import { describe, expect } from 'vitest';
import { BROWSER_FIXTURE, openPage, takeScreenshot, type WithBrowser } from '../support/browser.ts';
import { HAS_CHROMIUM } from '../support/engines.ts';
import {
  CLIENT,
  logInAtProvider,
  startOidcProvider,
  type LoopbackServer,
} from '../support/identity-provider-server.ts';
import { test as base } from '../support/provider-login-fixture.ts';

const test = base.extend<WithBrowser & { corp: LoopbackServer }>({
  ...BROWSER_FIXTURE,
  corp: [
    async ({ service, admin }, use) => {
      const accounts = { uma: { preferred_username: 'uma', name: 'Uma' } };
      const server = await startOidcProvider(accounts, `${service.url}/api/login/corp/callback`);
      const common = { issuer: server.url, ...CLIENT, createUsers: true };
      await admin.creates('/identity-providers', { ...common, domain: 'corp', name: 'Corp <b>& Co</b>' });
      await admin.creates('/identity-providers', { ...common, domain: 'partners', name: 'Partners' });
      await use(server);
      await server.close();
    },
    { scope: 'file' },
  ],
});

describe.skipIf(!HAS_CHROMIUM)('the login form', () => {
  test('offers the providers of the tenant, and a person logs in with one', async ({ browser, service, corp }) => {
    const { page, problems } = await openPage(browser, service.url);
    await page.goto(service.url);
    const links = page.locator('#providers a');
    await expect.poll(() => links.allInnerTexts()).toEqual(['Log in with Corp <b>& Co</b>', 'Log in with Partners']);
    await takeScreenshot(page, 'login-providers');
    await page.getByLabel('Tenant').fill('other');
    await expect.poll(() => links.count()).toBe(0);
    await takeScreenshot(page, 'login-no-providers');
    await page.getByLabel('Tenant').fill('default');
    await expect.poll(() => links.count()).toBe(2);
    expect(problems).toEqual([]);

    await links.first().click();
    await page.waitForURL(`${corp.url}/**`);
    await logInAtProvider(page, 'uma');
    await page.waitForURL(`${service.url}/`);
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    expect(await page.locator('#who').innerText()).toBe('uma');
    expect(await page.locator('#providers').isVisible()).toBe(false);
    await page.context().close();
  });

  test('is one click away from the page of a login that failed', async ({ browser, service, corp }) => {
    expect(corp.url).toBeTruthy();
    const { page } = await openPage(browser, service.url);
    await page.goto(`${service.url}/api/login/corp/callback?code=stolen&state=stolen`);
    await page.getByRole('heading', { name: 'You are not logged in' }).waitFor();
    await takeScreenshot(page, 'login-failed');
    await page.getByRole('link', { name: /Home/ }).click();
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
    await page.context().close();
  });
});
