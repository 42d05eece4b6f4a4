import { LRUCache } from 'lru-cache';
import { CHANNELS } from '../../core/operations.ts';
import type { Platform } from '../../core/platform.ts';
import { digest } from '../../core/secret.ts';
import type { Viewer } from '../../core/viewer.ts';
import {
  findViewer,
  SESSION_ABSOLUTE_MS,
  SESSION_SLIDING_MS,
  type AuthenticatedViewer,
  type Credential,
} from './credential.ts';

const MINUTE_MS = 60_000;
/** Longest delay of a Node timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const MAX_CACHED_VIEWERS = 10_000;

/** Callbacks of a socket or stream that stays open with a credential. */
interface CredentialListener {
  /** Called with the new viewer after the permissions of the user changed. */
  onChange?(viewer: Viewer): void;
  /** Called when the credential is no longer valid. */
  onEnd(): void;
}

/**
 * Authenticates credentials. Results are cached for a minute and dropped as soon as Postgres notifies a change of the
 * user.
 */
export class Authenticator {
  readonly #platform: Pick<Platform, 'system' | 'notifications' | 'log'>;
  readonly #cache = new LRUCache<string, AuthenticatedViewer>({ max: MAX_CACHED_VIEWERS, ttl: MINUTE_MS });
  readonly #recheckers = new Map<string, Set<() => void>>();
  /** Number of notified changes. A look-up that ran during a change is not cached. */
  #changes = 0;

  constructor(platform: Pick<Platform, 'system' | 'notifications' | 'log'>) {
    this.#platform = platform;
    platform.notifications.on(CHANNELS.credential, (userId) => this.#dropUser(userId));
    platform.notifications.onResync(() => this.#dropAll());
  }

  /**
   * Returns the viewer of a valid credential, otherwise null. Calls `beforeLookup`, which may throw, before it queries
   * the database.
   */
  async authenticate(credential: Credential, beforeLookup?: () => void): Promise<Viewer | null> {
    const key = `${credential.method}:${digest(credential.secret)}`;
    const cached = this.#cache.get(key);
    if (cached && this.#platform.notifications.connected && isUnexpired(cached.viewer))
      return this.#recordUse(credential.method, cached);
    beforeLookup?.();
    const changes = this.#changes;
    const entry = await findViewer(this.#platform.system, credential);
    if (!entry) return null;
    if (changes === this.#changes) this.#cache.set(key, entry);
    return this.#recordUse(credential.method, entry);
  }

  /** Watches a credential until it is no longer valid. Returns a function that stops watching. */
  watch(credential: Credential, viewer: Viewer, listener: CredentialListener): () => void {
    let timer: NodeJS.Timeout | undefined;
    let stopped = false;
    const recheck = () =>
      void this.authenticate(credential).then(
        (current) => {
          if (stopped) return;
          if (!current) return listener.onEnd();
          listener.onChange?.(current);
          scheduleRecheck(current);
          // Errors are ignored: without Postgres the state is unknown, and the reconnect rechecks every credential.
        },
        () => undefined,
      );
    const scheduleRecheck = ({ expiresAt }: Viewer) => {
      clearTimeout(timer);
      if (expiresAt)
        timer = setTimeout(recheck, Math.min(Math.max(expiresAt.getTime() - Date.now(), 0) + 50, MAX_TIMER_MS)).unref();
    };
    const ofUser = this.#recheckers.get(viewer.userId) ?? new Set();
    this.#recheckers.set(viewer.userId, ofUser.add(recheck));
    scheduleRecheck(viewer);
    return () => {
      stopped = true;
      clearTimeout(timer);
      ofUser.delete(recheck);
      if (!ofUser.size && this.#recheckers.get(viewer.userId) === ofUser) this.#recheckers.delete(viewer.userId);
    };
  }

  #dropUser(userId: string): void {
    this.#changes++;
    for (const [key, { viewer }] of this.#cache.entries()) if (viewer.userId === userId) this.#cache.delete(key);
    for (const recheck of this.#recheckers.get(userId) ?? []) recheck();
  }

  /** Drops all results after a reconnect, since notifications may have been missed. */
  #dropAll(): void {
    this.#changes++;
    this.#cache.clear();
    for (const ofUser of this.#recheckers.values()) for (const recheck of ofUser) recheck();
  }

  /** Records the use of a credential, at most once a minute, without delaying the request. */
  #recordUse(method: Credential['method'], entry: AuthenticatedViewer): Viewer {
    const { viewer, lastUsedAt, createdAt } = entry;
    if (Date.now() - lastUsedAt <= MINUTE_MS) return viewer;
    entry.lastUsedAt = Date.now();
    const expiresAt = new Date(Math.min(Date.now() + SESSION_SLIDING_MS, createdAt + SESSION_ABSOLUTE_MS));
    if (method === 'session') viewer.expiresAt = expiresAt;
    const statement =
      method === 'session'
        ? {
            text: `update dws.session set last_used_at = now(), expires_at = $2 where id = $1`,
            values: [viewer.credentialId, expiresAt],
          }
        : { text: `update dws.api_token set last_used_at = now() where id = $1`, values: [viewer.credentialId] };
    this.#platform.system
      .query(statement)
      .catch((err: unknown) =>
        this.#platform.log.warn({ err, userId: viewer.userId }, 'Recording the use of a credential failed'),
      );
    return viewer;
  }
}

const isUnexpired = (viewer: Viewer): boolean => viewer.expiresAt === null || viewer.expiresAt.getTime() > Date.now();
