import { LRUCache } from 'lru-cache';
import { CHANNELS } from '../../core/operations.ts';
import type { Platform } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';
import {
  digest,
  findViewer,
  SESSION_ABSOLUTE,
  SESSION_SLIDING,
  type Credential,
  type Identified,
} from './credential.ts';

const MINUTE = 60_000;
/** Timers of Node hold no more than this many milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** What somebody who holds a credential for long is told: that their rights changed, or that it is over. */
export interface Holder {
  changed?(viewer: Viewer): void;
  ended(): void;
}

/** Finds who a credential belongs to. Answers are kept for a minute and forgotten as soon as Postgres tells of a change of that user. */
export class Authenticator {
  readonly #platform: Pick<Platform, 'system' | 'notifications' | 'log'>;
  readonly #known = new LRUCache<string, Identified>({ max: 10_000, ttl: MINUTE });
  readonly #listeners = new Map<string, Set<() => void>>();
  /** Counts what was heard: an answer that was under way meanwhile may be out of date already. */
  #changes = 0;

  constructor(platform: Pick<Platform, 'system' | 'notifications' | 'log'>) {
    this.#platform = platform;
    platform.notifications.on(CHANNELS.credential, (userId) => this.#changed(userId));
    platform.notifications.onResync(() => this.#missed());
  }

  /** The viewer of a valid credential, otherwise null. `beforeLookup` is called when the database must be asked; it may throw. */
  async viewer(credential: Credential, beforeLookup?: () => void): Promise<Viewer | null> {
    const key = `${credential.method}:${digest(credential.secret)}`;
    const known = this.#known.get(key);
    if (known && this.#platform.notifications.connected && stillValid(known.viewer))
      return this.#used(credential.method, known);
    beforeLookup?.();
    const changes = this.#changes;
    const entry = await findViewer(this.#platform.system, credential);
    if (!entry) return null;
    if (changes === this.#changes) this.#known.set(key, entry);
    return this.#used(credential.method, entry);
  }

  /** Looks after a credential that a socket or stream holds on to, until it is no longer valid. Answers how to stop. */
  watch(credential: Credential, viewer: Viewer, holder: Holder): () => void {
    let timer: NodeJS.Timeout | undefined;
    let stopped = false;
    const look = () =>
      void this.viewer(credential).then(
        (now) => {
          if (stopped) return;
          if (!now) return holder.ended();
          holder.changed?.(now);
          arm(now);
          // While Postgres is away nobody knows better; after the reconnect everybody is looked at.
        },
        () => undefined,
      );
    const arm = ({ expiresAt }: Viewer) => {
      clearTimeout(timer);
      if (expiresAt)
        timer = setTimeout(look, Math.min(Math.max(expiresAt.getTime() - Date.now(), 0) + 50, MAX_TIMER_MS)).unref();
    };
    const listeners = this.#listeners.get(viewer.userId) ?? new Set();
    this.#listeners.set(viewer.userId, listeners.add(look));
    arm(viewer);
    return () => {
      stopped = true;
      clearTimeout(timer);
      listeners.delete(look);
      if (!listeners.size && this.#listeners.get(viewer.userId) === listeners) this.#listeners.delete(viewer.userId);
    };
  }

  #changed(userId: string): void {
    this.#changes++;
    for (const [key, { viewer }] of this.#known.entries()) if (viewer.userId === userId) this.#known.delete(key);
    for (const look of this.#listeners.get(userId) ?? []) look();
  }

  /** After a reconnect, anything may have happened unheard. */
  #missed(): void {
    this.#changes++;
    this.#known.clear();
    for (const listeners of this.#listeners.values()) for (const look of listeners) look();
  }

  /** Notes the use, at most once a minute, without making the request wait. */
  #used(method: Credential['method'], entry: Identified): Viewer {
    const { viewer, touchedAt, createdAt } = entry;
    if (Date.now() - touchedAt <= MINUTE) return viewer;
    entry.touchedAt = Date.now();
    const expires = new Date(Math.min(Date.now() + SESSION_SLIDING, createdAt + SESSION_ABSOLUTE));
    if (method === 'session') viewer.expiresAt = expires;
    const statement =
      method === 'session'
        ? {
            text: `update dws.session set last_used_at = now(), expires_at = $2 where id = $1`,
            values: [viewer.credentialId, expires],
          }
        : { text: `update dws.api_token set last_used_at = now() where id = $1`, values: [viewer.credentialId] };
    this.#platform.system
      .query(statement)
      .catch((err: unknown) =>
        this.#platform.log.warn({ err, userId: viewer.userId }, 'The use of a credential was not noted'),
      );
    return viewer;
  }
}

const stillValid = (viewer: Viewer): boolean => viewer.expiresAt === null || viewer.expiresAt.getTime() > Date.now();
