import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * What may happen to a bulk request: it is rejected (`429`, `503`), interrupted (`cut`), executed without a response
 * (`unanswered`), executed for half of its rows with an error for each of the others (`half`), acknowledged but not
 * executed (`forgotten`), or left without a response (`hang`).
 */
export type Mishap = '429' | '503' | 'cut' | 'unanswered' | 'half' | 'forgotten' | 'hang' | 'none';

export interface Seen {
  method: string;
  path: string;
  authorization?: string;
  body: string;
}

/** A real engine behind a wire that is none too good. */
export class UnsteadyProxy {
  /** What happens to the next bulk requests, one after the other; later ones pass. */
  mishaps: Mishap[] = [];
  readonly seen: Seen[] = [];
  /** Called when a bulk request arrives. */
  onBulk: () => void = () => {};
  readonly #target: string;
  readonly #server = createServer((incoming, response) => {
    void this.#answer(incoming, response).catch(() => response.destroy());
  });
  #port = 0;

  constructor(target: string) {
    this.#target = target;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens, after `close` on the same port. */
  async open(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Stops listening. Open connections are closed, new ones are refused. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = incoming.url!;
    const mishap = path.includes('/_bulk') ? this.mishaps.shift() : undefined;
    if (path.includes('/_bulk')) this.onBulk();
    if (mishap === 'hang') return;
    if (mishap === 'cut') return void incoming.once('data', () => incoming.destroy());
    const body = await buffer(incoming);
    this.seen.push({
      method: incoming.method!,
      path,
      ...(incoming.headers.authorization && { authorization: incoming.headers.authorization }),
      body: body.toString().slice(0, 10_000),
    });
    if (mishap === '429' || mishap === '503')
      return void response.writeHead(Number(mishap), { 'content-type': 'application/json' }).end(
        JSON.stringify({
          error: { type: 'es_rejected_execution_exception', reason: 'busy' },
          status: Number(mishap),
        }),
      );
    if (mishap === 'forgotten')
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ errors: false }));
    if (mishap === 'half') return this.#half(incoming, body, response);
    const answer = await this.#forward(incoming, body);
    if (mishap === 'unanswered') return void response.destroy();
    response.writeHead(answer.status, answer.headers).end(answer.body);
  }

  /** Returns the engine's response for the first half of the rows, and an error for each other row. */
  async #half(incoming: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    const lines = body.toString().trimEnd().split('\n');
    const rows = lines.length / 2;
    const taken = Math.floor(rows / 2);
    const answer = await this.#forward(incoming, Buffer.from(`${lines.slice(0, 2 * taken).join('\n')}\n`));
    const { items } = JSON.parse(answer.body.toString()) as { items: object[] };
    const refused = Array.from({ length: rows - taken }, () => ({
      index: { status: 429, error: { type: 'es_rejected_execution_exception', reason: 'busy' } },
    }));
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ errors: true, items: [...items, ...refused] }));
  }

  async #forward(
    incoming: IncomingMessage,
    body: Buffer,
  ): Promise<{ status: number; headers: IncomingMessage['headers']; body: Buffer }> {
    const { 'transfer-encoding': _, authorization: __, ...headers } = incoming.headers;
    const asked = request(`${this.#target}${incoming.url}`, {
      method: incoming.method,
      headers: { ...headers, 'content-length': body.length },
    });
    asked.end(body);
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    return { status: answer.statusCode!, headers: answer.headers, body: await buffer(answer) };
  }
}
