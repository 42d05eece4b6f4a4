import { afterAll, expect, test } from 'vitest';
import { callNative } from '../../src/adapters/sandbox/native-functions.ts';
import { openSandbox } from '../../src/adapters/sandbox/sandbox.ts';
import type { SandboxTask } from '../../src/core/sandbox.ts';
import { failureOf, LIMITS, runBody } from './sandbox-fixture.ts';

const sandbox = openSandbox();
afterAll(() => sandbox.close());

const handler: Partial<SandboxTask> = { purpose: 'handler', isHandler: true, limits: { ...LIMITS, timeoutMs: 20_000 } };

/** Runs a body with the functions of handlers. Returns its output. */
const outputOf = async (body: string): Promise<unknown> => (await runBody(sandbox, body, handler)).output;

test('a long text of blanks that is not Base64 is refused immediately', async () => {
  const body = `const refused = (text) => { try { return atob(text) } catch (error) { return error.message } };
    return [refused(' '.repeat(2e6) + '*'), refused('='.repeat(2e6)), refused(' Y Q = = ')]`;
  const message = 'atob() takes a text in Base64';
  expect(await outputOf(body)).toEqual([message, message, 'a']);
});

test.each([
  [
    'a list without end',
    `Array.prototype.flat = () => ({ length: 1e9 }); return new URLSearchParams('a=b').toString()`,
  ],
  [
    'an iterator without end',
    `Array.prototype[Symbol.iterator] = function* () { for (;;) yield 'x'; }; return new URLSearchParams('a=b').toString()`,
  ],
])('%s in place of the parameters does not reach the process', async (_, body) => {
  expect(await outputOf(body)).toBe('a=b');
});

test.each([
  ['a long query', `return String(new URLSearchParams(Array(17).fill(['x'.repeat(2 ** 20), ''])))`],
  ['a long text', `return new TextEncoder().encode('x'.repeat(2 ** 24 + 1)).length`],
  ['many bytes', `return new TextDecoder().decode(new Uint8Array(2 ** 24 + 1)).length`],
])('%s does not reach the process', async (_, body) => {
  const { reason, message } = await failureOf(runBody(sandbox, body, handler));
  expect([reason, message]).toEqual(['exception', 'RangeError: The text or the bytes are longer than 16 MiB']);
});

test('a query has at most 49,000 parameters, an address a million characters', async () => {
  const body = `const failed = (f) => { try { return f() } catch (error) { return error.message } };
    const pairs = (count) => Array(count).fill(['a', 'b']);
    return [failed(() => new URLSearchParams('a&'.repeat(49_000)).size), failed(() => new URLSearchParams('a&'.repeat(48_999)).size),
      failed(() => String(new URLSearchParams(pairs(49_001)))), failed(() => String(new URLSearchParams(pairs(49_000))).length),
      failed(() => new URL('https://a/' + 'x'.repeat(1e6))), failed(() => new URL('https://a/' + 'x'.repeat(1e5)).href.length)]`;
  const tooMany = 'A query has at most 49,000 parameters';
  expect(await outputOf(body)).toEqual([tooMany, 48_999, tooMany, 195_999, 'Invalid URL', 100_010]);
});

test('bytes that are part of a buffer cross alone', async () => {
  expect(await outputOf(`return new TextDecoder().decode(new Uint8Array(3e7).fill(97).subarray(5, 8))`)).toBe('aaa');
});

test('only listed functions run, and only with texts, bytes, numbers and booleans', () => {
  expect(callNative('toBase64', 'a')).toBe('YQ==');
  expect(['toString', 'constructor', 'valueOf', '__proto__', 'other'].map((name) => callNative(name, 'a'))).toEqual(
    Array(5).fill(null),
  );
  expect([{ length: 1e9 }, ['a'], new Map()].map((value) => callNative('toBase64', value))).toEqual(
    Array(3).fill(null),
  );
});
