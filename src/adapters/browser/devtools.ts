import type { Readable, Writable } from 'node:stream';

/** Maximum length of a message of the browser, in bytes. Contents are read in pieces that are much shorter. */
const MAX_MESSAGE_BYTES = 32 * 2 ** 20;

/** An event of the browser, or of one of its pages if it has a session. */
export interface DevToolsEvent {
  method: string;
  params: Record<string, unknown>;
  sessionId?: string;
}

interface Message extends Partial<DevToolsEvent> {
  id?: number;
  result?: unknown;
  error?: { message?: string };
}

interface Call {
  sessionId: string | undefined;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** An error that the browser returned for a call. */
export class DevToolsError extends Error {}

/** Client of Chromium's DevTools protocol over a pair of pipes, whose messages end with NUL. */
export class DevTools {
  readonly #input: Writable;
  readonly #calls = new Map<number, Call>();
  readonly #listeners = new Set<(event: DevToolsEvent) => void>();
  readonly #onFailure: (error: Error) => void;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #lastId = 0;
  #isBroken = false;
  #failure: Error | undefined;

  /** `onFailure` is called once when the browser breaks the protocol or closes a pipe. It calls `fail`, then or later. */
  constructor(input: Writable, output: Readable, onFailure: (error: Error) => void) {
    this.#input = input;
    this.#onFailure = onFailure;
    const fail = (error?: Error) => this.#break(error ?? new Error('The browser has closed its pipe'));
    input.on('error', fail);
    output
      .on('error', fail)
      .on('end', () => fail())
      .on('close', () => fail())
      .on('data', (piece: Buffer) => this.#read(piece));
  }

  /** Calls a method of the browser, or of the page of a session. Throws `DevToolsError`, or the error of `fail`. */
  async send<R = unknown>(method: string, params: object = {}, sessionId?: string): Promise<R> {
    const { id, response } = this.#open(sessionId);
    this.#input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return (await response) as R;
  }

  /** Waits for the next event of a page. Throws like `send`. */
  async receive(method: string, sessionId: string): Promise<void> {
    const { id, response } = this.#open(sessionId);
    const stop = this.listen((event) => {
      if (event.method === method && event.sessionId === sessionId) this.#take(id)?.resolve(undefined);
    });
    await response.finally(stop);
  }

  /** Adds a listener of events. Returns the function that removes it. */
  listen(listener: (event: DevToolsEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Rejects the open calls of a session. */
  failSession(sessionId: string, error: Error): void {
    for (const [id, call] of this.#calls) if (call.sessionId === sessionId) this.#take(id)?.reject(error);
  }

  /** Rejects all open and later calls. The first error stays. */
  fail(error: Error): void {
    this.#failure ??= error;
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of calls) call.reject(this.#failure);
    this.#pieces = [];
  }

  /** Opens a call. Throws the error of a browser that has failed. */
  #open(sessionId: string | undefined): { id: number; response: Promise<unknown> } {
    if (this.#failure) throw this.#failure;
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#calls.set(id, { sessionId, resolve, reject });
    return { id, response: promise };
  }

  /** Removes and returns an open call; undefined if it has ended. */
  #take(id: number): Call | undefined {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    return call;
  }

  #break(error: Error): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#pieces = [];
    this.#onFailure(error);
  }

  /** Takes a piece of the stream, which may contain the end of one message and the beginning of another one. */
  #read(piece: Buffer): void {
    let begin = 0;
    for (let end = piece.indexOf(0); end !== -1 && !this.#isBroken; end = piece.indexOf(0, begin)) {
      this.#pieces.push(piece.subarray(begin, end));
      const text = Buffer.concat(this.#pieces).toString('utf8');
      [this.#pieces, this.#bytes, begin] = [[], 0, end + 1];
      this.#receive(text);
    }
    if (this.#isBroken) return;
    this.#pieces.push(piece.subarray(begin));
    this.#bytes += piece.length - begin;
    if (this.#bytes > MAX_MESSAGE_BYTES) this.#break(new Error(`A message has more than ${MAX_MESSAGE_BYTES} bytes`));
  }

  #receive(text: string): void {
    let message: Message;
    try {
      message = JSON.parse(text) as Message;
    } catch (error) {
      this.#break(new Error('A message is not JSON', { cause: error }));
      return;
    }
    if (message.id === undefined) {
      const { method = '', params = {}, sessionId } = message;
      for (const listener of this.#listeners) listener({ method, params, ...(sessionId && { sessionId }) });
      return;
    }
    // A call may have failed before its response.
    const call = this.#take(message.id);
    if (message.error) call?.reject(new DevToolsError(message.error.message));
    else call?.resolve(message.result);
  }
}
