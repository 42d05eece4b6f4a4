import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HAS_PRINTER } from '../support/engines.ts';
import { documentOf, openPrinter, tableOf } from '../support/pdf-printing.ts';
import { textOfPdf } from '../support/pdf-text.ts';
import { svgOf } from '../support/picture-files.ts';

const SECRET = 'content of a file of the machine';
const PIXEL = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';

/** Elements with events that occur while a page is loaded. */
const handlersOf = (script: string): string =>
  `<img src="${PIXEL}" onload="${script}"><img src="x:" onerror="${script}"><svg onload="${script}"></svg>` +
  `<details open ontoggle="${script}"></details><style onload="${script}"></style>`;

/** Markup that requests a URL, and is otherwise empty. */
const WAYS: Record<string, (url: string) => string> = {
  'a picture': (url) => `<img src="${url}">`,
  'a set of pictures': (url) => `<img srcset="${url} 1x, ${url} 2x"><picture><source srcset="${url}"><img></picture>`,
  'a background': (url) => `<style>body{background:url(${url})}</style><div style="list-style:url(${url})">`,
  'an imported style sheet': (url) => `<style>@import "${url}"; @import url(${url}) print;</style>`,
  'a linked style sheet': (url) => `<link rel="stylesheet" href="${url}">`,
  'a font': (url) => `<style>@font-face{font-family:f;src:url(${url})}b{font-family:f}</style><b>f</b>`,
  'a content of CSS': (url) => `<style>i::before{content:url(${url})}q{cursor:url(${url}),auto}</style><i></i>`,
  'a mask or shape': (url) =>
    `<div style="mask:url(${url});clip-path:url(${url}#a);filter:url(${url}#a);shape-outside:url(${url})">`,
  'a frame': (url) => `<iframe src="${url}"></iframe><iframe srcdoc="<img src='${url}'>"></iframe>`,
  'a set of frames': (url) => `<frameset><frame src="${url}"></frameset>`,
  'an object': (url) => `<object data="${url}"></object><embed src="${url}"><applet archive="${url}"></applet>`,
  'a prefetch': (url) => `<link rel="prefetch" href="${url}"><link rel="prerender" href="${url}">`,
  'a preload': (url) => `<link rel="preload" as="image" href="${url}"><link rel="modulepreload" href="${url}">`,
  'a connection in advance': (url) => `<link rel="preconnect" href="${url}"><link rel="dns-prefetch" href="${url}">`,
  'an icon or manifest': (url) => `<link rel="icon" href="${url}"><link rel="manifest" href="${url}">`,
  'a refresh': (url) => `<meta http-equiv="refresh" content="0;url=${url}">`,
  'speculation rules': (url) => `<script type="speculationrules">{"prefetch":[{"urls":["${url}"]}]}</script>`,
  'a form': (url) => `<form action="${url}"><input type="image" src="${url}" autofocus></form>`,
  SVG: (url) =>
    `<svg><use href="${url}#a"/><image href="${url}"/><feImage href="${url}"/><foreignObject><img src="${url}"></foreignObject></svg>`,
  'a picture with SVG': (url) =>
    `<img src="data:image/svg+xml,${encodeURIComponent(svgOf(`<image href="${url}"/><style>@import "${url}";</style>`))}">`,
  'a video or sound': (url) =>
    `<video src="${url}" poster="${url}" autoplay></video><audio src="${url}" autoplay></audio><video><track default src="${url}"></video>`,
  'a base': (url) => `<base href="${url}"><img src="picture.png"><link rel="stylesheet" href="style.css">`,
  'a script': (url) => `<script src="${url}"></script><script type="module">import "${url}"</script>`,
  'a program': (url) =>
    `<script>fetch("${url}"); new Image().src = "${url}"; location = "${url}"; new WebSocket("${url}")</script>`,
  'an event handler': (url) => handlersOf(`fetch('${url}')`),
  'a link with a ping': (url) => `<a href="${url}" ping="${url}" autofocus accesskey="a">link</a>`,
  'a table or body of old': (url) => `<body background="${url}"><table background="${url}"><td background="${url}">`,
  'an XML style sheet': (url) =>
    `<?xml-stylesheet href="${url}"?><html manifest="${url}"><link rel="import" href="${url}">`,
  'a reset policy': (url) =>
    `<meta http-equiv="Content-Security-Policy" content="default-src *"><img src="${url}"><iframe src="${url}"></iframe>`,
};

describe.skipIf(!HAS_PRINTER)('a document', () => {
  const printer = openPrinter();
  const requests: string[] = [];
  // A connection without a request is one, too.
  const server = createServer((socket) => {
    requests.push('connection');
    socket.on('data', (data) => requests.push(data.toString('latin1').split('\r\n')[0]!)).on('error', () => {});
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
  });
  let folder: string;
  let origin: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dws-test-'));
    writeFileSync(join(folder, 'secret.txt'), SECRET, { mode: 0o644 });
    writeFileSync(join(folder, 'secret.html'), `<p>${SECRET}`, { mode: 0o644 });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `127.0.0.1:${(server.address() as { port: number }).port}`;
  });
  afterAll(async () => {
    await printer.close();
    server.close();
    await rm(folder, { recursive: true, force: true });
  });

  test.each(Object.entries(WAYS))('sends no request by %s', async (_, way) => {
    const html = `<p>begin</p>${way(`http://${origin}/a`)}${way(`ws://${origin}/b`)}${way(`//${origin}/c`)}`;
    const { content } = await printer.print(documentOf(html));
    expect(requests).toEqual([]);
    expect((await textOfPdf(content)).join('\n')).toMatch(/begin|^\n*$/);
  });

  test.each(Object.entries(WAYS))('shows no file by %s', async (_, way) => {
    const urls = ['secret.txt', 'secret.html'].map((name) => `file://${join(folder, name)}`);
    const { content, pages } = await printer.print(documentOf(urls.map(way).join('')));
    expect(pages).toBe(1);
    expect((await textOfPdf(content)).join('\n')).not.toContain('file of the machine');
    expect(Buffer.from(content).includes(SECRET)).toBe(false);
  });

  // Chromium ends a page with such a header or footer instead of loading a style sheet.
  test.each(Object.entries(WAYS))('sends no request by %s in its header and footer', async (_, way) => {
    const frame = `header ${way(`http://${origin}/a`)}`;
    const printed = printer.print(documentOf('<p>begin</p>', { header: frame, footer: frame }));
    const text = await printed.then(
      async ({ content }) => (await textOfPdf(content)).join('\n'),
      (error: Error) => error.message,
    );
    expect(text).toMatch(/begin|Header and footer can load nothing but pictures in data URLs/);
    expect(requests).toEqual([]);
  });

  test('runs no script, neither its own nor one of its header', async () => {
    const change = `document.body.textContent = 'changed'`;
    const scripts = `<script>${change}</script>${handlersOf(change)}`;
    const document = documentOf(`<p>begin${scripts}<noscript>without</noscript>${tableOf(300)}`, {
      header: `header${scripts}`,
    });
    const pages = await textOfPdf((await printer.print(document)).content);
    expect(pages.length).toBeGreaterThan(5);
    expect(pages[0]).toMatch(/begin[^]*without/);
    for (const page of pages) expect(page).toContain('header');
    expect(pages.join('\n')).not.toContain('changed');
  });
});
