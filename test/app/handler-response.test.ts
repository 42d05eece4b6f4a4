import { describe, expect } from 'vitest';
import { test as base } from '../support/fixture.ts';
import { deployApp, withBodies, type DeployedApp } from './handler-fixture.ts';

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
const TEXT_TYPE = { 'content-type': 'text/plain; charset=utf-8' };
const BYTES_TYPE = { 'content-type': 'application/octet-stream' };

/** Code of handlers, with the status, headers and body of the response. */
const RESPONSES: Record<string, [body: string, status: number, headers: object, text: string]> = {
  list: ['return [{ a: 1 }]', 200, JSON_TYPE, '[{"a":1}]'],
  object: ['return { status: "open", total: 3 }', 200, JSON_TYPE, '{"status":"open","total":3}'],
  number: ['return 5', 200, JSON_TYPE, '5'],
  false: ['return false', 200, JSON_TYPE, 'false'],
  null: ['return null', 200, JSON_TYPE, 'null'],
  date: ['return new Date(0)', 200, JSON_TYPE, '"1970-01-01T00:00:00.000Z"'],
  nothing: ['', 204, {}, ''],
  text: ['return "hé"', 200, TEXT_TYPE, 'hé'],
  emptyText: ['return ""', 200, TEXT_TYPE, ''],
  bytes: ['return new TextEncoder().encode("ab")', 200, BYTES_TYPE, 'ab'],
  part: ['return new Uint8Array([97, 98, 99]).subarray(1)', 200, BYTES_TYPE, 'bc'],
  buffer: ['return new TextEncoder().encode("ab").buffer', 200, BYTES_TYPE, 'ab'],
  status: ['return { status: 202 }', 202, {}, ''],
  created: ['return { status: 201, body: { id: 1 } }', 201, JSON_TYPE, '{"id":1}'],
  respond: ['return respond(404, "gone")', 404, TEXT_TYPE, 'gone'],
  thrown: ['throw respond(401, { error: "no" })', 401, JSON_TYPE, '{"error":"no"}'],
  thrownObject: ['throw { status: 418, body: "tea" }', 418, TEXT_TYPE, 'tea'],
  thrownBelow: ['const f = async () => { throw respond(403) }; await f()', 403, {}, ''],
  headers: [
    'return respond(200, "<p>", { "Content-Type": "text/html", "X-Total-Count": 3, ETag: `"a"` })',
    200,
    { 'content-type': 'text/html; charset=utf-8', 'x-total-count': '3', etag: '"a"' },
    '<p>',
  ],
  reserved: [
    `return respond(200, 1, { "set-cookie": "a=b", "Content-Length": "5", Connection: "close", "content-security-policy": "x",
      "Transfer-Encoding": "chunked", "Clear-Site-Data": "*", "x-app-kept": "1" })`,
    200,
    { ...JSON_TYPE, 'x-app-kept': '1' },
    '1',
  ],
  unchanged: ['return respond(304, "ignored", { etag: "a" })', 304, { etag: 'a' }, ''],
  otherKeys: ['return { status: 404, body: 1, id: 2 }', 200, JSON_TYPE, '{"status":404,"body":1,"id":2}'],
  otherStatus: ['return { status: 600 }', 200, JSON_TYPE, '{"status":600}'],
  textStatus: ['return { status: "404" }', 200, JSON_TYPE, '{"status":"404"}'],
  largest: ['return "x".repeat(5_999_000)', 200, TEXT_TYPE, 'x'.repeat(5_999_000)],
};

/** Code of handlers, with the message of their failure. */
const FAILURES: Record<string, [body: string, message: string]> = {
  error: ['throw new TypeError("no")', 'server/error.js:3: TypeError: no'],
  errorWithStatus: ['throw Object.assign(new Error("no"), { status: 404 })', 'server/errorWithStatus.js:3: no'],
  thrownText: ['throw "no"', 'no'],
  thrownNothing: ['throw undefined', 'undefined'],
  invalidStatus: [
    'return respond(99)',
    'server/invalidStatus.js:3: TypeError: respond(status, body, headers) takes a status from 100 to 599',
  ],
  informational: ['return { status: 101 }', 'The status 101 cannot end a response'],
  lineBreak: ['return respond(200, 1, { a: "b\\r\\nset-cookie: c=d" })', 'The response has an invalid header "a"'],
  headerName: ['return respond(200, 1, { "a b": "c" })', 'The response has an invalid header "a b"'],
  headerValue: ['return respond(200, 1, { a: "€" })', 'The response has an invalid header "a"'],
  headerList: ['return respond(200, 1, { a: ["b"] })', 'The response has an invalid header "a"'],
  manyHeaders: [
    'return respond(200, 1, Object.fromEntries(Array.from({ length: 101 }, (_, i) => ["a" + i, "b"])))',
    'The response has more than 100 headers',
  ],
  largeHeaders: [
    'return respond(200, 1, { a: "b".repeat(17000) })',
    'The response has more than 16384 bytes of headers',
  ],
  cycle: [
    'const a = {}; a.a = a; return a',
    expect.stringMatching(/^TypeError: Converting circular structure to JSON/) as unknown as string,
  ],
  large: ['return "x".repeat(6_000_001)', 'The output has more than 6000000 bytes'],
  largeJson: ['return { body: { a: ["x".repeat(6_000_000)] } }', 'The output has more than 6000000 bytes'],
};

const bodies = (entries: Record<string, [string, ...unknown[]]>) =>
  withBodies(Object.fromEntries(Object.entries(entries).map(([name, [body]]) => [name, body])));

const test = base.extend<{ app: DeployedApp }>({
  app: [
    async ({ admin, service }, use) =>
      use(await deployApp({ admin, service }, 'Responses', { ...bodies(RESPONSES), ...bodies(FAILURES) })),
    { scope: 'file' },
  ],
});

describe('what a handler returns or throws as a response:', () => {
  for (const [name, [, status, headers, text]] of Object.entries(RESPONSES))
    test(name, async ({ app }) => {
      const response = await app.respond(`server/${name}.js`, { method: 'post' });
      expect(response).toMatchObject({ status, text });
      expect(response.headers).toEqual(headers);
    });
});

describe('what is a failure:', () => {
  for (const [name, [, message]] of Object.entries(FAILURES))
    test(name, async ({ app }) => {
      expect(await app.fail(`server/${name}.js`, { method: 'post' })).toEqual({
        status: 500,
        code: 'UPSTREAM_FAILED',
        message,
      });
    });
});
