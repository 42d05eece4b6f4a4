import { describe, expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { startAuthorizationServer } from '../support/authorization-server.ts';
import { BROWSER_FIXTURE, logIn, openPage, takeScreenshot, type WithBrowser } from '../support/browser.ts';
import { HAS_CHROMIUM } from '../support/engines.ts';
import { logInAtProvider } from '../support/identity-provider-server.ts';
import { test as base } from './connection-fixture.ts';

const test = base.extend<WithBrowser>({ ...BROWSER_FIXTURE });

describe.skipIf(!HAS_CHROMIUM)('a browser', () => {
  test('that comes back from a provider of another site has its session, and connects', async ({
    browser,
    service,
    admin,
    ann,
  }) => {
    // Another site than the provider on 127.0.0.1: the browser sends cookies for navigations only.
    const site = service.url.replace('127.0.0.1', 'localhost');
    service.platform.publicUrl = site;
    const server = await startAuthorizationServer(`${site}/api/oauth/callback`);
    const { id: integrationId } = await admin.creates('/integrations', server.integration());
    const { id } = await ann.creates('/libraries', { name: 'Browsed', integrationId });
    const { url } = await ann.creates(`/libraries/${id}/connection/_authorize`, {});

    const { page } = await openPage(browser, site);
    await page.goto(url);
    await logInAtProvider(page, 'photos');
    await page.getByRole('heading', { name: 'Nothing was connected' }).waitFor();
    expect(await page.locator('.lead').innerText()).toMatch(/^Log in as the user who started this/);
    await takeScreenshot(page, 'connection-without-session');
    const callback = page.url();
    await logIn(page, site, 'ann');
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    await page.goto(callback);
    await page.waitForURL(`${site}/?connected=${id}`);
    const notice = page.locator('#notice');
    await expect.poll(() => notice.innerText()).toBe('Browsed is connected with the account photos@drive.test.');
    await takeScreenshot(page, 'connection-connected');
    expect((await ann.get(`/libraries/${id}/account`)).body.accountId).toBe('photos');

    // Now the browser is logged in at both.
    const again = await ann.creates(`/libraries/${id}/connection/_authorize`, {});
    await page.goto(again.url);
    await page.locator('button[type=submit]').click();
    await page.waitForURL(`${site}/?connected=${id}`);
    expect(server.grants).toEqual(['authorization_code', 'authorization_code']);

    // The page shows what is connected now, not what its address says.
    expect((await ann.delete(`/libraries/${id}/connection`)).status).toBe(204);
    for (const other of [id, newId(), 'Your%20session%20ends']) {
      const read = page.waitForResponse((response) => response.request().postData()?.includes('Connected(') ?? false);
      await page.goto(`${site}/?connected=${other}`);
      await read;
      await page.getByRole('button', { name: 'Log out' }).waitFor();
      await page.evaluate('load()');
      expect(await notice.innerText(), other).toBe('');
    }
    await page.context().close();
    await server.close();
  });
});
