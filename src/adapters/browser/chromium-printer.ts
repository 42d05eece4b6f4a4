import type { Logger } from 'pino';
import { abortable } from '../../core/abortable.ts';
import { timedOut, unavailable, upstreamFailed } from '../../core/errors.ts';
import { FairGate } from '../../core/fair-gate.ts';
import type { PdfDocument, PdfPrinter, PrintedPdf } from '../../core/pdf-printer.ts';
import { withTimeout } from '../../core/with-timeout.ts';
import { browserAccount } from './browser-account.ts';
import { watchMemory } from './browser-memory.ts';
import { BrowserPool } from './browser-pool.ts';
import type { BrowserProcess } from './browser-process.ts';
import { BrowserFinder } from './find-browser.ts';
import { letterheadPage } from './letterhead-page.ts';
import { layLetterhead } from './letterhead.ts';
import { countPages } from './page-count.ts';
import { printPage } from './print-page.ts';
import { printParameters } from './print-parameters.ts';

/** Each print is a browser with up to 1.5 GB. */
const GATE = FairGate.shared({ places: 2, maxWaiting: 200, taskNoun: 'PDFs' });
/** Maximum time of a print, from its place to its end. */
const PRINT_MS = 60_000;
/** Maximum memory of the browser of one print. */
const MAX_MEMORY_BYTES = 1.5e9;
const WATCH_MS = 250;

/** The pages that a browser prints for a document. */
interface Prints {
  printed: Buffer;
  /** The letterhead as a PDF. */
  letterhead: Uint8Array | null;
}

interface PrinterOptions {
  /** Path of the browser that the operator chose (`CHROMIUM_PATH`). */
  path: string | undefined;
  log: Logger;
  /** Default: 60 s. */
  printMs?: number;
  /** Default: `MAX_PDF_BYTES`. */
  maxBytes?: number;
}

/** Returns the printer of this process. Nothing is started or unpacked before the first print. */
export const openPdfPrinter = (options: PrinterOptions): PdfPrinter => new ChromiumPrinter(options);

/**
 * Prints with Chromium. Each print has a browser for itself, so that one that hangs or takes too much memory ends alone, and
 * the browser with it. One browser that printed well is kept for a minute for the next print of the same tenant.
 */
class ChromiumPrinter implements PdfPrinter {
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #finder: BrowserFinder;
  readonly #pool: BrowserPool;
  readonly #printMs: number;
  readonly #maxBytes: number | undefined;

  constructor({ path, log, printMs = PRINT_MS, maxBytes }: PrinterOptions) {
    const account = browserAccount();
    this.#finder = new BrowserFinder({ path, account, log });
    this.#pool = new BrowserPool({ find: (onUnpack) => this.#finder.find(onUnpack), account, log });
    this.#printMs = printMs;
    this.#maxBytes = maxBytes;
  }

  async print(document: PdfDocument): Promise<PrintedPdf> {
    const parameters = printParameters(document);
    const picture = document.letterhead ? letterheadPage(document.letterhead) : null;
    const limit = this.#maxBytes === undefined ? {} : { maxBytes: this.#maxBytes };
    const signals = [document.signal, this.#closing.signal];
    const timeoutError = () => timedOut(`The PDF takes longer than ${this.#printMs / 1000} seconds to print`);
    const work = async (signal: AbortSignal): Promise<PrintedPdf> => {
      const { printed, letterhead } = await this.#inBrowser(document, signal, async ({ devTools }) => ({
        letterhead: picture ? await printPage(devTools, picture) : (document.letterhead?.content ?? null),
        printed: await printPage(devTools, { html: document.html, title: document.title, parameters, ...limit }),
      }));
      const pages = countPages(printed);
      if (pages === null) throw upstreamFailed('The browser printed a PDF of an unknown form');
      return { content: letterhead ? await layLetterhead(printed, letterhead, signal) : printed, pages };
    };
    const running = GATE.run(document.caller, AbortSignal.any(signals), () =>
      withTimeout(this.#printMs, timeoutError, signals, work),
    );
    this.#running.add(running);
    return running.finally(() => this.#running.delete(running));
  }

  async loadCharacters(): Promise<ReadonlySet<number>> {
    const { readCharacters } = await import('./bundled-fonts.ts');
    return readCharacters(await this.#finder.fonts());
  }

  async close(): Promise<void> {
    this.#closing.abort(unavailable('The service is stopping'));
    await Promise.allSettled(this.#running);
    await this.#pool.close();
    await this.#finder.close();
  }

  /** Runs work with a browser, which ends if the work fails, the signal aborts or it takes too much memory. */
  async #inBrowser(
    { caller: { tenantId }, onUnpack }: PdfDocument,
    signal: AbortSignal,
    work: (browser: BrowserProcess) => Promise<Prints>,
  ) {
    const browser = await this.#pool.take(tenantId, signal, onUnpack);
    const stop = () => browser.kill(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    const unwatch = watchMemory(browser.devTools, MAX_MEMORY_BYTES, WATCH_MS, () =>
      browser.kill(upstreamFailed(`The PDF needs more than ${MAX_MEMORY_BYTES / 1e9} GB of memory to print`)),
    );
    try {
      signal.throwIfAborted();
      const prints = await abortable(work(browser), signal);
      await this.#pool.giveBack(tenantId, browser);
      return prints;
    } catch (error) {
      browser.kill(error as Error);
      await browser.ended;
      throw error;
    } finally {
      unwatch();
      signal.removeEventListener('abort', stop);
    }
  }
}
