import { expect } from 'vitest';
import { BROWSER_FIXTURE, logIn, openPage, takeScreenshot, type WithBrowser } from '../support/browser.ts';
import { HAS_CHROMIUM } from '../support/engines.ts';
import { expectStatus } from '../support/expect.ts';
import { test as base } from '../support/fixture.ts';
import { deploy, deployApp } from './echo-app.ts';

const test = base.extend<WithBrowser>(BROWSER_FIXTURE);
const SITE = 'https://other.example';

test('the pages of grants require a session', async ({ anonymous, ann, service }) => {
  const session = await service.login(ann.username);
  for (const path of ['/app-access', '/app-access/no-such']) {
    await expectStatus(anonymous.request('GET', path), 401, path);
    await expectStatus(ann.request('GET', path), 401, path);
  }
  const { status, headers, body } = await session.request('GET', '/app-access');
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
  const nonce = /script-src 'nonce-([\w-]{22})' 'strict-dynamic'/.exec(headers.get('content-security-policy')!)![1];
  expect(body).toContain(`<script nonce="${nonce}" src="/app-grants.js">`);
  await expectStatus(session.request('GET', '/app-grants.js'), 200);
});

test.skipIf(!HAS_CHROMIUM)(
  'a link on another site leads to the question, to the grant, to the app and to its withdrawal',
  async ({ browser, service, admin, ann }) => {
    const app = await deployApp(admin, 'Team <b>reports</b>', {
      'server/x.js': `export const get = ({ request }) => 'Shown to ' + request.user.name + ' with ' + request.query.a;`,
    });
    await expectStatus(admin.put(`/apps/${app}`, { access: { scopes: ['read', 'keep'], required: ['read'] } }), 200);
    await deploy(admin, app);
    await expectStatus(admin.put(`/apps/${app}/shares/${ann.id}`, { accessLevel: 1 }), 200);
    const address = `${service.url}/api/apps/team-b-reports-b/view/x?a=1`;

    const { page, problems } = await openPage(browser, service.url);
    await logIn(page, service.url, 'ann');
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    await page.route(`${SITE}/`, (route) =>
      route.fulfill({ contentType: 'text/html', body: `<a href="${address}">Look at this</a>` }),
    );
    await page.goto(`${SITE}/`);
    await page.getByRole('link', { name: 'Look at this' }).click();
    await expect.poll(() => page.getByRole('heading').innerText()).toBe('Open this app?');
    expect(await page.getByRole('main').innerText()).toContain('Team <b>reports</b> of admin');
    await page.getByRole('link', { name: 'Continue' }).click();

    await expect.poll(() => page.getByRole('heading').innerText()).toBe('What may this app do as you?');
    expect(await page.getByRole('checkbox', { name: /^read/ }).isChecked()).toBe(true);
    expect(await page.getByRole('checkbox', { name: /^keep/ }).isChecked()).toBe(false);
    await deploy(admin, app);
    await page.getByRole('button', { name: 'Allow what is chosen' }).click();
    await expect.poll(() => page.getByRole('alert').innerText()).toMatch(/^The app has another release now/);
    await page.reload();
    await takeScreenshot(page, 'app-access');
    await page.getByRole('button', { name: 'Allow what is chosen' }).click();
    await page.waitForURL(address);
    expect(await page.locator('body').innerText()).toBe('Shown to ann with 1');

    await page.goto(service.url);
    await page.getByRole('link', { name: 'Access of apps' }).click();
    const grants = page.getByRole('list', { name: 'Apps that may act as you' }).getByRole('listitem');
    await grants.waitFor();
    expect(await grants.innerText()).toMatch(
      /^Team <b>reports<\/b> of admin\s+May: read\s+Since .+, last used .+ \d{4}\s/,
    );
    await takeScreenshot(page, 'app-grants');
    await grants.getByRole('button', { name: 'Withdraw the access of Team <b>reports</b>' }).click();
    await page.getByText('No app may act as you.').waitFor();
    expect(await grants.count()).toBe(0);
    expect(await page.getByRole('status').innerText()).toBe('Team <b>reports</b> may do nothing as you.');
    await expect.poll(() => page.evaluate(`document.activeElement.id`)).toBe('title');

    await page.goto(address);
    await page.getByRole('link', { name: 'Continue' }).click();
    await expect.poll(() => page.getByRole('heading').innerText()).toBe('What may this app do as you?');
    await page.getByRole('link', { name: 'All apps that may act as you' }).click();
    await page.getByText('No app may act as you.').waitFor();
    const expected = [`foreign: ${SITE}/`, expect.stringMatching(/status of 409/)];
    expect(problems).toEqual(expected);
    await page.context().close();
  },
);
