import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test as base } from 'vitest';
import { childEnvironment } from '../../src/core/process-environment.ts';
import { builtMain } from '../support/built-service.ts';
import { createDatabase } from '../support/postgres.ts';
import { newFolder, startProcess } from '../support/service-process.ts';

const test = base.extend<{ variables: Record<string, string> }>({
  variables: async ({}, use) => {
    const { path, remove } = newFolder();
    const database = await createDatabase();
    await use({ DATABASE_URL: database.url, DATA_DIR: path, ADMIN_PASSWORD: 'correct horse battery' });
    await database.drop();
    remove();
  },
});

const STOPPING = 'Stopping ... (at most 30 seconds; Ctrl-C again ends the process immediately)';

/** The end of the output at the start. */
const HINT = 'browsers send no session cookie';

/** Returns what was printed after the addresses, without empty lines. */
const printedAfterStart = (text: string): string[] =>
  text
    .slice(text.indexOf(HINT) + HINT.length)
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter(Boolean);

describe('a stop', () => {
  test('is printed when it begins and when it is complete', async ({ variables }) => {
    const service = await startProcess(variables);
    expect(await service.end('SIGTERM')).toBe(0);
    expect(printedAfterStart(service.printed())).toEqual([STOPPING, 'Stopped.']);
  });

  test('by one Ctrl-C is not cut short by the further signals that npm sends with it', async ({ variables }) => {
    const service = await startProcess(variables);
    process.kill(service.pid, 'SIGINT');
    process.kill(service.pid, 'SIGINT');
    expect(await service.end('SIGINT')).toBe(0);
    expect(printedAfterStart(service.printed())).toEqual([STOPPING, 'Stopped.']);
  });

  test('that waits for a request ends at the second Ctrl-C', async ({ variables }) => {
    const service = await startProcess(variables);
    const { hostname, port } = new URL(service.url);
    const client = connect(Number(port), hostname).on('error', () => {});
    await once(client, 'connect');
    const headers = ['Host: x', 'Content-Type: application/json', 'Content-Length: 9', 'Expect: 100-continue'];
    client.write(`POST /graphql HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
    // The service has read the headers.
    await once(client, 'data');
    client.write('{');
    process.kill(service.pid, 'SIGINT');
    await expect.poll(service.printed).toContain(STOPPING);
    // Signals that follow sooner are those that npm sends.
    await setTimeout(1500);
    expect(await service.end('SIGINT')).toBe(1);
    client.destroy();
    expect(printedAfterStart(service.printed())).toEqual([STOPPING, 'Ended before everything was stopped.']);
  });
});

describe('on a terminal', () => {
  test('log lines are readable, and Ctrl-C stops the service', async ({ variables }) => {
    const child = spawn('script', ['-qec', `exec '${process.execPath}' '${builtMain()}' serve`, '/dev/null'], {
      env: { ...childEnvironment(), PORT: '0', SEED_DEMO: 'false', NO_COLOR: '1', LOG_LEVEL: 'info', ...variables },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let text = '';
    const hasStarted = new Promise<void>((resolve) => {
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.includes(HINT)) resolve();
      });
    });
    const ended = once(child, 'close');
    await hasStarted;
    child.stdin.write('\x03');
    expect((await ended)[0]).toBe(0);
    expect(text).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: Server listening at http:\/\/127\.0\.0\.1:\d+\r?$/m);
    expect(text).not.toContain('{"level"');
    expect(
      printedAfterStart(text)
        .map((line) => line.replace(/^\^C/, ''))
        .filter(Boolean),
    ).toEqual([STOPPING, 'Stopped.']);
  });

  test('of another kind, log lines are JSON', async ({ variables }) => {
    const service = await startProcess({ ...variables, LOG_LEVEL: 'info' });
    expect(await service.end('SIGTERM')).toBe(0);
    const logged = service
      .printed()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    expect(logged.map((line) => (JSON.parse(line) as { msg: string }).msg)).toContain(
      `Server listening at ${service.url}`,
    );
  });
});
