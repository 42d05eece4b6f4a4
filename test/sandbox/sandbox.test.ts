import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSandbox } from '../../src/adapters/sandbox/sandbox.ts';
import { HostCallError, type Sandbox, type SandboxTask } from '../../src/core/sandbox.ts';
import { failureOf, FOREVER, LIMITS, MEBIBYTE, recordingCall, runBody, taskOf } from './sandbox-fixture.ts';

let sandbox: Sandbox;

beforeAll(() => {
  sandbox = openSandbox();
});
afterAll(() => sandbox.close());

describe('a program', () => {
  test('gets its input and returns JSON values, texts and bytes', async () => {
    const input = { list: [1, null, 'a'], bytes: new Uint8Array([1, 2]) };
    const body = 'return { list: input.list, text: "€", bytes: new Uint8Array([input.bytes[1], 3]), none: undefined }';
    const { output } = await runBody(sandbox, body, { input });
    expect(output).toEqual({ list: [1, null, 'a'], text: '€', bytes: new Uint8Array([2, 3]) });
  });

  test('returns texts as UTF-8 where that is asked for', async () => {
    const { output } = await runBody(sandbox, 'return "€"', { textAs: 'bytes' });
    expect(output).toEqual(Buffer.from('€'));
  });

  test('that returns nothing has the output null', async () => {
    expect((await runBody(sandbox, '')).output).toBeNull();
  });

  test('imports its modules by relative paths', async () => {
    const modules = {
      'lib/main.js': "import { add } from './math/add.js';\nexport const main = (input) => add(input, 1);",
      'lib/math/add.js': "import { sum } from '../../sum.js';\nexport const add = (a, b) => sum(a, b);",
      'sum.js': 'export const sum = (a, b) => a + b;',
    };
    const { output } = await sandbox.run({ ...taskOf(''), modules, entry: 'lib/main.js', input: 2 });
    expect(output).toBe(3);
  });

  test.each([
    ['a package', "import 'fs';", 'Modules import others by a relative path, not "fs"'],
    ['a module that does not exist', "import './other.js';", 'There is no module "./other.js"'],
    ['a module above all', "import '../../main.js';", 'There is no module "../../main.js"'],
    ['the prelude', "import './prelude.js';", 'There is no module "./prelude.js"'],
  ])('that imports %s fails', async (_, code, message) => {
    const failure = await failureOf(sandbox.run(taskOf(`${code}\nexport const main = () => 1;`)));
    expect(failure).toMatchObject({ reason: 'exception', message });
  });

  test('that fails names the places in its modules, the innermost first', async () => {
    const modules = {
      'main.js': "import { fail } from './lib/fail.js';\n\nexport const main = () =>\n  fail();",
      'lib/fail.js':
        '// first line\nexport function fail() {\n  throw new TypeError("at /etc/passwd:1:1\\n    at main.js:9:9");\n}',
    };
    const failure = await failureOf(sandbox.run({ ...taskOf(''), modules }));
    expect(failure.message).toBe('TypeError: at /etc/passwd:1:1\n    at main.js:9:9');
    expect(failure.places).toEqual([
      { module: 'lib/fail.js', line: 3, column: 9 },
      { module: 'main.js', line: 4, column: 3 },
    ]);
  });

  test('that cannot be compiled names the place', async () => {
    const failure = await failureOf(sandbox.run(taskOf('\n  const const = 1;')));
    expect(failure).toMatchObject({
      reason: 'exception',
      message: "SyntaxError: Unexpected token 'const'",
      places: [{ module: 'main.js', line: 2, column: 9 }],
    });
  });

  test('logs lines, which are cut at the limit', async () => {
    const body = 'console.warn("a", 1, { b: [2] }); console.log("€".repeat(5000)); console.error("late"); return 1';
    const { logs } = await runBody(sandbox, body);
    expect(logs[0]).toEqual({ level: 'warn', text: 'a 1 {"b":[2]}' });
    expect(logs[1]!.text).toMatch(/^€+$/);
    expect(Buffer.byteLength(logs.map(({ text }) => text).join(''))).toBeLessThanOrEqual(LIMITS.logBytes);
    expect(logs).toHaveLength(2);
  });

  test('that logs or throws secrets shows a mask instead, also as they are in JSON', async () => {
    const secrets = ['one "secret"', 'secretive', 'abc', 'inner', 'an inner part'];
    const body = `console.log(input[0], input, 'abc'); console.warn('an inner part, inner' + input[1] + input[1]);
      throw new TypeError('no ' + input[0] + ' is ' + input[1])`;
    const failure = await failureOf(runBody(sandbox, body, { input: secrets.slice(0, 2), secrets }));
    expect(failure).toMatchObject({
      reason: 'exception',
      message: 'TypeError: no •••• is ••••',
      logs: [
        { level: 'info', text: '•••• ["••••","••••"] abc' },
        { level: 'warn', text: '••••, ••••' },
      ],
    });
  });

  test('whose many secrets overlap ends as usual', async () => {
    const secrets = Array.from({ length: 100 }, (_, i) => 'x'.repeat(8000 - i));
    const body = `console.log('x'.repeat(65_000) + '.'); throw new Error('x'.repeat(2000) + '.')`;
    const limits = { ...LIMITS, logBytes: 65_536 };
    const { logs, message } = await failureOf(runBody(sandbox, body, { secrets: [...secrets, 'xxxx'], limits }));
    expect(logs).toEqual([{ level: 'info', text: '••••.' }]);
    expect(message).toBe('••••');
  });

  test('that is killed keeps the lines that it has logged', async () => {
    const failure = await failureOf(
      runBody(sandbox, `console.log("before"); await host.report(1); ${FOREVER}`, {
        limits: { ...LIMITS, timeoutMs: 5000 },
        host: { report: async () => null },
      }),
    );
    expect(failure).toMatchObject({ reason: 'timeout', logs: [{ level: 'info', text: 'before' }] });
  });

  test('reports the memory that it took', async () => {
    const { memoryBytes } = await runBody(sandbox, 'globalThis.a = new Array(3e6).fill(1.5); return 1');
    expect(memoryBytes).toBeGreaterThan(20 * MEBIBYTE);
    expect(memoryBytes).toBeLessThan(200 * MEBIBYTE);
  });
});

