import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { CHROMIUM } from './engines.ts';
import { PASSWORD } from './service.ts';

/** Folder for screenshots of the pages. Unset: none are taken. */
const SCREENSHOTS = process.env['SCREENSHOTS'];

/** Opens a page. Returns it with a list of its errors and its requests to other hosts. */
export async function openPage(browser: Browser, url: string): Promise<{ page: Page; problems: string[] }> {
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

/** Saves what the page shows as `<name>.png`, where screenshots are wanted. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  if (!SCREENSHOTS) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

/** Starts a browser, which the caller closes. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox', '--disable-gpu'] });

/** Fixture of a browser, which is started once for a file: `test.extend<WithBrowser>(BROWSER_FIXTURE)`. */
export const BROWSER_FIXTURE: { browser: [FixtureFunction, { scope: 'file' }] } = {
  browser: [
    async ({}, use) => {
      const browser = await launchBrowser();
      await use(browser);
      await browser.close();
    },
    { scope: 'file' },
  ],
};
type FixtureFunction = (context: object, use: (browser: Browser) => Promise<void>) => Promise<void>;
export interface WithBrowser {
  browser: Browser;
}

/** Logs in with the form at `/`. */
export async function logIn(page: Page, url: string, username: string, password = PASSWORD): Promise<void> {
  await page.goto(url);
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}
