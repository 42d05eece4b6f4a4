import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import type { OnUnpack } from '../../core/pdf-printer.ts';
import { isAlive } from '../process/process-alive.ts';
import type { BrowserAccount } from './browser-account.ts';

/** Files that are unpacked from packages into one folder. */
export interface Bundle {
  /** Name of the folder, which changes with the contents: `chromium-` or `fonts-` with hex digits and dots. */
  name: string;
  /** A file of the folder that every user must be able to reach. */
  file: string;
  /** Writes the files into a new folder, for all users to read, which is then renamed to `home`. */
  fill(folder: string, home: string): Promise<void>;
}

/** An unfinished folder, or one in the temporary folder: its name contains the process that created it. */
const LEFTOVER_NAME = /^(?:dws-)?(?:chromium|fonts)-[\da-f.]+\.(\d+)\.[\w-]+$/;

/** Returns the folder that contains all packages, found by any of them. */
const modulesFolder = (): string =>
  dirname(dirname(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/package.json')));

/** Returns the folder of a package, which may export no file by which Node finds it. */
export const packageFolder = (name: string): string => join(modulesFolder(), name);

/** Returns the folder in which bundles are unpacked if it can be written. */
export const cacheFolder = (): string => join(modulesFolder(), '.cache');

/** Returns the unpacked folder in this cache folder; undefined if it does not exist, or could have been written by others. */
export function unpackedIn(bundle: Bundle, cache: string): string | undefined {
  const home = join(cache, bundle.name);
  return isOurs(home) && isOurs(join(home, bundle.file)) ? home : undefined;
}

/**
 * Unpacks a bundle into the cache folder, for all users to read. Its folder appears complete or not at all, even when
 * several processes unpack it concurrently. Returns the folder.
 */
export async function unpack(bundle: Bundle, cache = cacheFolder()): Promise<string> {
  const home = join(cache, bundle.name);
  const unfinished = `${home}.${process.pid}.${randomUUID()}`;
  // The service keeps its files to itself, but the browser's user must reach this one.
  if (await mkdir(cache, { recursive: true })) await chmod(cache, 0o755);
  await sweep(cache);
  try {
    await mkdir(unfinished);
    await chmod(unfinished, 0o755);
    await bundle.fill(unfinished, home);
    if (!unpackedIn(bundle, cache)) await rename(unfinished, home);
  } catch (error) {
    // Another process may have been faster.
    if (!unpackedIn(bundle, cache)) throw error;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return home;
}

/** Unpacks a bundle into a new folder of the temporary folder, which the caller removes. Returns the folder. */
export async function unpackTemporarily(bundle: Bundle): Promise<string> {
  await sweep(tmpdir());
  const home = await mkdtemp(join(tmpdir(), `dws-${bundle.name}.${process.pid}.`));
  try {
    await chmod(home, 0o755);
    await bundle.fill(home, home);
    return home;
  } catch (error) {
    await rm(home, { recursive: true, force: true });
    throw error;
  }
}

/** Finds the folder of a bundle, and unpacks it if it is not unpacked. */
export class UnpackedFolder {
  readonly #account: BrowserAccount;
  readonly #log: Logger;
  readonly #load: () => Promise<Bundle>;
  #temporary: string | undefined;
  #unpacking: Promise<string> | undefined;
  /** Whether the browser's user can reach a folder. */
  readonly #reachable = new Map<string, boolean>();

  constructor({ account, log, load }: { account: BrowserAccount; log: Logger; load(): Promise<Bundle> }) {
    this.#account = account;
    this.#log = log;
    this.#load = load;
  }

  /** Returns the folder, unpacked if necessary. Concurrent calls share one unpacking; each calls its `onUnpack` before and after. */
  async find(onUnpack?: OnUnpack): Promise<string> {
    const bundle = await this.#load();
    const ready = unpackedIn(bundle, cacheFolder());
    if (ready && this.#isReachable(ready, bundle)) return ready;
    if (this.#temporary && lstatSync(join(this.#temporary, bundle.file), { throwIfNoEntry: false }))
      return this.#temporary;
    onUnpack?.(true);
    this.#unpacking ??= this.#unpack(bundle).finally(() => (this.#unpacking = undefined));
    const home = await this.#unpacking;
    onUnpack?.(false);
    return home;
  }

  /** Removes the files that were unpacked into the temporary folder. */
  async close(): Promise<void> {
    await this.#unpacking?.catch(() => {});
    if (this.#temporary) rmSync(this.#temporary, { recursive: true, force: true });
    this.#temporary = undefined;
  }

  async #unpack(bundle: Bundle): Promise<string> {
    try {
      const home = unpackedIn(bundle, cacheFolder()) ?? (await unpack(bundle));
      if (this.#isReachable(home, bundle)) return home;
    } catch (error) {
      this.#log.debug(
        { err: error, bundle: bundle.name },
        'A part of the browser cannot be unpacked next to the packages',
      );
    }
    return (this.#temporary = await unpackTemporarily(bundle));
  }

  /** Returns whether the browser's user can reach the files: the packages may be in a folder that is closed to others. */
  #isReachable(home: string, { file }: Bundle): boolean {
    if (this.#account.uid === undefined) return true;
    const known = this.#reachable.get(home);
    if (known !== undefined) return known;
    const options = { ...this.#account, cwd: '/', env: {} };
    const isReachable = spawnSync('/bin/sh', ['-c', 'test -r "$0"', join(home, file)], options).status === 0;
    this.#reachable.set(home, isReachable);
    return isReachable;
  }
}

/**
 * Returns whether a file or folder belongs to this user, root or the owner of the packages, whose code runs here anyway, and
 * others cannot write it.
 */
function isOurs(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat || stat.isSymbolicLink() || (stat.mode & 0o022) !== 0) return false;
  return [0, process.getuid?.(), lstatSync(modulesFolder()).uid].includes(stat.uid);
}

/** Removes the folders that ended processes of this user have left in a folder. */
async function sweep(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    const pid = Number(LEFTOVER_NAME.exec(name)?.[1] ?? 0);
    const path = join(folder, name);
    if (pid > 0 && !isAlive(pid) && lstatSync(path, { throwIfNoEntry: false })?.uid === process.getuid?.())
      await rm(path, { recursive: true, force: true });
  }
}
