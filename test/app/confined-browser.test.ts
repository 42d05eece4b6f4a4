import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { chromium, type BrowserContext } from 'playwright-core';
import { expect } from 'vitest';
import { CHROMIUM, HAS_CHROMIUM } from '../support/engines.ts';
import { test } from '../support/fixture.ts';
import { newFolder } from '../support/service-process.ts';
import { deployAppWith, grantApp } from './echo-app.ts';

const POLICY = `sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; media-src data:`;

/** Ways to let a browser connect to an address. */
const WAYS: ((address: string) => string)[] = [
  (address) => `<link rel="preconnect" href="${address}">`,
  (address) => `<svg><foreignObject><link rel=preconnect href=${address}></foreignObject></svg>`,
  (address) => `<noscript><LINK\nREL='dns-prefetch preconnect' HREF=${address}></noscript>`,
  (address) => `<iframe srcdoc="&lt;link rel=preconnect href=${address}>"></iframe>`,
  (address) => `<link rel="stylesheet" href="${address}">`,
  (address) => `<link rel="prefetch" href="${address}">`,
  (address) => `<link rel="preload" as="image" href="${address}">`,
  (address) => `<link rel="icon" href="${address}">`,
  (address) =>
    `<script type="speculationrules">{"prefetch": [{"urls": ["${address}"], "eagerness": "immediate"}]}</script>`,
  (address) => `<meta http-equiv="refresh" content="0;url=${address}">`,
  (address) => `<a href="${address}">a</a>`,
  (address) => `<img src="${address}"><object data="${address}"></object><embed src="${address}">`,
];

/** The ways by which Chromium connects whatever the CSP. */
const CONNECTING = [0, 1, 2, 3];

const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};

/** Creates a page that tries each way to reach a server of its own. `reached` are the ways that did. */
async function createPage(): Promise<{ html: string; reached: Set<number>; close(): void }> {
  const reached = new Set<number>();
  const servers = WAYS.map((_, way) =>
    createServer((socket) => {
      socket.on('error', () => {});
      reached.add(way);
    }),
  );
  const addresses = await Promise.all(servers.map(listen));
  const tags = WAYS.map((toHtml, way) => toHtml(addresses[way]!)).join('\n');
  return {
    html: `<!doctype html><title>a</title>${tags}<h1>Read</h1>`,
    reached,
    close() {
      for (const server of servers) server.close();
    },
  };
}

/** Starts Chromium without the switches of Playwright, with which no browser preconnects. */
const launchNormally = (folder: string): Promise<BrowserContext> =>
  chromium.launchPersistentContext(folder, {
    executablePath: CHROMIUM!,
    ignoreDefaultArgs: true,
    args: [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--remote-debugging-pipe',
      `--user-data-dir=${folder}`,
      'about:blank',
    ],
  });

test.skipIf(!HAS_CHROMIUM)(
  'a browser with a normal profile connects nowhere for data that a run has read',
  async ({ service, admin, ann }) => {
    const [ofRun, ofControl] = [await createPage(), await createPage()];
    const control = createHttpServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': POLICY }).end(ofControl.html),
    );
    const handler = `export const get = async ({ fetch }) => {
      await (await fetch('/api/session')).json();
      return { status: 200, headers: { 'content-type': 'text/html' }, body: ${JSON.stringify(ofRun.html)} };
    };`;
    const app = await deployAppWith(admin, 'Hints', { 'server/page.js': handler }, { scopes: ['read'] });
    await grantApp(service, admin, ann, app, ['read']);
    const [name, value] = (await service.login('ann')).headers['cookie']!.split('=') as [string, string];
    const folder = newFolder();
    const browser = await launchNormally(folder.path);
    try {
      await browser.addCookies([{ name, value, url: service.url }]);
      const page = await browser.newPage();
      // From a page of the service, because the first view from elsewhere is asked for.
      await page.goto(`${service.url}/app-access`);
      const address = `${service.url}/api/apps/${app}/view/page`;
      const responding = page.waitForResponse(address);
      await page.evaluate(`location.href = ${JSON.stringify(address)}`);
      expect(await (await responding).headerValue('content-security-policy')).toBe(POLICY);
      await page.waitForURL(address);
      expect(await page.content()).toContain('<h1>Read</h1>');
      // The same page from elsewhere: what it connects to shows that the browser connects, and has had the time.
      await page.goto(await listen(control));
      await expect.poll(() => CONNECTING.filter((way) => !ofControl.reached.has(way)), { timeout: 10_000 }).toEqual([]);
      expect([...ofRun.reached]).toEqual([]);
    } finally {
      await browser.close();
      for (const one of [ofRun, ofControl, control]) one.close();
      folder.remove();
    }
  },
);
