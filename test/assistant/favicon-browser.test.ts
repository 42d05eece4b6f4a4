import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { pictureForm } from '../support/avatar-fixture.ts';
import { BROWSER_FIXTURE, logIn, openPage, takeScreenshot, type WithBrowser } from '../support/browser.ts';
import { HAS_CHROMIUM } from '../support/engines.ts';
import { expectStatus } from '../support/expect.ts';
import { pngOf, RED } from '../support/picture-files.ts';
import { startService } from '../support/service.ts';

// Each picture is read in a process of its own.
const browserTest = test.extend<WithBrowser>(BROWSER_FIXTURE);

/** The loopback, as a name: browsers see no common site of addresses. */
const HOST = 'dws.localhost';

/** Starts a front-end with one page, on another port of the service's host. */
async function startFrontEnd(html: string, body: string) {
  const server = createServer(({ url }, response) =>
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<!doctype html><title>Assistant</title>${html}${url === '/pictures' ? body : ''}`),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { url: `http://${HOST}:${(server.address() as AddressInfo).port}/`, server };
}

/** Collects the log of a service, in which each request has a line. */
function collectLog() {
  const lines: string[] = [];
  const log = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const countOf = (route: string, status: number) =>
    lines.filter((line) => line.includes(`"route":"${route}","status":${status}`)).length;
  return { log, countOf };
}

const FAVICON_ROUTE = '/api/assistants/:id/favicon.ico';
const ICON_ROUTE = '/api/assistants/:id/icon';

describe.skipIf(!HAS_CHROMIUM)('a browser', () => {
  browserTest('shows the favicon of an assistant in its tab, and icon and favicon in a page', async ({ browser }) => {
    const { log, countOf } = collectLog();
    const service = await startService({ LOG_LEVEL: 'debug' }, { log });
    const ann = await service.user('ann');
    const { id } = await ann.creates('/assistants', { name: 'Tab', icon: 'rocket' });
    const url = service.url.replace('127.0.0.1', HOST);
    const [favicon, icon] = ['favicon.ico', 'icon'].map((name) => `${url}/api/assistants/${id}/${name}`);
    const frontEnd = await startFrontEnd(
      `<link rel="icon" href="${favicon}"><body style="margin: 0; background: #0f0">`,
      `<img id="icon" src="${icon}" width="100"><img id="favicon" src="${favicon}">`,
    );
    const { page } = await openPage(browser, url);
    await logIn(page, url, 'ann');
    await page.getByRole('button', { name: 'Log out' }).waitFor();

    // Nothing but the tab shows the favicon of this page.
    await page.goto(frontEnd.url);
    await expect.poll(() => countOf(FAVICON_ROUTE, 200)).toBe(1);

    /** Opens the page with pictures. Returns widths of the decoded pictures. */
    const open = async () => {
      await page.goto(`${frontEnd.url}pictures`);
      return page.evaluate(
        `Promise.all([...document.images].map((image) => image.decode().then(() => [image.id, image.naturalWidth])))`,
      );
    };
    /** Returns colour and opacity in the middle of the icon, as the screen shows it. */
    const middle = async () => {
      const [r, g, b] = await sharp(await page.screenshot({ clip: { x: 50, y: 25, width: 1, height: 1 } }))
        .removeAlpha()
        .raw()
        .toBuffer();
      return { r: r!, g: g!, b: b! };
    };

    expect(await open()).toEqual([
      ['icon', 512],
      ['favicon', 48],
    ]);
    await takeScreenshot(page, 'assistant-icon');

    await expectStatus(ann.put(`/assistants/${id}/icon`, pictureForm(await pngOf(RED, 300, 300))), 200);
    expect(await open()).toEqual([
      ['icon', 300],
      ['favicon', 48],
    ]);
    expect(await middle()).toEqual(RED);
    await takeScreenshot(page, 'assistant-icon-uploaded');
    // The picture that the browser has is still current.
    await open();
    await expect.poll(() => countOf(ICON_ROUTE, 304)).toBe(1);
    frontEnd.server.close();
    await page.context().close();
    await service.close();
  });
});
