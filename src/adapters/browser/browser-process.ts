import { spawn, type ChildProcess } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { upstreamFailed } from '../../core/errors.ts';
import { lowerProcessPriority } from '../process/priority.ts';
import type { BrowserAccount } from './browser-account.ts';
import { DevTools } from './devtools.ts';
import type { BrowserProgram } from './find-browser.ts';

/** Maximum length of the end of a browser's stderr in an error. */
const MAX_STDERR_LENGTH = 4000;

/** Milliseconds for the last output of a browser that has ended. */
const CLOSE_MS = 1000;

/** Flags of the browser. Nothing but printing: no network, accounts, updates, reports, sound or graphics card. */
export const FLAGS = [
  '--headless',
  '--remote-debugging-pipe',
  '--no-first-run',
  '--no-default-browser-check',
  '--no-pings',
  '--no-service-autorun',
  '--disable-background-networking',
  '--disable-breakpad',
  '--disable-client-side-phishing-detection',
  '--disable-component-update',
  '--disable-default-apps',
  // Containers have a small /dev/shm.
  '--disable-dev-shm-usage',
  '--disable-domain-reliability',
  '--disable-extensions',
  '--disable-gpu',
  '--disable-sync',
  '--disable-features=DialMediaRouteProvider,MediaRouter,OptimizationHints,Translate',
  '--font-render-hinting=none',
  '--hide-scrollbars',
  // Text without a language has the same fonts on each machine.
  '--lang=en-US',
  // No host has an address.
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--metrics-recording-only',
  '--mute-audio',
  '--password-store=basic',
  '--use-mock-keychain',
];

/** How a browser is started. */
export interface BrowserStart {
  program: BrowserProgram;
  account: BrowserAccount;
  /** Whether the browser isolates its pages in namespaces, which not every machine permits. */
  hasSandbox: boolean;
}

/** A running browser: a process group with its own folder, which ends with this process in any case. */
export class BrowserProcess {
  readonly devTools: DevTools;
  /** Resolves when the browser has ended. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  readonly #folder: string;
  #stderrTail = '';

  constructor({ program, account, hasSandbox }: BrowserStart) {
    this.#folder = createFolder(account);
    const child = startBrowser(program, account, hasSandbox, this.#folder);
    this.#child = child;
    (child.stderr as Socket).setEncoding('utf8').on('data', (text: string) => {
      this.#stderrTail = (this.#stderrTail + text).slice(-MAX_STDERR_LENGTH);
    });
    this.ended = this.#awaitEnd(child);
    const [, , , input, output] = child.stdio as [unknown, unknown, unknown, Writable, Readable];
    this.devTools = new DevTools(input, output, (error) => this.#killBroken(error));
    if (child.pid !== undefined) prepareProcess(child, account, this.#folder);
    this.setRef(false);
  }

  /** The id of the first process, which is also the id of the group. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isRunning(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Ends the browser immediately. Its open calls fail with this error. */
  kill(error: Error): void {
    this.devTools.fail(error);
    if (!this.isRunning) return;
    // This process waits for the end.
    this.#child.ref();
    killGroup(this.pid!);
  }

  /** Sets whether the browser keeps this process running. */
  setRef(keeps: boolean): void {
    for (const handle of [this.#child, ...(this.#child.stdio as (Socket | null)[])])
      if (keeps) handle?.ref();
      else handle?.unref();
  }

  /**
   * Ends a browser that broke the protocol or closed a pipe. Its calls fail when it has ended, with its last output.
   */
  #killBroken(error: Error): void {
    this.#stderrTail += `\n${error.message}`;
    if (this.isRunning) killGroup(this.pid!);
  }

  async #awaitEnd(child: ChildProcess): Promise<void> {
    const closed = new Promise((resolve) => child.once('close', resolve));
    const reason = await new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(signal ?? `status ${code}`));
    });
    // Its other processes end with the first one, but a moment later.
    if (child.pid !== undefined) killGroup(child.pid);
    await Promise.race([closed, sleep(CLOSE_MS)]);
    this.devTools.fail(
      upstreamFailed('The browser ended unexpectedly', { cause: new Error(`${reason}: ${this.#stderrTail}`) }),
    );
    for (const stream of child.stdio) stream?.destroy();
    removeFolder(this.#folder);
  }
}

/** Creates the folder of a browser, which only its user can enter. */
function createFolder({ uid, gid }: BrowserAccount): string {
  const folder = mkdtempSync(join(tmpdir(), 'dws-browser-'));
  try {
    if (uid !== undefined) chownSync(folder, uid, gid!);
    return folder;
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw upstreamFailed('The browser could not be started', { cause: error });
  }
}

/** Starts the browser in a process group of its own, which Ctrl-C does not reach. */
function startBrowser(program: BrowserProgram, account: BrowserAccount, hasSandbox: boolean, folder: string) {
  const flags = [...FLAGS, `--user-data-dir=${folder}`, ...(hasSandbox ? [] : ['--no-sandbox'])];
  return spawn(program.path, flags, {
    ...account,
    cwd: '/',
    detached: true,
    env: { ...program.environment, HOME: folder, TMPDIR: folder, XDG_CACHE_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
  });
}

/**
 * Lowers the priority of a started browser, and lets the kernel end it first when memory is short. A shell waits for the end
 * of a pipe that only this process has open, which the kernel closes in any case, and then ends the browser and removes
 * its folder.
 */
function prepareProcess(child: ChildProcess, account: BrowserAccount, folder: string): void {
  lowerProcessPriority(child.pid);
  try {
    writeFileSync(`/proc/${child.pid}/oom_score_adj`, '1000');
  } catch {
    // It has ended, or the system has no such file.
  }
  const script = 'read -r _; kill -s KILL -- "-$0"; sleep 0.2; rm -rf -- "$1"';
  const watchdog = spawn('/bin/sh', ['-c', script, String(child.pid), folder], {
    ...account,
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watchdog.on('error', () => {});
  watchdog.unref();
  (watchdog.stdin as Socket | null)?.unref();
  // After the end of the browser its process id may be reused.
  child.once('exit', () => watchdog.kill('SIGKILL'));
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of its processes have ended.
  }
}

/** Removes a folder, in which a process may write in the moment of its end. */
function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  } catch {
    // The system removes old files of its temporary folder.
  }
}
