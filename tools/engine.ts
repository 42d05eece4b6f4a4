/**
 * Code shared by the engines of tests: a folder, an unprivileged user, a free port, and an end no later than this
 * process.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
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

/** Linux' file system in memory. */
const MEMORY = '/dev/shm';

/** Memory that the databases of a whole run of tests may take. */
const MEMORY_BYTES = 4 * 2 ** 30;

/**
 * Creates an empty folder named after this process and removes the folders of processes that have ended. It is in memory where
 * there is enough: a database of tests has a thousand files, which take a tenth of the processor time there, and waits
 * for no disk. Root's own TMPDIR may be closed to the user who runs a database.
 */
export function throwAwayFolder(name: string): string {
  const disk = process.getuid?.() === 0 ? '/tmp' : tmpdir();
  for (const base of [disk, MEMORY])
    for (const left of existsSync(base) ? readdirSync(base) : []) {
      const [, of, pid] = /^dws-([a-z]+)-(\d+)-/.exec(left) ?? [];
      if (of === name && !isAlive(Number(pid))) remove(join(base, left));
    }
  const folder = mkdtempSync(join(hasMemory() ? MEMORY : disk, `dws-${name}-${process.pid}-`));
  chmodSync(folder, 0o711);
  return folder;
}

/**
 * Returns whether there is memory for files, also for programs: Postgres is copied next to its data if its user cannot enter
 * the checkout.
 */
function hasMemory(): boolean {
  const mounts = existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8') : '';
  const mount = mounts
    .split('\n')
    .map((line) => line.split(' '))
    .findLast(([, folder]) => folder === MEMORY);
  const options = mount?.[3]?.split(',') ?? ['ro'];
  if (options.includes('noexec') || options.includes('ro')) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return Math.min(bavail * bsize, process.availableMemory()) > 2 * MEMORY_BYTES;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Removes a folder, unless another user owns it. */
function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // Its owner removes it.
  }
}

/** Creates such a folder for the engine's user. */
export function engineFolder(name: string): string {
  const folder = throwAwayFolder(name);
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
 * Starts a program in its folder and resolves once `ready` does. A companion shell waits on a pipe that only this
 * process has open, so the program always ends with this process. Throws with the end of its log if it ends or is not
 * ready within two minutes.
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
