import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { CHROMIUM, HAS_CHROMIUM } from '../support/engines.ts';
import { test as world } from '../support/fixture.ts';
import { PASSWORD } from '../support/service.ts';

/** `SCREENSHOTS=folder` keeps what the pages looked like. */
const SHOTS = process.env['SCREENSHOTS'];

const PAGES = ['/', '/graphiql', '/api/docs'];

describe('every page', () => {
  world('is HTML of this service with a policy that lets it load nothing from elsewhere', async ({ anonymous }) => {
    for (const path of PAGES) {
      const { status, headers, body } = await anonymous.request('GET', path);
      expect([status, headers.get('content-type')], path).toEqual([200, 'text/html; charset=utf-8']);
      const policy = headers.get('content-security-policy')!;
      expect(policy, path).toMatch(/default-src 'self'; script-src 'self'/);
      expect(policy, path).toMatch(/frame-ancestors 'none'/);
      expect(policy.match(/script-src[^;]*/)![0], path).not.toMatch(/unsafe-inline|https?:/);
      // Scripts hold markup of their own; what the page itself loads stands outside of them.
      const markup = String(body).replace(/(<script[^>]*>)[\s\S]*?<\/script>/g, '$1');
      for (const [address] of markup.matchAll(/(?<=(?:src|href)=["'])[^"']+/g))
        expect(address, path).toMatch(/^(\/(?!\/)|data:|#)/);
    }
  });

  world('leads nowhere but to what is there', async ({ anonymous }) => {
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
    for (const path of links) expect((await anonymous.request('GET', path)).status, path).toBe(200);
    for (const path of [
      '/api/docs/package.json',
      '/api/docs/../package.json',
      '/api/docs/%2e%2e/package.json',
      '/api/docs/index.html',
      '/api/docs/swagger-ui.js.map',
    ])
      expect((await anonymous.request('GET', path)).status, path).toBe(404);
  });

  world('of the contract answers 304 to who has it, and is the schema that is served', async ({ anonymous, ann }) => {
    for (const [path, type, words] of [
      ['/graphql/schema.graphql', 'text/plain', 'type Query'],
      ['/graphql/subgraph.graphql', 'text/plain', '@link'],
      ['/api/openapi.json', 'application/json', ''],
    ] as const) {
      const { status, headers, body } = await anonymous.request('GET', path);
      expect([status, headers.get('content-type')], path).toEqual([200, `${type}; charset=utf-8`]);
      if (words) expect(body, path).toContain(words);
      expect(
        (await anonymous.request('GET', path, undefined, { 'if-none-match': headers.get('etag')! })).status,
        path,
      ).toBe(304);
    }
    const { body } = await ann.request('GET', '/api/openapi.json');
    expect(body).toMatchObject({
      openapi: expect.stringMatching(/^3\.1/),
      paths: { '/api/me': { get: expect.anything(), put: expect.anything() } },
    });
  });
});

/** A page that notes whatever goes wrong in it, and whatever it asks of another host. */
async function opened(browser: Browser, url: string): Promise<{ page: Page; slips: string[] }> {
  const page = await (await browser.newContext({ viewport: { width: 1200, height: 800 } })).newPage();
  const slips: string[] = [];
  page.on('pageerror', (error) => slips.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 401/.test(message.text())) slips.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).host !== new URL(url).host)
      slips.push(`foreign: ${request.url()}`);
  });
  return { page, slips };
}

async function shoot(page: Page, name: string): Promise<void> {
  if (!SHOTS) return;
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `${name}.png`) });
}

const inBrowser = world.extend<{ browser: Browser }>({
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
    await page.getByLabel('Username').fill('ann');
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Log in' }).click();
  }

  inBrowser('the form at `/` says what is wrong, logs in, and out again', async ({ browser, service, ann }) => {
    expect(ann.username).toBe('ann');
    const { page, slips } = await opened(browser, service.url);
    await page.goto(service.url);
    await page.getByLabel('Username').waitFor();
    await shoot(page, 'home');
    await logIn(page, service.url, 'not her password');
    await expect.poll(() => page.getByRole('alert').textContent()).toBe('Invalid username or password');
    await shoot(page, 'home-refused');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    expect(await page.locator('#session').innerText()).toMatch(/Logged in as ann in tenant default/);
    await shoot(page, 'home-session');
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ name: 'dws_session', httpOnly: true, sameSite: 'Lax', path: '/' });
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
    expect(slips).toEqual([]);
    await page.context().close();
  });

  inBrowser('GraphiQL runs a query and a mutation with the session', async ({ browser, service, ann }) => {
    expect(ann.username).toBe('ann');
    const { page, slips } = await opened(browser, service.url);
    await logIn(page, service.url);
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    const ask = async (query: string) => {
      await page.goto(`${service.url}/graphiql?query=${encodeURIComponent(query)}`);
      await page.getByRole('button', { name: /execute/i }).click();
    };
    const answer = () => page.locator('.result-window, .graphiql-response').first().innerText();
    await ask('{ session { authMethod user { username } } }');
    await expect.poll(answer, { timeout: 15_000 }).toMatch(/"SESSION"[\s\S]*"ann"/);
    await shoot(page, 'graphiql');
    await ask('mutation { updateMe(input: { displayName: "By GraphiQL" }) { displayName } }');
    await expect.poll(answer, { timeout: 15_000 }).toMatch(/"By\sGraphiQL"/);
    expect(slips).toEqual([]);
    await page.context().close();
  });

  inBrowser('the REST reference shows the routes and tries one with the session', async ({ browser, service, ann }) => {
    expect(ann.username).toBe('ann');
    const { page, slips } = await opened(browser, service.url);
    await logIn(page, service.url);
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    await page.goto(`${service.url}/api/docs`);
    await page.locator('.opblock-tag').first().waitFor();
    await shoot(page, 'docs');
    await page.locator('.opblock-tag[data-tag="me"]').click();
    const me = page.locator('.opblock-get', { has: page.locator('[data-path="/api/me"]') });
    await me.locator('.opblock-summary').click();
    await me.getByRole('button', { name: 'Try it out' }).click();
    await me.getByRole('button', { name: 'Execute' }).click();
    await expect
      .poll(() => me.locator('.live-responses-table').first().innerText(), { timeout: 15_000 })
      .toMatch(/"username": "ann"/);
    await me.scrollIntoViewIfNeeded();
    await shoot(page, 'docs-tried');
    expect(slips).toEqual([]);
    await page.context().close();
  });
});
