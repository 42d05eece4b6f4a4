import { describe, expect } from 'vitest';
import { BROWSER_FIXTURE, logIn, openPage, takeScreenshot, type WithBrowser } from '../support/browser.ts';
import { HAS_CHROMIUM } from '../support/engines.ts';
import { expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import { PASSWORD, startService } from '../support/service.ts';

const USERNAME = 'ann';

const browserTest = test.extend<WithBrowser>(BROWSER_FIXTURE);

/** `Accept` of a browser that opens an address. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

const PAGES = ['/', '/graphiql', '/api/docs'];

/** Returns the markup without the contents of its scripts, which contain markup of their own. */
const withoutScripts = (page: string): string => page.replace(/(<script[^>]*>)[\s\S]*?<\/script>/g, '$1');

describe('a page', () => {
  test.for(PAGES)('%s is HTML that loads nothing from other origins', async (path, { anonymous }) => {
    const { status, headers, body } = await anonymous.request('GET', path);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = headers.get('content-security-policy')!;
    expect(policy).toMatch(/default-src 'self'; script-src '(self|nonce-[\w-]{22})' /);
    expect(policy).toMatch(/; connect-src 'self'; worker-src '(none|self)'/);
    expect(policy).toMatch(/frame-ancestors 'none'/);
    expect(policy.match(/script-src[^;]*/)![0]).not.toMatch(/unsafe-inline|https?:/);
    for (const [address] of withoutScripts(String(body)).matchAll(/(?<=(?:src|href)=["'])[^"']+/g))
      expect(address).toMatch(/^(\/(?!\/)|data:|#)/);
  });

  test('at / links the other pages, and all links work', async ({ anonymous }) => {
    const { body } = await anonymous.request('GET', '/');
    const links = [...String(body).matchAll(/(?:src|href)="(\/[^"]*)"/g)].map(([, path]) => path!);
    expect(links).toEqual(
      expect.arrayContaining([
        '/graphiql',
        '/api/docs',
        '/graphql/schema.graphql',
        '/graphql/subgraph.graphql',
        '/api/openapi.json',
        '/app-access',
      ]),
    );
    for (const path of links)
      await expectStatus(anonymous.request('GET', path), path === '/app-access' ? 401 : 200, path);
  });

  test('for the reset of a password promises a mail only where mails are sent', async ({ anonymous, service }) => {
    const requestedOf = async (url: string) => /data-requested="([^"]*)"/.exec(await (await fetch(url)).text())![1];
    expect(await requestedOf(anonymous.url)).toBe(
      'This service sends no mail: ask an administrator for the link. It works once, within an hour.',
    );
    const other = await startService({ SMTP_URL: 'smtp://127.0.0.1:9', ROLE: 'web' }, service);
    expect(await requestedOf(other.url)).toBe('If there is such a user, a mail with a link is on its way.');
    await other.close();
  });

  test('is where browsers look for it', async ({ anonymous }) => {
    const locationOf = async (path: string, accept: string) => {
      const { status, headers } = await fetch(anonymous.url + path, { redirect: 'manual', headers: { accept } });
      return [status, headers.get('location')];
    };
    expect(await locationOf('/docs', BROWSER)).toEqual([302, '/api/docs']);
    expect(await locationOf('/openapi.json', '*/*')).toEqual([302, '/api/openapi.json']);
    expect(await locationOf('/graphql', BROWSER)).toEqual([302, '/graphiql']);
    expect(await locationOf('/graphql?query=%7Bme%7Bid%7D%7D', BROWSER)).toEqual([
      302,
      '/graphiql?query=%7Bme%7Bid%7D%7D',
    ]);
    for (const accept of [
      '*/*',
      'application/json',
      'text/html, application/json',
      'application/graphql-response+json',
    ])
      expect(await locationOf('/graphql?query=%7B__typename%7D', accept), accept).toEqual([400, null]);
  });

  test('that does not exist is a page for browsers, JSON for other clients and below /api', async ({ anonymous }) => {
    const open = (path: string, accept: string, method = 'GET') =>
      anonymous.request(method, path, undefined, { accept });
    for (const path of ['/nosuchpage', '/graphql/nothing', '/home.html', '/apis']) {
      const { status, headers, body } = await open(path, BROWSER);
      expect({ status, type: headers.get('content-type') }).toEqual({ status: 404, type: 'text/html; charset=utf-8' });
      expect(body).toContain('<h1>Page not found</h1>');
      expect(headers.get('content-security-policy')).toMatch(/script-src 'none';/);
    }
    const json = { statusCode: 404, code: 'NOT_FOUND', message: 'There is no route GET /nosuchpage' };
    for (const accept of ['*/*', 'application/json', 'application/json, text/html'])
      expect((await open('/nosuchpage', accept)).body, accept).toMatchObject(json);
    for (const path of ['/api/nothing', '/api/docs/nothing.js'])
      expect((await open(path, BROWSER)).body, path).toMatchObject({ statusCode: 404, code: 'NOT_FOUND' });
    expect((await open('/nosuchpage', BROWSER, 'POST')).body).toMatchObject({ statusCode: 404, code: 'NOT_FOUND' });
  });

  test('serves no other file of the Swagger package', async ({ anonymous }) => {
    for (const path of [
      '/api/docs/package.json',
      '/api/docs/../package.json',
      '/api/docs/%2e%2e/package.json',
      '/api/docs/index.html',
      '/api/docs/swagger-ui.js.map',
    ])
      await expectStatus(anonymous.request('GET', path), 404, path);
  });
});

describe('a schema document', () => {
  test.for([
    { path: '/graphql/schema.graphql', type: 'text/plain', content: 'type Query' },
    { path: '/graphql/subgraph.graphql', type: 'text/plain', content: '@link' },
    { path: '/api/openapi.json', type: 'application/json', content: null },
  ])('at $path has an ETag for conditional requests', async ({ path, type, content }, { anonymous }) => {
    const { status, headers, body } = await anonymous.request('GET', path);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe(`${type}; charset=utf-8`);
    if (content) expect(body).toContain(content);
    const condition = { 'if-none-match': headers.get('etag')! };
    await expectStatus(anonymous.request('GET', path, undefined, condition), 304);
    const several = { 'if-none-match': `"x"${' '.repeat(9000)}, W/${headers.get('etag')!}` };
    await expectStatus(anonymous.request('GET', path, undefined, several), 304);
  });

  test('of REST is OpenAPI 3.1 and contains the routes', async ({ ann }) => {
    const { body } = await ann.request('GET', '/api/openapi.json');
    expect(body).toMatchObject({
      openapi: expect.stringMatching(/^3\.1/),
      paths: { '/api/me': { get: expect.anything(), put: expect.anything() } },
    });
  });
});

describe.skipIf(!HAS_CHROMIUM)('in a browser', () => {
  browserTest('the form at `/` shows errors, logs in and logs out', async ({ browser, service, ann }) => {
    expect(ann.username).toBe(USERNAME);
    const { page, problems } = await openPage(browser, service.url);
    await page.goto(service.url);
    await page.getByLabel('Username').waitFor();
    await takeScreenshot(page, 'home');
    await logIn(page, service.url, USERNAME, 'not her password');
    await expect.poll(() => page.getByRole('alert').textContent()).toBe('Invalid username or password');
    await takeScreenshot(page, 'home-refused');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    expect(await page.locator('#session').innerText()).toMatch(/Logged in as ann in tenant default/);
    await takeScreenshot(page, 'home-session');
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ name: 'dws_session', httpOnly: true, sameSite: 'Lax', path: '/' });
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  browserTest(
    'a look at `/` without and with a session causes no error, nor does a page that is missing',
    async ({ browser, service, ann }) => {
      expect(ann.username).toBe(USERNAME);
      const { page } = await openPage(browser, service.url);
      const errors: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') errors.push(message.text());
      });
      await page.goto(service.url, { waitUntil: 'networkidle' });
      expect(await page.getByRole('button', { name: 'Log in' }).isVisible()).toBe(true);
      await logIn(page, service.url, USERNAME);
      await page.getByRole('button', { name: 'Log out' }).waitFor();
      await page.goto(service.url, { waitUntil: 'networkidle' });
      expect(await page.locator('#session').innerText()).toMatch(/Logged in as ann in tenant default/);
      await runSql(service.databaseUrl, 'delete from dws.session');
      await page.goto(service.url, { waitUntil: 'networkidle' });
      await expect.poll(() => page.getByRole('button', { name: 'Log in' }).isVisible()).toBe(true);
      expect(errors).toEqual([]);
      await page.goto(`${service.url}/nosuchpage`);
      expect(await page.getByRole('heading').innerText()).toBe('Page not found');
      await takeScreenshot(page, 'not-found');
      await page.goto(`${service.url}/password-reset/x`);
      expect(await page.getByRole('heading').innerText()).toBe('This link no longer works');
      await takeScreenshot(page, 'link-gone');
      await page.context().close();
    },
  );

  browserTest('GraphiQL runs a query and a mutation with the session', async ({ browser, service, ann }) => {
    expect(ann.username).toBe(USERNAME);
    const { page, problems } = await openPage(browser, service.url);
    await logIn(page, service.url, USERNAME);
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    const execute = async (query: string) => {
      await page.goto(`${service.url}/graphiql?query=${encodeURIComponent(query)}`);
      await page.getByRole('button', { name: /execute/i }).click();
    };
    const result = () => page.locator('.result-window, .graphiql-response').first().innerText();
    await execute('{ session { authMethod user { username } } }');
    await expect.poll(result).toMatch(/"SESSION"[\s\S]*"ann"/);
    await takeScreenshot(page, 'graphiql');
    await execute('mutation { updateMe(input: { displayName: "By GraphiQL" }) { displayName } }');
    await expect.poll(result).toMatch(/"By\sGraphiQL"/);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  browserTest(
    'the REST reference shows the routes and runs one with the session',
    async ({ browser, service, ann }) => {
      expect(ann.username).toBe(USERNAME);
      const { page, problems } = await openPage(browser, service.url);
      await logIn(page, service.url, USERNAME);
      await page.getByRole('button', { name: 'Log out' }).waitFor();
      await page.goto(`${service.url}/api/docs`);
      await page.locator('.opblock-tag').first().waitFor();
      await takeScreenshot(page, 'docs');
      const themes = await page.locator('.opblock-tag').evaluateAll((tags) => tags.map((tag) => tag.dataset['tag']));
      expect(themes).toEqual(expect.arrayContaining(['Sessions', 'People', 'Datasets', 'Rows', 'Visuals', 'Reports']));
      const people = page.locator('.opblock-tag[data-tag="People"]');
      expect(await people.innerText()).toMatch(/Users, teams, their members and permissions/);
      await people.click();
      const route = page.locator('.opblock-get', { has: page.locator('[data-path="/api/me"]') });
      expect(await route.locator('.opblock-summary-description').innerText()).toBe('Returns the caller');
      await route.locator('.opblock-summary').click();
      await route.getByRole('button', { name: 'Try it out' }).click();
      await route.getByRole('button', { name: 'Execute' }).click();
      await expect.poll(() => route.locator('.live-responses-table').first().innerText()).toMatch(/"username": "ann"/);
      await route.scrollIntoViewIfNeeded();
      await takeScreenshot(page, 'docs-tried');
      const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
      expect(await background()).toBe('rgba(0, 0, 0, 0)');
      await page.emulateMedia({ colorScheme: 'dark' });
      await expect.poll(background).toBe('rgb(28, 32, 34)');
      await takeScreenshot(page, 'docs-dark');
      expect(problems).toEqual([]);
      await page.context().close();
    },
  );
});