describe('host calls', () => {
  test('take and return texts, bytes and JSON values, later or immediately', async () => {
    const host = { echo: async (value: unknown) => value };
    const body = `const values = ["a", new Uint8Array([1]), [{ b: null }], 5];
      const later = await Promise.all(values.map((value) => host.echo(value)));
      return JSON.stringify([later, values.map((value) => host.echo.sync(value))]);`;
    const echoed = ['a', { 0: 1 }, [{ b: null }], 5];
    expect(JSON.parse((await runBody(sandbox, body, { host })).output as string)).toEqual([echoed, echoed]);
  });

  test('throw the message of their error in the program', async () => {
    const host = { fail: () => Promise.reject(new Error('There is no file a')) };
    const body = 'try { await host.fail(1) } catch (error) { return [error.message, error instanceof Error] }';
    expect((await runBody(sandbox, body, { host })).output).toEqual(['There is no file a', true]);
  });

  test('throw the code of their error, and name the place of the call', async () => {
    const host = { fail: () => Promise.reject(new HostCallError('23505', 'duplicate key')) };
    const caught =
      'const f = () => host.fail(1);\ntry { await f() } catch (error) { return [error.code, error.message] }';
    expect((await runBody(sandbox, caught, { host })).output).toEqual(['23505', 'duplicate key']);
    const failure = await failureOf(runBody(sandbox, 'const f = () => host.fail(1);\nreturn f()', { host }));
    expect(failure).toMatchObject({
      message: 'duplicate key',
      places: [
        { line: 2, column: 22 },
        { line: 3, column: 8 },
      ],
    });
  });

  test('run 20 concurrently', async () => {
    const full = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    const wait = async () => {
      most = Math.max(most, ++running);
      if (running === 20) full.resolve();
      await full.promise;
      running -= 1;
      return 1;
    };
    const body = 'return (await Promise.all(new Array(90).fill(1).map(() => host.wait(1)))).length';
    expect((await runBody(sandbox, body, { host: { wait } })).output).toBe(90);
    expect(most).toBe(20);
  });

  test.for([
    ['returns', 'return 2'],
    ['throws', 'throw new Error("no")'],
    ['waits past its time', 'await new Promise(() => {})', { timeoutMs: 300 }],
    ['runs past its time', FOREVER, { timeoutMs: 300 }],
    ['takes too much memory', 'const all = []; for (;;) all.push(new Array(1e6).fill(1))', {}],
    ['is aborted while it waits', 'await host.call(2); await new Promise(() => {})', {}, 'abort'],
    ['is aborted while it runs', `await host.call(2); ${FOREVER}`, {}, 'abort'],
  ] as [string, string, Partial<SandboxTask['limits']>?, string?][])(
    'are aborted when the program ends, also one that %s',
    async ([, body, limits = {}, end]) => {
      const aborted = Promise.withResolvers<Error>();
      const leave = new AbortController();
      const wait = (_: unknown, signal: AbortSignal) => {
        signal.addEventListener('abort', () => aborted.resolve(signal.reason));
        return new Promise(() => {});
      };
      const call = async () => {
        if (end) setTimeout(() => leave.abort(new Error('left')));
        return null;
      };
      const running = runBody(sandbox, `host.wait(1); await host.call(1); ${body}`, {
        host: { wait, call },
        limits: { ...LIMITS, ...limits },
        signal: leave.signal,
      });
      await running.catch(() => {});
      expect((await aborted.promise).message).toBe('The program has ended');
    },
  );
});

describe('an abort', () => {
  test('ends a program that runs, with the reason of the signal', async () => {
    const controller = new AbortController();
    const { report, called } = recordingCall();
    const running = runBody(sandbox, `await host.report(1); ${FOREVER}`, {
      host: { report },
      signal: controller.signal,
    });
    running.catch(() => {});
    await called;
    controller.abort(new Error('cancelled'));
    await expect(running).rejects.toThrow('cancelled');
    expect((await runBody(sandbox, 'return 1')).output).toBe(1);
  });

  test('before the start runs nothing', async () => {
    const running = runBody(sandbox, 'return 1', { signal: AbortSignal.abort(new Error('cancelled')) });
    await expect(running).rejects.toThrow('cancelled');
  });
});
