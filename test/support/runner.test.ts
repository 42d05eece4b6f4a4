import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { describe, expect, test, vi } from 'vitest';
import { leftBehind, stateOf } from './runner.ts';

describe('a test file in a shared process fails if it leaves behind', () => {
  test('an open server', async () => {
    const before = stateOf();
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    expect(await leftBehind(before, 0)).toEqual(['server (1)']);
    server.close();
    expect(await leftBehind(before)).toEqual([]);
  });

  test('a running child process, which has time to end', async () => {
    const before = stateOf();
    const child = spawn('cat');
    expect(await leftBehind(before, 0)).toEqual(['child process (1)']);
    child.stdin.end();
    expect(await leftBehind(before)).toEqual([]);
  });

  test('a fake clock', async () => {
    const before = stateOf();
    vi.useFakeTimers({ toFake: ['Date'] });
    expect(await leftBehind(before)).toEqual(['a fake clock']);
    expect(vi.isFakeTimers()).toBe(false);
  });

  test('other variables of the environment, which are restored', async () => {
    process.env.DWS_TEST_CHANGED = 'before';
    const before = stateOf();
    process.env.DWS_TEST_CHANGED = 'after';
    process.env.DWS_TEST_NEW = 'new';
    expect(await leftBehind(before)).toEqual(['the variable DWS_TEST_CHANGED', 'the variable DWS_TEST_NEW']);
    expect([process.env.DWS_TEST_CHANGED, process.env.DWS_TEST_NEW]).toEqual(['before', undefined]);
    delete process.env.DWS_TEST_CHANGED;
  });

  test('another working folder', async () => {
    const before = stateOf();
    process.chdir(tmpdir());
    expect(await leftBehind(before)).toEqual(['another working folder']);
    expect(await leftBehind(before)).toEqual([]);
  });
});
