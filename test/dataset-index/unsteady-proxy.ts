import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * A fault in the handling of a bulk request:
 *
 * - `429`, `503`: the proxy refuses the request.
 * - `cut`: the connection breaks while the request is sent.
 * - `unanswered`: the engine executes the request, and the connection breaks before the response.
 * - `half`: the engine executes the first half, and the proxy refuses each of the other items.
 * - `forgotten`: the proxy acknowledges the request and discards it.
 * - `hang`: the request gets no response.
 */
export type ProxyFault = '429' | '503' | 'cut' | 'unanswered' | 'half' | 'forgotten' | 'hang' | 'none';

/** A request that arrived at the proxy. */
export interface SeenRequest {
  method: string;
  path: string;
  authorization?: string;
  body: string;
}

/** An HTTP proxy in front of a real engine that injects faults. */
export class UnsteadyProxy {
  /** The faults of the next bulk requests, in order. Later requests pass. */
  faults: ProxyFault[] = [];
  readonly requests: SeenRequest[] = [];
  /** Called when a bulk request arrives. */
  onBulk: () => void = () => {};
  readonly #target: string;
  readonly #server = createServer((incoming, response) => {
    void this.#respond(incoming, response).catch(() => response.destroy());
  });
  #port = 0;

  constructor(target: string) {
    this.#target = target;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens, on the same port as before. */
  async open(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Stops listening: open connections break, new ones are refused. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #respond(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = incoming.url!;
    const fault = path.includes('/_bulk') ? this.faults.shift() : undefined;
    if (path.includes('/_bulk')) this.onBulk();
    if (fault === 'hang') return;
    if (fault === 'cut') return void incoming.once('data', () => incoming.destroy());
    const body = await buffer(incoming);
    this.requests.push({
      method: incoming.method!,
      path,
      ...(incoming.headers.authorization && { authorization: incoming.headers.authorization }),
      body: body.toString().slice(0, 10_000),
    });
    if (fault === '429' || fault === '503')
      return void response.writeHead(Number(fault), { 'content-type': 'application/json' }).end(
        JSON.stringify({
          error: { type: 'es_rejected_execution_exception', reason: 'busy' },
          status: Number(fault),
        }),
      );
    if (fault === 'forgotten')
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ errors: false }));
    if (fault === 'half') return this.#respondToHalf(incoming, body, response);
    const reply = await this.#forward(incoming, body);
    if (fault === 'unanswered') return void response.destroy();
    response.writeHead(reply.status, reply.headers).end(reply.body);
  }

  /** Responds with the engine's items for the first half of the rows, and with refusals for the others. */
  async #respondToHalf(incoming: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    const lines = body.toString().trimEnd().split('\n');
    const rows = lines.length / 2;
    const accepted = Math.floor(rows / 2);
    const reply = await this.#forward(incoming, Buffer.from(`${lines.slice(0, 2 * accepted).join('\n')}\n`));
    const { items } = JSON.parse(reply.body.toString()) as { items: object[] };
    const refused = Array.from({ length: rows - accepted }, () => ({
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
    const forwarded = request(`${this.#target}${incoming.url}`, {
      method: incoming.method,
      headers: { ...headers, 'content-length': body.length },
    });
    forwarded.end(body);
    const [reply] = (await once(forwarded, 'response')) as [IncomingMessage];
    return { status: reply.statusCode!, headers: reply.headers, body: await buffer(reply) };
  }
}
