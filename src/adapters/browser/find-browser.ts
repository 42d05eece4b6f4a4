import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Logger } from 'pino';
import { unavailable } from '../../core/errors.ts';
import type { OnUnpack } from '../../core/pdf-printer.ts';
import { childEnvironment } from '../../core/process-environment.ts';
import type { BrowserAccount } from './browser-account.ts';
import { UnpackedFolder } from './unpacked-folder.ts';

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

/** Finds the browser, and unpacks the package's browser and the fonts if they are not unpacked. */
export class BrowserFinder {
  readonly #options: BrowserOptions;
  readonly #chromium: UnpackedFolder;
  readonly #fonts: UnpackedFolder;

  constructor(options: BrowserOptions) {
    this.#options = options;
    const { account, log } = options;
    const loadChromium = async () => (await import('./unpack-chromium.ts')).chromiumBundle();
    const loadFonts = async () => (await import('./bundled-fonts.ts')).fontsBundle();
    this.#chromium = new UnpackedFolder({ account, log, load: loadChromium });
    this.#fonts = new UnpackedFolder({ account, log, load: loadFonts });
  }

  /**
   * Returns the browser that `CHROMIUM_PATH` names, else the package's, else one of the PATH, with the bundled fonts.
   * Calls `onUnpack` if something must be unpacked first, and when it is. Throws UNAVAILABLE without a browser.
   */
  async find(onUnpack?: OnUnpack): Promise<BrowserProgram> {
    const { path, hasPackage = process.platform === 'linux' && process.arch === 'x64' } = this.#options;
    if (path !== undefined) {
      if (isProgram(path)) return this.#withFonts(path, onUnpack);
      throw unavailable('PDFs cannot be printed: CHROMIUM_PATH does not name a program');
    }
    if (hasPackage) {
      const home = await this.#chromium.find(onUnpack);
      return this.#withFonts(join(home, 'chromium'), onUnpack, { LD_LIBRARY_PATH: join(home, 'lib') });
    }
    const folders = (this.#options.searchPath ?? childEnvironment()['PATH'] ?? '').split(delimiter).filter(Boolean);
    const found = folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isProgram);
    if (found) return this.#withFonts(found, onUnpack);
    throw unavailable('PDFs cannot be printed: this machine has no browser. CHROMIUM_PATH can name a Chromium');
  }

  /** Returns the folder of the bundled fonts. */
  fonts(): Promise<string> {
    return this.#fonts.find();
  }

  /** Removes the files that were unpacked into the temporary folder. */
  async close(): Promise<void> {
    await Promise.all([this.#chromium.close(), this.#fonts.close()]);
  }

  /** Returns a program with an environment in which it has the bundled fonts only, whatever the language of the machine. */
  async #withFonts(
    path: string,
    onUnpack: OnUnpack | undefined,
    more: NodeJS.ProcessEnv = {},
  ): Promise<BrowserProgram> {
    const fonts = { FONTCONFIG_FILE: join(await this.#fonts.find(onUnpack), 'fonts.xml'), LC_ALL: 'C.UTF-8' };
    return { path, environment: { ...childEnvironment(), ...fonts, ...more } };
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
