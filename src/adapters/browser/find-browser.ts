import { spawnSync } from 'node:child_process';
import { accessSync, constants, rmSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Logger } from 'pino';
import { unavailable } from '../../core/errors.ts';
import { childEnvironment } from '../../core/process-environment.ts';
import type { BrowserAccount } from './browser-account.ts';

/** A browser on this machine. */
export interface BrowserProgram {
  path: string;
  environment: NodeJS.ProcessEnv;
}

/** Names under which a browser may be on the PATH. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

interface BrowserOptions {
  /** Path of the browser that the operator chose (`CHROMIUM_PATH`). */
  path: string | undefined;
  account: BrowserAccount;
  log: Logger;
  /** Whether the package has a browser for this machine. Default: on Linux with x64. */
  hasPackage?: boolean;
  /** Folders where programs are. Default: the PATH. */
  searchPath?: string;
}

/** Finds the browser, and unpacks that of the package if it is not unpacked. */
export class BrowserFinder {
  readonly #options: BrowserOptions;
  #temporary: Promise<string> | undefined;
  #unpacking: Promise<string> | undefined;

  constructor(options: BrowserOptions) {
    this.#options = options;
  }

  /**
   * Returns the browser that `CHROMIUM_PATH` names, else that of the package, else one of the PATH. Throws UNAVAILABLE if
   * there is none.
   */
  async find(): Promise<BrowserProgram> {
    const { path, hasPackage = process.platform === 'linux' && process.arch === 'x64' } = this.#options;
    if (path !== undefined) {
      if (isProgram(path)) return { path, environment: childEnvironment() };
      throw unavailable('PDFs cannot be printed: CHROMIUM_PATH does not name a program');
    }
    if (hasPackage) {
      const home = await this.#unpacked();
      const fonts = { FONTCONFIG_FILE: join(home, 'fonts.xml'), LD_LIBRARY_PATH: join(home, 'lib') };
      return { path: join(home, 'chromium'), environment: { ...childEnvironment(), ...fonts } };
    }
    const folders = (this.#options.searchPath ?? childEnvironment()['PATH'] ?? '').split(delimiter).filter(Boolean);
    const found = folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isProgram);
    if (found) return { path: found, environment: childEnvironment() };
    throw unavailable('PDFs cannot be printed: this machine has no browser. CHROMIUM_PATH can name a Chromium');
  }

  /** Removes what was unpacked into the temporary folder. */
  async close(): Promise<void> {
    const home = await this.#temporary?.catch(() => undefined);
    this.#temporary = undefined;
    if (home) rmSync(home, { recursive: true, force: true });
  }

  /** Returns the folder of the package's browser. One call at a time unpacks it. */
  async #unpacked(): Promise<string> {
    const { cacheFolder, unpackChromium, unpackedIn, unpackTemporarily } = await import('./unpack-chromium.ts');
    const ready = unpackedIn(cacheFolder());
    if (ready && this.#canRun(ready)) return ready;
    const temporary = await this.#temporary;
    if (temporary && isProgram(join(temporary, 'chromium'))) return temporary;
    this.#unpacking ??= (async () => {
      try {
        const home = await unpackChromium();
        if (this.#canRun(home)) return home;
      } catch (error) {
        this.#options.log.debug({ err: error }, 'The browser cannot be unpacked beside the packages');
      }
      this.#temporary = unpackTemporarily();
      return this.#temporary;
    })().finally(() => (this.#unpacking = undefined));
    return this.#unpacking;
  }

  /** Returns whether the browser's user can reach the program: the packages may be in a folder that is closed to others. */
  #canRun(home: string): boolean {
    const { account } = this.#options;
    if (account.uid === undefined) return true;
    this.#reachable ??= new Map();
    const known = this.#reachable.get(home);
    if (known !== undefined) return known;
    const script = 'test -x "$0/chromium"';
    const isReachable = spawnSync('/bin/sh', ['-c', script, home], { ...account, cwd: '/', env: {} }).status === 0;
    this.#reachable.set(home, isReachable);
    return isReachable;
  }

  #reachable: Map<string, boolean> | undefined;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
