import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { openSandbox } from '../../src/adapters/sandbox/sandbox.ts';
import { failureOf, FOREVER, LIMITS, recordingCall, runBody, sandboxProcesses } from './sandbox-fixture.ts';

const ENDLESS = { limits: { ...LIMITS, timeoutMs: 300 } };

describe('processes', () => {
  test('start with the first program, and are used again', async () => {
    const own = openSandbox();
    const before = new Set(await sandboxProcesses());
    const started = async () => (await sandboxProcesses()).filter((pid) => !before.has(pid));
    expect(await started()).toEqual([]);
    await runBody(own, 'return 1');
    const [first] = await started();
    await runBody(own, 'return 2');
    await failureOf(runBody(own, 'throw new Error("a")'));
    expect(await started()).toEqual([first]);
    await own.close();
    expect(await started()).toEqual([]);
  });

  test('are replaced by a spare when they are killed', async () => {
    const own = openSandbox();
    const before = new Set(await sandboxProcesses());
    const started = async () => (await sandboxProcesses()).filter((pid) => !before.has(pid));
    await runBody(own, 'return 1');
    const [first] = await started();
    await failureOf(runBody(own, FOREVER, ENDLESS));
    const spares = await started();
    expect(spares).toHaveLength(1);
    expect(spares).not.toContain(first);
    expect((await runBody(own, 'return 3')).output).toBe(3);
    expect(await started()).toEqual(spares);
    await own.close();
  });

  test('are not used again after a program that left a host call behind', async () => {
    const own = openSandbox();
    const before = new Set(await sandboxProcesses());
    const started = async () => (await sandboxProcesses()).filter((pid) => !before.has(pid));
    await runBody(own, 'return 1');
    const [first] = await started();
    const host = { wait: () => new Promise(() => {}) };
    expect((await runBody(own, 'host.wait(1); return 2', { host })).output).toBe(2);
    expect(await started()).not.toContain(first);
    await own.close();
  });

  test('run the private programs of one caller only', async () => {
    const own = openSandbox({ handlers: 2 });
    const before = new Set(await sandboxProcesses());
    const started = async () => (await sandboxProcesses()).filter((pid) => !before.has(pid)).length;
    const counts: number[] = [];
    for (const [userId, purpose] of [
      ['ann', 'private-called'],
      ['bob', 'handler'],
      ['ann', 'private-handler'],
      ['bob', 'private-handler'],
      ['ann', 'nested'],
    ] as const) {
      await runBody(own, 'return 1', { purpose, caller: { tenantId: 'tenant', userId } });
      counts.push(await started());
    }
    expect(counts).toEqual([1, 2, 2, 3, 3]);
    // Two unused ones are kept for private programs.
    await runBody(own, 'return 1', { purpose: 'private-nested', caller: { tenantId: 'tenant', userId: 'eve' } });
    await expect.poll(started).toBe(3);
    await own.close();
  });

  test('end when they are not used', async () => {
    const own = openSandbox({ idleMs: 20 });
    const before = new Set(await sandboxProcesses());
    await runBody(own, 'return 1');
    await expect.poll(async () => (await sandboxProcesses()).filter((pid) => !before.has(pid))).toEqual([]);
    expect((await runBody(own, 'return 2')).output).toBe(2);
    await own.close();
  });

  test.runIf(process.platform === 'linux')('have no environment and no rights of root', async () => {
    const own = openSandbox();
    const before = new Set(await sandboxProcesses());
    await runBody(own, 'return 1');
    const [pid] = (await sandboxProcesses()).filter((candidate) => !before.has(candidate));
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const ids = /^Uid:\t(.*)$/m.exec(status)![1]!.split('\t').map(Number);
    expect(ids.every((id) => id !== 0)).toBe(true);
    expect(/^Groups:\t(.*)$/m.exec(status)![1]!.trim()).toBe('');
    await own.close();
  });

  test('end with the one that started them, even in the middle of a loop', async () => {
    const program = fileURLToPath(new URL('./looping-parent.ts', import.meta.url));
    const parent = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(createInterface(parent.stdout), 'line')) as [string];
    const [child] = await sandboxProcesses(parent.pid);
    expect(line).toBe('looping');
    parent.kill('SIGKILL');
    const isRunning = () => {
      try {
        return process.kill(child!, 0);
      } catch {
        return false;
      }
    };
    await expect.poll(isRunning).toBe(false);
  });
});

