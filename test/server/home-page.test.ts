import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { createOrders } from '../dataset/dataset-fixture.ts';
import { BROWSER_FIXTURE, logIn, openPage, takeScreenshot, type WithBrowser } from '../support/browser.ts';
import { HAS_CHROMIUM } from '../support/engines.ts';
import { test as base } from '../support/shop-fixture.ts';

const test = base.extend<WithBrowser>(BROWSER_FIXTURE);

/** Returns the cells of the row of a dataset, as a person reads them. */
const cellsOf = (page: Page, name: string): Promise<string[]> =>
  page.locator('#datasets tr', { hasText: name }).locator('td').allInnerTexts();

describe.skipIf(!HAS_CHROMIUM)('the page at `/` after a login', () => {
  test('shows the datasets of the caller with owner, rows and freshness', async ({
    browser,
    service,
    ann,
    bob,
    source,
  }) => {
    const fresh = await createOrders(ann, source, { name: 'Fresh <b>orders</b>' });
    await ann.post(`/datasets/${fresh.id}/_refresh`);
    await ann.put(`/datasets/${fresh.id}/shares/${bob.id}`, { accessLevel: 1 });
    const broken = await createOrders(ann, source, { name: 'Broken orders', query: 'select 1 / 0 as x' });
    await ann.post(`/datasets/${broken.id}/_refresh`);
    await createOrders(ann, source, { name: 'New orders' });

    const { page, problems } = await openPage(browser, service.url);
    await logIn(page, service.url, 'ann');
    await expect.poll(() => page.locator('#datasets tr').count()).toBe(3);
    await takeScreenshot(page, 'home-datasets');
    expect(await cellsOf(page, 'Fresh <b>orders</b>')).toEqual([
      'Fresh <b>orders</b>',
      'ann',
      '20',
      'just now',
      expect.stringMatching(/CSV.*Excel.*Refresh/s),
    ]);
    expect((await cellsOf(page, 'Broken orders'))[3]).toBe('failed just now');
    expect(await page.locator('#datasets .problem').getAttribute('title')).toContain('division by zero');
    expect((await cellsOf(page, 'New orders')).slice(2, 4)).toEqual(['0', 'never']);
    const size = await page.evaluate('[document.documentElement.scrollHeight, innerHeight]');
    expect(size, 'the page fits a screen').toEqual([800, 800]);

    await page.getByLabel('Search datasets').fill('broken');
    await expect.poll(() => page.locator('#datasets tr').count()).toBe(1);
    expect(await page.locator('#datasets a').first().innerText()).toBe('Broken orders');
    expect(problems).toEqual([]);
    await page.context().close();

    const other = await openPage(browser, service.url);
    await logIn(other.page, service.url, 'bob');
    await expect.poll(() => other.page.locator('#datasets tr').count()).toBe(1);
    expect(await other.page.getByRole('button', { name: 'Refresh' }).count(), 'a reader cannot refresh').toBe(0);
    await other.page.context().close();
  });

  test('follows a refresh, and shows its rows at its end', async ({ browser, service, ann, source }) => {
    const { id, slug } = await createOrders(ann, source, { name: 'Slow orders', query: 'select pg_sleep(1), 7 as x' });
    const { page, problems } = await openPage(browser, service.url);
    await logIn(page, service.url, 'ann');
    const row = page.locator('#datasets tr', { hasText: 'Slow orders' });
    await row.getByRole('button', { name: 'Refresh' }).click();
    const operation = page.locator('#operations li', { hasText: 'Refresh of Slow orders' });
    await operation.getByRole('progressbar').waitFor();
    await takeScreenshot(page, 'home-running');
    await expect.poll(() => operation.innerText()).toMatch(/done · just now$/);
    await expect.poll(() => row.locator('td').nth(2).innerText()).toBe('1');
    expect(await operation.getByRole('progressbar').count()).toBe(0);

    await row.getByRole('link', { name: 'Slow orders' }).click();
    await page.waitForURL(/\/graphiql/);
    expect(new URL(page.url()).searchParams.get('query')).toContain(`dataset(id: "${slug}")`);
    await page.goBack();
    await row.waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      row.getByRole('link', { name: 'CSV' }).click(),
    ]);
    expect(download.url()).toBe(`${service.url}/api/datasets/${id}/export?format=csv`);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('does not repeat a subscription that is refused', async ({ browser, service, ann, source }) => {
    const { id } = await createOrders(ann, source, { name: 'Unseen orders', query: 'select pg_sleep(30), 1 as x' });
    const { page } = await openPage(browser, service.url);
    let subscriptions = 0;
    await page.routeWebSocket('**/graphql', (socket) => {
      socket.onMessage((text) => {
        const { type, id: subscription } = JSON.parse(String(text)) as { type: string; id: string };
        if (type === 'connection_init') return socket.send('{"type":"connection_ack"}');
        subscriptions += 1;
        socket.send(JSON.stringify({ type: 'error', id: subscription, payload: [{ message: 'Too many' }] }));
      });
    });
    await logIn(page, service.url, 'ann');
    const row = page.locator(`[id="${id}"]`);
    await row.getByRole('button', { name: 'Refresh' }).click();
    await page.locator('#operations li', { hasText: 'Unseen orders' }).getByRole('progressbar').waitFor();
    await page.evaluate('load().then(load)');
    expect(subscriptions).toBeGreaterThan(0);
    // One for the click and one for each of the loads; more would follow each refusal.
    await page.waitForTimeout(500);
    expect(subscriptions).toBeLessThanOrEqual(4);
    const { body } = await ann.get('/progress?status=running');
    for (const operation of body._embedded['svc:operation'])
      await ann.request('DELETE', `/api/progress/${operation.id}`);
    await page.context().close();
  });

  test('names the operations of every kind', async ({ browser, service, ann }) => {
    const job = await ann.creates('/jobs', { name: 'Weekly mails', type: 'actions' });
    expect((await ann.post(`/jobs/${job.id}`)).status).toBe(200);
    const { page } = await openPage(browser, service.url);
    await logIn(page, service.url, 'ann');
    await page.locator('#operations li', { hasText: 'Run of Weekly mails' }).waitFor();
    await ann.delete(`/jobs/${job.id}`);
    await page.reload();
    await page.locator('#operations li', { hasText: 'Run of a deleted job' }).waitFor();
    await page.context().close();
  });

  test('uploads a file as a dataset, and says why a file is refused', async ({ browser, service, admin, ann }) => {
    expect(ann.username).toBe('ann');
    const { page } = await openPage(browser, service.url);
    await logIn(page, service.url, 'ann');
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    const file = page.getByLabel('Upload a file');
    await file.setInputFiles({
      name: 'kunden.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('Kunde;Umsatz\nMüller;1.234,56\nMeier;7,00\n'),
    });
    const row = page.locator('#datasets tr', { hasText: 'kunden' });
    await expect.poll(() => row.locator('td').nth(2).innerText()).toBe('2');
    expect(await page.locator('#notice').innerText()).toBe('');
    await file.setInputFiles({ name: 'empty.csv', mimeType: 'text/csv', buffer: Buffer.alloc(0) });
    await expect.poll(() => page.locator('#notice').innerText()).toMatch(/empty/i);
    await admin.put(`/users/${ann.id}/global-permissions`, { permissions: [] });
    await page.reload();
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    expect(await page.locator('#upload').isVisible(), 'without permission').toBe(false);
    await page.context().close();
  });

  test('keeps the focus when it reads the datasets again, and shows the latest search only', async ({
    browser,
    service,
    bob,
    source,
    admin,
  }) => {
    await admin.put(`/datasources/${source.id}/shares/${bob.id}`, { accessLevel: 2 });
    const first = await createOrders(bob, source, { name: 'Alpha' });
    await createOrders(bob, source, { name: 'Beta' });
    const { page } = await openPage(browser, service.url);
    await logIn(page, service.url, 'bob');
    const focused = () => page.evaluate('document.activeElement.closest("tr")?.id + document.activeElement.innerText');
    await page.locator(`[id="${first.id}"]`).getByRole('button', { name: 'Refresh' }).focus();
    await page.evaluate('load()');
    expect(await focused(), 'nothing changed').toBe(`${first.id}Refresh`);
    await bob.put(`/datasets/${first.id}`, { name: 'Alpha 2' });
    await page.evaluate('load()');
    await page.getByRole('link', { name: 'Alpha 2' }).waitFor();
    expect(await focused(), 'the row changed').toBe(`${first.id}Refresh`);

    const held = Promise.withResolvers<void>();
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('"q":"Alpha"')) await held.promise;
      await route.continue();
    });
    await page.getByLabel('Search datasets').fill('Alpha');
    await page.waitForRequest((request) => request.postData()?.includes('"q":"Alpha"') ?? false);
    await page.getByLabel('Search datasets').fill('Beta');
    const names = () => page.locator('#datasets td:first-child').allInnerTexts();
    await expect.poll(names).toEqual(['Beta']);
    const late = page.waitForResponse((response) => response.request().postData()?.includes('"q":"Alpha"') ?? false);
    held.resolve();
    await late;
    expect(await names()).toEqual(['Beta']);
    await page.context().close();
  });

  test('shows the login form again once the session has ended', async ({ browser, service, ann }) => {
    const { page } = await openPage(browser, service.url);
    await logIn(page, service.url, 'ann');
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    for (const session of (await ann.get('/sessions')).body._embedded['svc:session'])
      await ann.request('DELETE', `/api/sessions/${session.id}`);
    await page.getByLabel('Search datasets').fill('x');
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    expect(await page.locator('#workspace').isVisible()).toBe(false);
    await page.context().close();
  });
});
