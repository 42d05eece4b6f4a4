import { expect, test } from 'vitest';
import { confineResponse, withoutHints } from '../../rest-bridge/confined-response.ts';

const HREF = 'href="https://other.example"';

test.each([
  `<link rel="preconnect" ${HREF}>`,
  `<LINK REL=dns-prefetch ${HREF}>`,
  `<link\n${HREF} rel='prefetch'/>`,
  `<link/rel=preload ${HREF}>`,
  `<link\frel=modulepreload ${HREF}>`,
  `<link rel="stylesheet preconnect" ${HREF}>`,
  `<link rel="&#112;reconnect" ${HREF}>`,
  `<link rel = preconnect ${HREF}>`,
  `<link rel=stylesheet/preconnect ${HREF}>`,
  `<link title=">" rel=preconnect ${HREF}>`,
  `<link title="<" rel=preconnect ${HREF}>`,
  `<link title=' rel="stylesheet"' rel=preconnect ${HREF}>`,
  `<link rel=preconnect rel="stylesheet" ${HREF}>`,
  `<link rel="icon" ${HREF}>`,
  `<link rel ${HREF}>`,
  `<link rel=preconnect ${HREF}`,
  `<l\0ink rel=preconnect ${HREF}>`,
  `<!-- --!><link rel=preconnect ${HREF}>-->`,
  `<svg><style><link rel=preconnect ${HREF}></style></svg>`,
  `<noscript><link rel=preconnect ${HREF}></noscript>`,
  `<iframe srcdoc="&lt;link rel=preconnect href=https://other.example>"></iframe>`,
  `<meta http-equiv="x-dns-prefetch-control" content="on">`,
  `<meta content=">" HTTP-EQUIV=refresh>`,
])('%s starts no element that connects', (html) => {
  expect(withoutHints(`<h1>a</h1>${html}`)).not.toMatch(/<(?:link|meta|iframe)/i);
});

test.each([
  `<link rel="stylesheet" ${HREF}>`,
  `<link ${HREF} rel=stylesheet>`,
  `<meta charset="utf-8"><meta name=viewport content='width=device-width, initial-scale=1'/>`,
  '<linker rel=preconnect><metadata http-equiv=x>a &lt;link rel="preconnect"&gt;',
])('%s stays as it is', (html) => {
  expect(withoutHints(html)).toBe(html);
});

test('many unfinished tags are read in one pass', () => {
  expect(withoutHints('<link a="'.repeat(500_000))).toBe('<x-link a="'.repeat(500_000));
  for (const text of [' ', ' a', ' a=b']) {
    const tag = `<link${text.repeat(5_000_000)}>`;
    expect(withoutHints(tag)).toHaveLength(tag.length + 2);
  }
});

const respond = (
  type: string,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Record<string, string> => {
  const confined = confineResponse({
    status: 200,
    headers: { 'content-type': type, ...headers },
    body: typeof body === 'string' ? Buffer.from(body) : body,
  });
  return { ...confined.headers, body: Buffer.from(confined.body).toString() };
};

const HINT = `<link rel=preconnect ${HREF}>`;
const RENAMED = `<x-link rel=preconnect ${HREF}>`;

test.each([
  ['text/html', Buffer.from(HINT)],
  ['Text/HTML;charset=utf-16le', Buffer.from(`\ufeff${HINT}`, 'utf16le')],
  ['text/html; charset="utf-16le"', Buffer.from(HINT, 'utf16le')],
  ['text/html; charset=no-such', Buffer.from(HINT)],
])('HTML of the type %s is sent as UTF-8 without hints', (type, body) => {
  expect(respond(type, body)).toEqual({ 'content-type': 'text/html; charset=utf-8', body: RENAMED });
});

test('HTML in another encoding than its type states cannot become another page', () => {
  const body = respond('text/html', Buffer.from(`\ufeff${HINT}`, 'utf16le'))['body']!;
  expect(Buffer.from(body).subarray(0, 2)).not.toEqual(Buffer.from([0xff, 0xfe]));
  expect(body).not.toMatch(/<link/i);
});

test.each([
  'application/xhtml+xml',
  'image/svg+xml',
  'text/xml',
  'multipart/x-mixed-replace; boundary=x',
  'text/plain;a, text/html',
  'text/html, text/html',
  'application/pdf',
  'x',
])('the type %s is a download', (type) => {
  expect(respond(type, HINT)).toEqual({ 'content-type': type, 'content-disposition': 'attachment', body: HINT });
  expect(respond(type, HINT, { 'content-disposition': 'inline' })['content-disposition']).toBe('attachment');
  const named = 'attachment; filename="a.xml"';
  expect(respond(type, HINT, { 'content-disposition': named })['content-disposition']).toBe(named);
});

test('encoded HTML is a download', () => {
  expect(respond('text/html', HINT, { 'content-encoding': 'gzip' })).toMatchObject({
    'content-disposition': 'attachment',
    body: HINT,
  });
});

test.each(['application/json; charset=utf-8', 'text/plain', 'text/csv', 'image/png'])('%s stays as it is', (type) => {
  expect(respond(type, HINT)).toEqual({ 'content-type': type, body: HINT });
});
