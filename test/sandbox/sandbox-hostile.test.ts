import { afterAll, describe, expect, test } from 'vitest';
import { openSandbox } from '../../src/adapters/sandbox/sandbox.ts';
import type { SandboxFailureReason, SandboxTask } from '../../src/core/sandbox.ts';
import { failureOf, LIMITS, MEBIBYTE, runBody, taskOf } from './sandbox-fixture.ts';

const sandbox = openSandbox();
const maxMemory = () => process.resourceUsage().maxRSS * 1024;
const memoryBefore = maxMemory();
const QUICK = { limits: { ...LIMITS, timeoutMs: 300 } };
const FLOOD = { host: { echo: async (value: unknown) => value } };

afterAll(() => sandbox.close());

const expectNextRun = async () =>
  expect((await runBody(sandbox, 'return input + 1', { input: 41 })).output, 'the next run').toBe(42);

type Hostile = [name: string, body: string, reasons: SandboxFailureReason, more?: Partial<SandboxTask>];

const LOOPS: Hostile[] = [
  ['in main', 'for (;;);', 'timeout', QUICK],
  ['in a getter of the result', 'return { get a() { for (;;); } }', 'timeout', QUICK],
  ['in a thenable', 'return { then() { for (;;); } }', 'timeout', QUICK],
  ['in toJSON', 'return { toJSON() { for (;;); } }', 'timeout', QUICK],
  ['in a comparator', '[3, 1, 2].sort(() => { for (;;); })', 'timeout', QUICK],
  ['in a generator', 'function* f() { for (;;); } return [...f()]', 'timeout', QUICK],
  ['after await', 'await null; for (;;);', 'timeout', QUICK],
  ['in a regular expression', 'return /^(a+)+$/.test("a".repeat(50) + "b")', 'timeout', QUICK],
  ['of microtasks', 'const f = () => Promise.resolve().then(f); await f(); for (;;) await null', 'timeout', QUICK],
  ['of microtasks after the end', 'const f = () => Promise.resolve().then(f); f(); return 1', 'timeout', QUICK],
  ['in a proxy', 'return new Proxy({}, { ownKeys() { for (;;); } })', 'timeout', QUICK],
  ['in the text of a thrown object', 'throw { toString() { for (;;); } }', 'timeout', QUICK],
  ['in the stack of an error', 'Error.prepareStackTrace = () => { for (;;); }; throw new Error("a")', 'timeout', QUICK],
  [
    'in the constructor of promises',
    'Promise.prototype.constructor = { get [Symbol.species]() { for (;;); } }; return 1',
    'timeout',
    QUICK,
  ],
  ['in a finalizer of a caught error', 'for (;;) try { throw 1 } catch {} finally { continue }', 'timeout', QUICK],
  ['that waits for nothing', 'await new Promise(() => {})', 'timeout', QUICK],
];

const GROWTH: Hostile[] = [
  ['an array', 'const a = []; for (;;) a.push([a.length])', 'memory'],
  ['a Map', 'const m = new Map(); for (let i = 0; ; i++) m.set(i, i)', 'memory'],
  ['a Set', 'const s = new Set(); for (let i = 0; ; i++) s.add(i)', 'memory'],
  ['a list of texts', 'const a = []; for (let i = 0; ; i++) a.push(`${i}`.repeat(1000) + i)', 'memory'],
  ['typed arrays', 'const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))', 'memory'],
  [
    'a resizable buffer',
    'const b = new ArrayBuffer(1, { maxByteLength: 4e9 }); b.resize(4e9); new Uint8Array(b).fill(1)',
    'memory',
  ],
  [
    'a growing buffer',
    'const b = new ArrayBuffer(1, { maxByteLength: 4e9 });\nfor (let n = 1e6; ; n += 1e6) b.resize(n), new Uint8Array(b, n - 1e6).fill(1)',
    'memory',
  ],
  ['BigInts', 'const a = []; for (;;) a.push(2n ** 1_000_000n + BigInt(a.length))', 'memory'],
  ['promises', 'const a = []; for (;;) a.push(Promise.resolve(a.length))', 'memory'],
  ['closures', 'let f = () => 0; for (;;) { const g = f; f = () => [g] }', 'memory'],
  ['formats', 'const a = []; for (;;) a.push(new Intl.NumberFormat("de-DE"))', 'memory'],
  [
    'logged lines that are kept',
    'const a = []; for (;;) { console.log("a"); a.push(new Array(100).fill(a.length)) }',
    'memory',
  ],
];

const OUTPUTS: Hostile[] = [
  ['a huge text', 'return "x".repeat(2 ** 28)', 'output'],
  ['a huge text in an object', 'return { a: "x".repeat(2 ** 28) }', 'output'],
  ['a huge rope', 'let s = "x"; while (s.length < 2 ** 28) s += s; return [s]', 'memory'],
  ['many texts', 'const o = {}; for (let i = 0; i < 100; i++) o["k" + i] = "x".repeat(1e5); return o', 'output'],
  ['bytes', 'return new Uint8Array(2e6)', 'output'],
  ['a text whose UTF-8 is too large', 'return "€".repeat(400_000)', 'output'],
  ['deep JSON', 'let v = []; for (let i = 0; i < 1000; i++) v = [v]; return v', 'output'],
  ['JSON with many values', 'return new Array(300_000).fill(0)', 'output'],
];

