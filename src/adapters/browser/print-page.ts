import { badInput, tooLarge, upstreamFailed } from '../../core/errors.ts';
import { MAX_PDF_BYTES } from '../../core/pdf-printer.ts';
import { DevToolsError, type DevTools, type DevToolsEvent } from './devtools.ts';

const PIECE_BYTES = 2 ** 20;

/** Everything that a page needs is in it. Its links may have a base, which does not cause a request. */
const POLICY = "default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline' data:";
/** A document type of the document itself is ignored after this one. */
const PREFIX = `<!doctype html><meta http-equiv="Content-Security-Policy" content="${POLICY}">`;

/** Waits for fonts and pictures. Returns the number of pictures that cannot be shown. */
const READY = `(async () => {
  if (document.fonts.size > 0) { document.documentElement.getBoundingClientRect(); await document.fonts.ready; }
  const shown = await Promise.all([...document.images].map((image) => image.decode().then(() => 0, () => 1)));
  return shown.reduce((sum, n) => sum + n, 0);
})()`;

/** A page to print. */
export interface PageJob {
  html: string;
  /** Title of a page that has none. */
  title?: string | undefined;
  /** Parameters of `Page.printToPDF`. */
  parameters: Readonly<Record<string, unknown>>;
  /** Maximum size of the PDF. Default: `MAX_PDF_BYTES`. */
  maxBytes?: number;
  /** The error if a picture of the page cannot be shown. By default such pictures remain empty. */
  brokenPicture?: () => Error;
}

/**
 * Prints a page in a browser context of its own, without scripts, network and files. Throws BAD_USER_INPUT for a page that
 * leads to another page, PAYLOAD_TOO_LARGE for a PDF past its maximum size, and UPSTREAM_FAILED if the browser fails. After an
 * error the context may still exist: end the browser.
 */
export async function printPage(devTools: DevTools, job: PageJob): Promise<Buffer> {
  const { browserContextId } = await devTools.send<{ browserContextId: string }>('Target.createBrowserContext');
  const { targetId } = await devTools.send<{ targetId: string }>('Target.createTarget', {
    url: 'about:blank',
    browserContextId,
  });
  const { sessionId } = await devTools.send<{ sessionId: string }>('Target.attachToTarget', {
    targetId,
    flatten: true,
  });
  const page = new PrintedPage(devTools, sessionId);
  try {
    const content = await page.print(job);
    await devTools.send('Target.disposeBrowserContext', { browserContextId });
    return content;
  } catch (error) {
    throw error instanceof DevToolsError ? clientErrorOf(error, 'displayHeaderFooter' in job.parameters) : error;
  } finally {
    page.close();
  }
}

const leadsAway = (cause?: Error): Error =>
  badInput('The document leads to another page, e.g. by a refresh, so it cannot be printed', { cause });

/**
 * Returns the error for an error of the browser. Its process ends at header and footer templates with style sheets or
 * fonts.
 */
function clientErrorOf(error: DevToolsError, hasTemplates: boolean): Error {
  if (error.message.includes('content area is empty'))
    return badInput('The margins leave no space on the page', { cause: error });
  if (/\bcontext\b|\bframe\b/i.test(error.message)) return leadsAway(error);
  const hint = hasTemplates ? '. Header and footer can load nothing but pictures in data URLs' : '';
  return upstreamFailed(`The browser could not print the document: ${error.message}${hint}`, { cause: error });
}

/** The session of one page. */
class PrintedPage {
  readonly #devTools: DevTools;
  readonly #sessionId: string;
  readonly close: () => void;
  #hasContent = false;
  #failure: Error | undefined;

  constructor(devTools: DevTools, sessionId: string) {
    this.#devTools = devTools;
    this.#sessionId = sessionId;
    this.close = devTools.listen((event) => {
      if (event.sessionId === sessionId) this.#handle(event);
    });
  }

