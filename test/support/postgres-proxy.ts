import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * A proxy to Postgres that can be closed: connections through it break, new ones are refused. It can also stall
 * connections, as a network does that loses every packet.
 */
export class PostgresProxy {
  readonly #sockets = new Set<Socket>();
  /** Connections by the application that their first packet names: both ends of each. */
  readonly #byApplication: { name: string; upstream: Socket; client: Socket }[] = [];
  readonly #target: URL;
  #server: Server | null = null;
  #port = 0;

  constructor(targetUrl: string) {
    this.#target = new URL(targetUrl);
  }

  /** URL of the database through the proxy. */
  get url(): string {
    const url = new URL(this.#target);
    url.port = String(this.#port);
    return url.href;
  }

  /** Listens on the port of the first time. */
  async open(): Promise<void> {
    const server = (this.#server = createServer((client) => {
      const upstream = connect(Number(this.#target.port), '127.0.0.1');
      client.once('data', (packet: Buffer) => {
        const name = /application_name\0([^\0]*)/.exec(packet.toString('latin1'))?.[1] ?? '';
        this.#byApplication.push({ name, upstream, client });
      });
      this.#pipe(client, upstream);
      this.#pipe(upstream, client);
    }));
    await new Promise<void>((resolve) => {
      server.listen(this.#port, '127.0.0.1', resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Stops passing on data from Postgres to an application. Returns the function that continues. */
  stall(application: string): () => void {
    const stalled = this.#byApplication.filter(({ name }) => name === application);
    for (const { upstream, client } of stalled) upstream.unpipe(client);
    return () => {
      for (const { upstream, client } of stalled) upstream.pipe(client);
    };
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server!.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #pipe(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.#sockets.delete(from);
      to.destroy();
    });
    from.pipe(to);
  }
}
