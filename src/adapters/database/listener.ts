import { EventEmitter } from 'node:events';
import pg from 'pg';

const CHECK_INTERVAL_MS = 1_000;
/** Age of the newest successful check from which notifications may be missing. */
const MAX_CHECK_AGE_MS = 3_000;
const RECONNECT_DELAY_MS = 250;

/**
 * The one connection of the process that listens for NOTIFY. A payload is only an id: subscribers read the row again.
 * After a reconnect some notifications may have been missed, so all subscribers of `onResync` read their rows again.
 */
export class Listener {
  readonly #url: string;
  readonly #channels: readonly string[];
  readonly #events = new EventEmitter().setMaxListeners(0);
  #client: pg.Client | null = null;
  #closed = false;
  #reconnect: NodeJS.Timeout | null = null;
  #check: NodeJS.Timeout | null = null;
  /** When the newest successful check began, by `performance.now()`. */
  #checkedAt = 0;
  #isChecking = false;

  constructor(url: string, channels: readonly string[]) {
    this.#url = url;
    this.#channels = channels;
  }

  /** Whether all notifications that were sent up to three seconds ago have arrived. */
  get connected(): boolean {
    return this.#client !== null && performance.now() - this.#checkedAt < MAX_CHECK_AGE_MS;
  }

  /** Connects and listens to all channels. Throws if Postgres does not respond. */
  async start(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'dws listener',
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
      query_timeout: 10_000,
    });
    client.on('error', () => this.#handleLoss(client));
    client.on('end', () => this.#handleLoss(client));
    client.on('notification', ({ channel, payload }) => this.#events.emit(channel, payload ?? ''));
    let startedAt;
    try {
      await client.connect();
      startedAt = performance.now();
      for (const channel of this.#channels) await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      client.end().catch(() => {});
      throw error;
    }
    if (this.#closed) return client.end();
    this.#client = client;
    this.#checkedAt = startedAt;
    this.#check ??= setInterval(() => void this.#checkConnection(), CHECK_INTERVAL_MS).unref();
    this.#events.emit('resync');
  }

  /**
   * A dead connection may report no error, so it is checked by a query. Postgres sends notifications before the result,
   * so a check that succeeds has delivered all earlier ones.
   */
  async #checkConnection(): Promise<void> {
    const client = this.#client;
    if (!client || this.#isChecking) return;
    const startedAt = performance.now();
    this.#isChecking = true;
    try {
      await client.query('select 1');
      if (this.#client === client) this.#checkedAt = startedAt;
    } catch {
      this.#handleLoss(client);
    } finally {
      this.#isChecking = false;
    }
  }

  /** Calls `callback` with the payload of each notification of a channel. Returns the function that unsubscribes. */
  on(channel: string, callback: (payload: string) => void): () => void {
    this.#events.on(channel, callback);
    return () => this.#events.off(channel, callback);
  }

  /** Delivers a notification within this process immediately. Postgres delivers it to all processes a moment later. */
  notifyLocally(channel: string, payload: string): void {
    this.#events.emit(channel, payload);
  }

  /** Calls `callback` after each connect and reconnect. Returns the function that unsubscribes. */
  onResync(callback: () => void): () => void {
    return this.on('resync', callback);
  }

  #handleLoss(client: pg.Client): void {
    // A client that was lost before may end while another one connects.
    if (this.#client !== client) return;
    this.#client = null;
    client.end().catch(() => {});
    this.#scheduleReconnect();
  }

  #scheduleReconnect(): void {
    if (this.#closed || this.#reconnect) return;
    this.#reconnect = setTimeout(() => {
      this.#reconnect = null;
      this.start().catch(() => this.#scheduleReconnect());
    }, RECONNECT_DELAY_MS);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#reconnect) clearTimeout(this.#reconnect);
    if (this.#check) clearInterval(this.#check);
    await this.#client?.end().catch(() => {});
  }
}