  async print({ html, title, parameters, brokenPicture, maxBytes = MAX_PDF_BYTES }: PageJob): Promise<Buffer> {
    const frameId = await this.#isolate();
    this.#hasContent = true;
    const content = { frameId, html: PREFIX + html.replace(/^\ufeff/, '') };
    const loaded = this.#devTools.receive('Page.loadEventFired', this.#sessionId);
    await Promise.all([this.#send('Page.setDocumentContent', content), loaded]);
    const world = await this.#send<{ executionContextId: number }>('Page.createIsolatedWorld', { frameId });
    const contextId = world.executionContextId;
    const evaluate = (expression: string) =>
      this.#send<{ result: { value?: number } }>('Runtime.evaluate', {
        contextId,
        expression,
        awaitPromise: true,
        returnByValue: true,
      });
    if (title !== undefined) await evaluate(`void (document.title ||= ${JSON.stringify(title)})`);
    const { result } = await evaluate(READY);
    if (brokenPicture && result.value !== 0) throw brokenPicture();
    const { stream } = await this.#send<{ stream: string }>('Page.printToPDF', {
      ...parameters,
      transferMode: 'ReturnAsStream',
      printBackground: true,
      preferCSSPageSize: true,
      generateTaggedPDF: true,
      generateDocumentOutline: true,
    });
    // The context is lost if another page was printed.
    await evaluate('0');
    return this.#read(stream, maxBytes);
  }

  /** Forbids scripts and requests. Returns the id of the frame. */
  async #isolate(): Promise<string> {
    const offline = { offline: true, latency: 0, downloadThroughput: 0, uploadThroughput: 0 };
    const [{ frameTree }] = await Promise.all([
      this.#send<{ frameTree: { frame: { id: string } } }>('Page.getFrameTree'),
      this.#send('Inspector.enable'),
      this.#send('Page.enable'),
      this.#send('Emulation.setScriptExecutionDisabled', { value: true }),
      this.#send('Emulation.setEmulatedMedia', { media: 'print' }),
      this.#send('Network.emulateNetworkConditions', offline),
      this.#send('Fetch.enable', { patterns: [{ urlPattern: '*' }] }),
    ]);
    return frameTree.frame.id;
  }

  async #send<R = unknown>(method: string, params: object = {}): Promise<R> {
    // No call may have been open when it occurred.
    if (this.#failure) throw this.#failure;
    return this.#devTools.send<R>(method, params, this.#sessionId);
  }

  #handle({ method, params }: DevToolsEvent): void {
    if (method === 'Fetch.requestPaused') this.#refuse(params as { requestId: string; request: { url: string } });
    else if (
      method === 'Page.frameNavigated' &&
      this.#hasContent &&
      !(params['frame'] as { parentId?: string }).parentId
    )
      this.#fail(leadsAway());
    else if (method === 'Inspector.targetCrashed') this.#fail(upstreamFailed('The browser failed on the document'));
  }

  /** Ends a request. Aborted, it leaves the page as it is. */
  #refuse({ requestId, request }: { requestId: string; request: { url: string } }): void {
    const response = request.url.startsWith('data:')
      ? this.#send('Fetch.continueRequest', { requestId })
      : this.#send('Fetch.failRequest', { requestId, errorReason: 'Aborted' });
    // The page may have ended.
    response.catch(() => {});
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#devTools.failSession(this.#sessionId, error);
  }

  async #read(handle: string, maxBytes: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let bytes = 0; ;) {
      const piece = await this.#send<{ data: string; base64Encoded?: boolean; eof: boolean }>('IO.read', {
        handle,
        size: PIECE_BYTES,
      });
      const data = Buffer.from(piece.data, piece.base64Encoded ? 'base64' : 'latin1');
      pieces.push(data);
      if ((bytes += data.length) > maxBytes) throw tooLarge(`The PDF has more than ${maxBytes / 1e6} MB`);
      if (piece.eof) return Buffer.concat(pieces);
    }
  }
}