const CALLS: Hostile[] = [
  ['without waiting', 'for (;;) host.echo(1)', 'host-calls', FLOOD],
  ['ignoring errors', 'for (;;) try { host.echo(1) } catch {}', 'host-calls', FLOOD],
  ['one after the other', 'for (;;) await host.echo(1).catch(() => {})', 'host-calls', FLOOD],
  ['synchronously', 'for (;;) try { host.echo.sync(1) } catch {}', 'host-calls', FLOOD],
  ['with large texts', 'for (;;) try { await host.echo("x".repeat(3e5)) } catch {}', 'host-calls', FLOOD],
  ['with large bytes', 'return host.echo(new Uint8Array(2e6))', 'host-calls', FLOOD],
  ['with large results', 'return host.big.sync(1)', 'host-calls', { host: { big: async () => 'x'.repeat(2e6) } }],
];

describe.each([
  ['a loop', LOOPS],
  ['memory for', GROWTH],
  ['an output of', OUTPUTS],
  ['host calls', CALLS],
])('%s', (_, programs) => {
  test.each(programs)('%s ends the program, and the next run is right', async (_name, body, reason, more) => {
    expect((await failureOf(runBody(sandbox, body, more))).reason).toBe(reason);
    await expectNextRun();
  });
});

test('a loop in a module ends the program, and the next run is right', async () => {
  const failure = await failureOf(sandbox.run(taskOf('for (;;);\nexport const main = () => 1', QUICK)));
  expect(failure.reason).toBe('timeout');
  await expectNextRun();
});

test('a getter of the exported function that loops ends the program', async () => {
  const code = 'export const main = new Proxy(() => 1, { apply() { for (;;); } })';
  expect((await failureOf(sandbox.run(taskOf(code, QUICK)))).reason).toBe('timeout');
  await expectNextRun();
});

describe('errors', () => {
  test.each([
    ['a huge message', 'throw new Error("x".repeat(1e6))'],
    ['a huge text', 'throw "x".repeat(1e6)'],
    ['a huge name', 'const e = new Error("a"); e.name = "x".repeat(1e6); throw e'],
    ['a huge stack', 'const e = new Error("a"); e.stack = "x".repeat(1e6); throw e'],
    ['a message of another type', 'const e = new Error(); e.message = { a: 1 }; throw e'],
    ['nothing', 'throw undefined'],
    ['a symbol', 'throw Symbol("a")'],
    ['an object without text', 'throw Object.create(null)'],
    ['a revoked proxy', 'const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy'],
    ['endless recursion', 'const f = () => f() + 1; f()'],
    ['a large BigInt', 'return 2n ** (2n ** 40n)'],
    ['a cyclic object', 'const a = {}; a.a = a; return { a }'],
    ['a call of a host function that does not exist', 'return host.other(1)'],
  ])('with %s are exceptions with a short message', async (_, body) => {
    const { reason, message } = await failureOf(runBody(sandbox, body));
    expect(reason).toBe('exception');
    expect(message.length).toBeLessThanOrEqual(2000);
    expect(message).not.toBe('');
    await expectNextRun();
  });
});

describe('the way out by', () => {
  test.each([
    ['process', 'return typeof process', 'undefined'],
    ['require', 'return typeof require', 'undefined'],
    [
      'the constructor of functions',
      'return "".constructor.constructor("return typeof process + typeof require")()',
      'undefinedundefined',
    ],
    ['the constructor of the host object', 'return typeof host.echo.constructor("return typeof process")()', 'string'],
    ['the prototype of host functions', 'return Object.getPrototypeOf(host.echo) === Function.prototype', true],
    ['the prototype of the input', 'return Object.getPrototypeOf(input) === Object.prototype', true],
    ['WebAssembly', 'return typeof WebAssembly', 'undefined'],
    ['shared memory', 'return typeof SharedArrayBuffer + typeof Atomics', 'undefinedundefined'],
    ['timers', 'return typeof setTimeout + typeof setImmediate', 'undefinedundefined'],
    ['the network', 'return typeof fetch + typeof WebSocket + typeof XMLHttpRequest', 'undefinedundefinedundefined'],
    [
      'changed prototypes',
      'Object.prototype.reference = true; Object.prototype.ignored = true; return host.echo(5)',
      5,
    ],
    ['a changed JSON', 'JSON.parse = () => 0; JSON.stringify = () => "0"; return [await host.echo([6])]', [[6]]],
    ['changed promises', 'Promise.prototype.then = () => {}; return 7', 7],
    ['a changed array', 'Object.defineProperty(Array.prototype, 0, { set() { throw 1 } }); return host.echo("8")', '8'],
  ])('%s does not exist', async (_, body, expected) => {
    const { output } = await runBody(sandbox, body, { input: {}, ...FLOOD });
    expect(output).toEqual(expected);
  });

  test.each([
    ['a dynamic import', 'return import("node:fs")'],
    ['a dynamic import of a URL', 'return import("data:text/javascript,export default 1")'],
    ['files', 'return import("file:///etc/passwd")'],
    ['child processes', 'return require("child_process").execSync("id")'],
    ['the environment', 'return process.env'],
  ])('%s fails', async (_, body) => {
    expect((await failureOf(runBody(sandbox, body))).reason).toBe('exception');
    await expectNextRun();
  });
});

test('no program sees what an earlier one has changed', async () => {
  await runBody(sandbox, 'Object.prototype.a = 1; Array.prototype.map = 2; globalThis.b = 3; JSON.c = 4; return 1');
  const { output } = await runBody(sandbox, 'return [typeof {}.a, typeof [].map, typeof b, typeof JSON.c]');
  expect(output).toEqual(['undefined', 'function', 'undefined', 'undefined']);
});

test('the memory of this process stayed bounded', () => {
  expect(maxMemory() - memoryBefore).toBeLessThan(150 * MEBIBYTE);
});
