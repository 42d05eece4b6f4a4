import { EventEmitter } from 'node:events';
import pg from 'pg';

/** Milliseconds between two looks whether the connection still answers. */
const PULSE = 15_000;

/**
 * One connection that listens for NOTIFY on behalf of the whole process. Notifications carry ids only; whoever hears one reads the row again.
 * After a reconnect, `resync` says that some may have been missed: every listener then reads its row again.
 */
export class Listener {
  readonly #url: string;
  readonly #channels: readonly string[];
  readonly #events = new EventEmitter().setMaxListeners(0);
  #client: pg.Client | null = null;
  #closed = false;
  #retry: NodeJS.Timeout | null = null;
  #pulse: NodeJS.Timeout | null = null;

  constructor(url: string, channels: readonly string[]) {
    this.#url = url;
    this.#channels = channels;
  }

  /** Whether notifications arrive at present. */
  get connected(): boolean {
    return this.#client !== null;
  }

  async start(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'dws listener',
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
      query_timeout: 10_000,
    });
    client.on('error', () => this.#lost(client));
    client.on('end', () => this.#lost(client));
    client.on('notification', ({ channel, payload }) => this.#events.emit(channel, payload ?? ''));
    try {
      await client.connect();
      for (const channel of this.#channels) await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      client.end().catch(() => {});
      throw error;
    }
    if (this.#closed) return client.end();
    this.#client = client;
    this.#pulse ??= setInterval(() => this.#check(), PULSE).unref();
    this.#events.emit('resync');
  }

  /** A connection that went silent would hide what happens, so it is asked now and then. */
  #check(): void {
    const client = this.#client;
    client?.query('select 1').catch(() => this.#lost(client));
  }

  /** Calls `heard` with the payload of each notification on the channel; answers how to stop. */
  on(channel: string, heard: (payload: string) => void): () => void {
    this.#events.on(channel, heard);
    return () => this.#events.off(channel, heard);
  }

  /** Lets this process hear at once what Postgres tells every process a moment later. */
  notifyLocally(channel: string, payload: string): void {
    this.#events.emit(channel, payload);
  }

  /** Calls `heard` after each (re)connect. */
  onResync(heard: () => void): () => void {
    return this.on('resync', heard);
  }

  #lost(client: pg.Client): void {
    if (this.#client !== client && this.#client !== null) return;
    this.#client = null;
    client.end().catch(() => {});
    this.#again();
  }

  #again(): void {
    if (this.#closed || this.#retry) return;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      this.start().catch(() => this.#again());
    }, 250);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#retry) clearTimeout(this.#retry);
    if (this.#pulse) clearInterval(this.#pulse);
    await this.#client?.end().catch(() => {});
  }
}
