import type { Logger } from 'pino';
import { abortable } from '../../core/abortable.ts';
import { upstreamFailed } from '../../core/errors.ts';
import type { OnUnpack } from '../../core/pdf-printer.ts';
import { withTimeout } from '../../core/with-timeout.ts';
import type { BrowserAccount } from './browser-account.ts';
import { BrowserProcess } from './browser-process.ts';
import type { BrowserProgram } from './find-browser.ts';

/** Milliseconds after which an unused browser is ended. */
const IDLE_MS = 60_000;
/** A browser starts in 0.2 s, and for the first time after its installation in a few seconds. */
const START_MS = 20_000;
/** Message of a browser that cannot isolate its pages, because the machine forbids namespaces. */
const NO_SANDBOX = /no usable sandbox|namespace|suid sandbox/i;

interface PoolOptions {
  find(onUnpack?: OnUnpack): Promise<BrowserProgram>;
  account: BrowserAccount;
  log: Logger;
}

const ended = () => new Error('The browser is no longer needed');

/** Starts browsers, and keeps one that is not in use for the next print of the same tenant. */
export class BrowserPool {
  readonly #options: PoolOptions;
  #idle: { browser: BrowserProcess; tenantId: string; timer: NodeJS.Timeout } | undefined;
  /** Whether browsers isolate their pages; undefined before the first one has started. */
  #hasSandbox: boolean | undefined;
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /**
   * Returns a browser that only this tenant has used. The caller returns it or ends it. Calls `onUnpack` if the browser
   * must be unpacked first.
   */
  async take(tenantId: string, signal: AbortSignal, onUnpack?: OnUnpack): Promise<BrowserProcess> {
    const idle = this.#takeIdle();
    if (idle?.tenantId === tenantId && idle.browser.isRunning) {
      idle.browser.setRef(true);
      return idle.browser;
    }
    await end(idle?.browser);
    const program = await abortable(this.#options.find(onUnpack), signal);
    if (this.#hasSandbox !== undefined) return this.#start(program, this.#hasSandbox, signal);
    try {
      const browser = await this.#start(program, true, signal);
      this.#hasSandbox = true;
      return browser;
    } catch (error) {
      if (signal.aborted || !NO_SANDBOX.test(String((error as Error).cause))) throw error;
    }
    const browser = await this.#start(program, false, signal);
    if (this.#hasSandbox === undefined)
      this.#options.log.warn(
        'PDFs are printed without the sandbox of Chromium, because this machine permits no user namespaces',
      );
    this.#hasSandbox = false;
    return browser;
  }

  /** Takes back a browser that is as it was before, and ends the one that is kept. */
  async giveBack(tenantId: string, browser: BrowserProcess): Promise<void> {
    const former = this.#takeIdle()?.browser;
    if (this.#isClosed) await end(browser);
    else {
      browser.setRef(false);
      const timer = setTimeout(() => void end(this.#takeIdle()?.browser), IDLE_MS).unref();
      this.#idle = { browser, tenantId, timer };
    }
    await end(former);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await end(this.#takeIdle()?.browser);
  }

  #takeIdle() {
    const idle = this.#idle;
    clearTimeout(idle?.timer);
    this.#idle = undefined;
    return idle;
  }

  /** Starts a browser. Throws UPSTREAM_FAILED, with the end of its stderr in the cause. */
  async #start(program: BrowserProgram, hasSandbox: boolean, signal: AbortSignal): Promise<BrowserProcess> {
    const browser = new BrowserProcess({ program, account: this.#options.account, hasSandbox });
    browser.setRef(true);
    try {
      await withTimeout(
        START_MS,
        () => new Error(`It does not respond in ${START_MS} ms`),
        [signal],
        (stop) => abortable(browser.devTools.send('Browser.getVersion'), stop),
      );
      return browser;
    } catch (error) {
      await end(browser);
      if (signal.aborted) throw signal.reason;
      const cause = error instanceof Error ? (error.cause ?? error) : error;
      throw upstreamFailed('The browser could not be started', { cause });
    }
  }
}

async function end(browser: BrowserProcess | undefined): Promise<void> {
  browser?.kill(ended());
  await browser?.ended;
}
