import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { CHROMIUM, HAS_CHROMIUM } from '../support/engines.ts';
import { expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { PASSWORD } from '../support/service.ts';

/** Folder for screenshots of the pages. Unset: none are taken. */
const SCREENSHOTS = process.env['SCREENSHOTS'];

const USERNAME = 'ann';

const PAGES = ['/', '/graphiql', '/api/docs'];

/** Returns the markup without the contents of its scripts, which contain markup of their own. */
const withoutScripts = (page: string): string => page.replace(/(<script[^>]*>)[\s\S]*?<\/script>/g, '$1');

describe('a page', () => {
  test.for(PAGES)('%s is HTML that loads nothing from other origins', async (path, { anonymous }) => {
    const { status, headers, body } = await anonymous.request('GET', path);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = headers.get('content-security-policy')!;
    expect(policy).toMatch(/default-src 'self'; script-src 'self'/);
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
        '/readyz',
      ]),
    );
    for (const path of links) await expectStatus(anonymous.request('GET', path), 200, path);
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
  });

  test('of REST is OpenAPI 3.1 and contains the routes', async ({ ann }) => {
    const { body } = await ann.request('GET', '/api/openapi.json');
    expect(body).toMatchObject({
      openapi: expect.stringMatching(/^3\.1/),
      paths: { '/api/me': { get: expect.anything(), put: expect.anything() } },
    });
  });
});

/** Opens a page. Returns it with a list of its errors and its requests to other hosts. */
async function openPage(browser: Browser, url: string): Promise<{ page: Page; problems: string[] }> {
  const page = await (await browser.newContext({ viewport: { width: 1200, height: 800 } })).newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 401/.test(message.text()))
      problems.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).host !== new URL(url).host)
      problems.push(`foreign: ${request.url()}`);
  });
  return { page, problems };
}

async function takeScreenshot(page: Page, name: string): Promise<void> {
  if (!SCREENSHOTS) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

const browserTest = test.extend<{ browser: Browser }>({
  browser: [
    async ({}, use) => {
      const browser = await chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox', '--disable-gpu'] });
      await use(browser);
      await browser.close();
    },
    { scope: 'file' },
  ],
});

describe.skipIf(!HAS_CHROMIUM)('in a browser', () => {
  async function logIn(page: Page, url: string, password = PASSWORD): Promise<void> {
    await page.goto(url);
    await page.getByLabel('Username').fill(USERNAME);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Log in' }).click();
  }

  browserTest('the form at `/` shows errors, logs in and logs out', async ({ browser, service, ann }) => {
    expect(ann.username).toBe(USERNAME);
    const { page, problems } = await openPage(browser, service.url);
    await page.goto(service.url);
    await page.getByLabel('Username').waitFor();
    await takeScreenshot(page, 'home');
    await logIn(page, service.url, 'not her password');
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

  browserTest('GraphiQL runs a query and a mutation with the session', async ({ browser, service, ann }) => {
    expect(ann.username).toBe(USERNAME);
    const { page, problems } = await openPage(browser, service.url);
    await logIn(page, service.url);
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    const execute = async (query: string) => {
      await page.goto(`${service.url}/graphiql?query=${encodeURIComponent(query)}`);
      await page.getByRole('button', { name: /execute/i }).click();
    };
    const result = () => page.locator('.result-window, .graphiql-response').first().innerText();
    await execute('{ session { authMethod user { username } } }');
    await expect.poll(result, { timeout: 15_000 }).toMatch(/"SESSION"[\s\S]*"ann"/);
    await takeScreenshot(page, 'graphiql');
    await execute('mutation { updateMe(input: { displayName: "By GraphiQL" }) { displayName } }');
    await expect.poll(result, { timeout: 15_000 }).toMatch(/"By\sGraphiQL"/);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  browserTest(
    'the REST reference shows the routes and runs one with the session',
    async ({ browser, service, ann }) => {
      expect(ann.username).toBe(USERNAME);
      const { page, problems } = await openPage(browser, service.url);
      await logIn(page, service.url);
      await page.getByRole('button', { name: 'Log out' }).waitFor();
      await page.goto(`${service.url}/api/docs`);
      await page.locator('.opblock-tag').first().waitFor();
      await takeScreenshot(page, 'docs');
      await page.locator('.opblock-tag[data-tag="me"]').click();
      const route = page.locator('.opblock-get', { has: page.locator('[data-path="/api/me"]') });
      await route.locator('.opblock-summary').click();
      await route.getByRole('button', { name: 'Try it out' }).click();
      await route.getByRole('button', { name: 'Execute' }).click();
      await expect
        .poll(() => route.locator('.live-responses-table').first().innerText(), { timeout: 15_000 })
        .toMatch(/"username": "ann"/);
      await route.scrollIntoViewIfNeeded();
      await takeScreenshot(page, 'docs-tried');
      expect(problems).toEqual([]);
      await page.context().close();
    },
  );
});