describe('places', () => {
  test('are shared among callers: one caller with many programs leaves a place to others', async () => {
    const own = openSandbox({ engines: 2 });
    const { promise, resolve } = Promise.withResolvers<null>();
    const blocked = { host: { wait: () => promise }, caller: { tenantId: 'tenant', userId: 'greedy' } };
    const greedy = Array.from({ length: 5 }, () => runBody(own, 'await host.wait(1); return 1', blocked));
    expect((await runBody(own, 'return 2')).output).toBe(2);
    resolve(null);
    expect((await Promise.all(greedy)).map(({ output }) => output)).toEqual([1, 1, 1, 1, 1]);
    await own.close();
  });

  test.each(['handler', 'called', 'nested'] as const)('of a %s are left to other tenants by one', async (purpose) => {
    const own = openSandbox({ handlers: 4 });
    const { promise, resolve } = Promise.withResolvers<null>();
    const host = { wait: () => promise };
    const greedy = ['one', 'two', 'three'].flatMap((userId) =>
      [1, 2].map(() =>
        runBody(own, 'await host.wait(1); return 1', { host, purpose, caller: { tenantId: 'a', userId } }),
      ),
    );
    expect((await runBody(own, 'return 2', { purpose, caller: { tenantId: 'b', userId: 'one' } })).output).toBe(2);
    resolve(null);
    expect((await Promise.all(greedy)).map(({ output }) => output)).toEqual([1, 1, 1, 1, 1, 1]);
    await own.close();
  });

  test.each([
    ['handler', 'called'],
    ['called', 'nested'],
    ['handler', 'engine'],
    ['nested', 'engine'],
  ] as const)('of a %s do not delay a program that is %s', async (purpose, other) => {
    const own = openSandbox({ handlers: 1, engines: 1 });
    const { report, called } = recordingCall();
    const { promise, resolve } = Promise.withResolvers<null>();
    const host = { report, wait: () => promise };
    const running = runBody(own, 'host.report(1); await host.wait(1); return 1', { host, purpose });
    await called;
    expect((await runBody(own, 'return 2', { purpose: other })).output).toBe(2);
    resolve(null);
    expect((await running).output).toBe(1);
    await own.close();
  });

  test('refuse a handler that waits too long', async () => {
    const own = openSandbox({ handlers: 1, maxWaitMs: 50 });
    const { promise, resolve } = Promise.withResolvers<null>();
    const running = runBody(own, 'await host.wait(1); return 1', { host: { wait: () => promise }, purpose: 'handler' });
    await expect(runBody(own, 'return 2', { purpose: 'handler' })).rejects.toMatchObject({
      status: 503,
      message: 'Too many handlers are waiting. Try again in 1 s',
      headers: { 'retry-after': '1' },
    });
    resolve(null);
    expect((await running).output).toBe(1);
    expect((await runBody(own, 'return 3', { purpose: 'handler' })).output).toBe(3);
    await own.close();
  });

  test('have at most 200 waiting programs', async () => {
    const own = openSandbox({ engines: 1 });
    const running = Array.from({ length: 202 }, () => runBody(own, 'return 1'));
    const results = await Promise.allSettled(running);
    const refused = results.filter(({ status }) => status === 'rejected');
    expect(refused).toMatchObject([{ reason: { status: 503, code: 'UNAVAILABLE' } }]);
    await own.close();
  });

  test('are closed with the sandbox, which ends what runs', async () => {
    const own = openSandbox();
    const { report, called } = recordingCall();
    const running = runBody(own, `await host.report(1); ${FOREVER}`, { host: { report } });
    running.catch(() => {});
    await called;
    await own.close();
    await expect(running).rejects.toMatchObject({ status: 503 });
    await expect(runBody(own, 'return 1')).rejects.toMatchObject({ status: 503 });
  });
});
