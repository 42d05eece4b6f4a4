import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { childEnvironment } from '../../src/core/process-environment.ts';
import { eventually } from '../operation/fixture.ts';
import { childrenOf, isRunning } from '../operation/refreshable.ts';
import { builtMain, COMPILE_CACHE } from './built-service.ts';
import { Client } from './client.ts';

export const ADMIN_PASSWORD = 'correct horse battery';

/** The compiled service in its own process. */
export interface ServiceProcess {
  url: string;
  pid: number;
  /** Everything that it printed so far, on both streams. */
  printed(): string;
  /** Sends the signal and returns how the process ended: its exit code, or the signal that killed it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
  /** Closes the channel to it, as the kernel does when its parent is killed, and returns how it ended. */
  abandon(): Promise<number | NodeJS.Signals>;
}

/**
 * Starts `dws serve` on a free port with these variables and resolves once it is ready. If it ends instead, throws its
 * output. `main` is the program.
 */
export async function startProcess(variables: Record<string, string>, main = builtMain()): Promise<ServiceProcess> {
  const { child, ended, printed } = run(variables, main);
  const url = await Promise.race([
    addressOf(child, printed),
    ended.then((how) => {
      throw new Error(`The service ended with ${how}: ${printed()}`);
    }),
  ]);
  while (!(await fetch(`${url}/readyz`)).ok)
    await new Promise((wake) => {
      setTimeout(wake, 50);
    });
  return {
    url,
    printed,
    pid: child.pid!,
    end(signal) {
      child.kill(signal);
      return ended;
    },
    abandon() {
      child.disconnect();
      return ended;
    },
  };
}

/** Runs a `dws serve` that is expected to end by itself; returns its exit code and its output. */
export async function runProcess(
  variables: Record<string, string>,
  main = builtMain(),
): Promise<{ code: number | NodeJS.Signals; printed: string }> {
  const { ended, printed } = run(variables, main);
  return { code: await ended, printed: printed() };
}

function run(variables: Record<string, string>, main: string) {
  const child = spawn(process.execPath, [main, 'serve'], {
    env: {
      ...childEnvironment(),
      ...COMPILE_CACHE,
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'warn',
      SEED_DEMO: 'false',
      RATE_LIMIT_API: '0',
      RATE_LIMIT_LOGIN: '0',
      RATE_LIMIT_WEBHOOK: '0',
      ...variables,
    },
    // As with `npm start`, it ends when its parent is killed, so that nothing outlives the tests.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let text = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  // Its `close` event never fires once we have closed the channel.
  const ended = Promise.all([once(child, 'exit'), once(child.stdout!, 'close'), once(child.stderr!, 'close')]).then(
    ([[code, signal]]) => (code ?? signal) as number | NodeJS.Signals,
  );
  return { child, ended, printed: () => text };
}

function addressOf(child: ChildProcess, printed: () => string): Promise<string> {
  return new Promise((found) => {
    child.stdout!.on('data', () => {
      const url = /Data Workspace Service at (http:\S+)/.exec(printed())?.[1];
      if (url) found(url);
    });
  });
}

/** Creates an empty folder that an unprivileged Postgres can reach. */
export function newFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(`/tmp/dws-test-${process.ppid}-`);
  chmodSync(path, 0o711);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Returns a process and all its descendants. Linux only. */
export async function treeOf(root: number): Promise<number[]> {
  const tree = [root];
  for (const pid of tree) tree.push(...(await childrenOf(pid).catch(() => [])));
  return tree;
}

/** Waits until none of the processes lives. */
export const allGone = (pids: number[]): Promise<boolean> => eventually(async () => !pids.some(isRunning));

/** A user who logged in at one process, as a browser on its pages. */
export async function logIn(url: string, username = 'admin', password = ADMIN_PASSWORD): Promise<Client> {
  const answer = await new Client(url).post('/login', { username, password });
  if (answer.status !== 200)
    throw new Error(`${username} cannot log in: ${answer.status} ${JSON.stringify(answer.body)}`);
  return new Client(
    url,
    { cookie: answer.headers.getSetCookie()[0]!.split(';')[0]!, 'sec-fetch-site': 'same-origin' },
    { id: answer.body.user.id, username },
  );
}

/** Returns the same user with a new API token. */
export async function byToken(person: Client): Promise<Client> {
  const { token } = await person.creates('/tokens', { name: 'test' });
  return new Client(person.url, { authorization: `Bearer ${token}` }, person);
}

/** Returns the same user, with the same credentials, at another process. */
export const at = (url: string, person: Client): Client => new Client(url, person.headers, person);
