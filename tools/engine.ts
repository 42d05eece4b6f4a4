/**
 * Code shared by the engines of tests: a folder, an unprivileged user, a free port, and an end no later than this
 * process.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, chmodSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A running engine of this machine. */
export interface Engine<Address> {
  address: Address;
  stop(): Promise<void>;
}

/** Both engines refuse to run as root. */
const NOBODY = 65_534;
export const account = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

/**
 * Creates an empty folder for the engine's user and removes those of processes that have ended. It is below /tmp
 * because root's own TMPDIR may be closed to others.
 */
export function engineFolder(name: string): string {
  for (const left of readdirSync('/tmp')) {
    const [, engine, pid] = /^dws-([a-z]+)-(\d+)-/.exec(left) ?? [];
    if (engine === name && !existsSync(`/proc/${pid}`)) rmSync(join('/tmp', left), { recursive: true, force: true });
  }
  const folder = mkdtempSync(join('/tmp', `dws-${name}-${process.pid}-`));
  chmodSync(folder, 0o755);
  if (account.uid) chownSync(folder, account.uid, account.gid);
  return folder;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Starts a program in its folder and resolves once `ready` does. A shell beside it waits on a pipe that only this
 * process has open, so that the program ends with this process in any case.
 * Throws with the end of its log if it ends or is not ready within two minutes.
 */
export async function startEngine<Address>(
  folder: string,
  command: string[],
  env: Record<string, string>,
  address: Address,
  ready: () => Promise<boolean>,
): Promise<Engine<Address>> {
  const logFile = join(folder, 'engine.log');
  const log = openSync(logFile, 'a');
  const child = spawn(
    '/bin/sh',
    [
      '-c',
      `exec 3<&0; "$@" <&- & engine=$!
        (read -r _ <&3; kill -TERM $engine) &
        wait $engine; status=$?; kill $! 2>/dev/null; exit $status`,
      'sh',
      ...command,
    ],
    {
      ...account,
      cwd: folder,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...env },
      stdio: ['pipe', log, log],
      detached: true,
    },
  );
  const stop = async () => {
    await end(child);
    rmSync(folder, { recursive: true, force: true });
  };
  const patience = Date.now() + 120_000;
  while (!(await ready().catch(() => false))) {
    if (child.exitCode === null && child.signalCode === null && Date.now() < patience) {
      await sleep(200);
      continue;
    }
    const said = readFileSync(logFile, 'utf8').slice(-3000);
    await stop();
    throw new Error(`${command[0]} did not start: ${said}`);
  }
  return { address, stop };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.stdin!.end();
  await gone;
}

/** Runs an engine until Ctrl-C. */
export async function hold(starting: Promise<Engine<unknown>>): Promise<void> {
  const engine = await starting;
  console.log(engine.address);
  const wait = setInterval(() => undefined, 60_000);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      clearInterval(wait);
      void engine.stop();
    });
  }
}
