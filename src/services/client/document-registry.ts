import { LRUCache } from 'lru-cache';
import type { DocumentsMode } from '../../core/documents-mode.ts';
import { CHANNELS } from '../../core/operations.ts';
import type { Platform } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';

/** A document that a client may run. */
export interface StoredDocument {
  id: string;
  text: string;
  sha256: string;
  readsSchema: boolean;
}

/** The cached state of a tenant. A change of its clients replaces it. */
interface TenantState {
  /** Part of the keys of its documents, so that documents of a former state are not found. */
  number: number;
  modes: Promise<ReadonlyMap<string, DocumentsMode>>;
}

type RegistryPlatform = Pick<Platform, 'config' | 'database' | 'notifications' | 'log'>;

const MAX_TENANTS = 1000;
/** Maximum length of the texts in memory. */
const MAX_CHARACTERS = 30_000_000;
/** A key without its text, in characters. */
const KEY_CHARACTERS = 300;
const NONE = { none: true } as const;

const SEEN_INTERVAL_MS = 60_000;
/** Times of requests are accurate to this interval, so that a document in constant use is seldom written. */
const SEEN_ACCURACY = `interval '5 minutes'`;
const MAX_SEEN = 10_000;

/**
 * Finds the modes of clients and their documents. Both are cached until Postgres notifies a change of a client of the
 * tenant, so that requests take no further query. See docs/contract/clients.md#modes.
 */
export class DocumentRegistry {
  readonly #platform: RegistryPlatform;
  readonly #tenants = new LRUCache<string, TenantState>({ max: MAX_TENANTS });
  readonly #documents = new LRUCache<string, StoredDocument | typeof NONE>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (found) => KEY_CHARACTERS + ('text' in found ? found.text.length : 0),
  });
  /** Tenants of the documents that were requested since the last write, by their ids. */
  #seen = new Map<string, string>();
  #states = 0;
  readonly #close: () => void;

  constructor(platform: RegistryPlatform) {
    this.#platform = platform;
    const stops = [
      platform.notifications.on(CHANNELS.client, (tenantId) => this.#tenants.delete(tenantId)),
      platform.notifications.onResync(() => this.#tenants.clear()),
    ];
    const timer = setInterval(() => void this.#writeSeen(), SEEN_INTERVAL_MS).unref();
    this.#close = () => {
      clearInterval(timer);
      for (const stop of stops) stop();
    };
  }

  /**
   * Returns the mode of a caller: of the client that the token names, for a session `DOCUMENTS_MODE`, else `OFF`. Only for
   * a token with a client it is a promise.
   */
  modeOf({ authMethod, client, tenantId }: Viewer): DocumentsMode | Promise<DocumentsMode> {
    if (authMethod === 'session') return this.#platform.config.DOCUMENTS_MODE;
    if (authMethod !== 'token' || client == null) return 'OFF';
    return this.#stateOf(tenantId).modes.then((modes) => modes.get(client) ?? 'OFF');
  }

  /**
   * Returns the document that a caller may run, by its id in the manifest or the SHA-256 of its text: of the client that the
   * token names, for other callers of any client of the tenant. Returns null if there is none, or if several clients have
   * different texts under the id.
   */
  async find({ tenantId, client = null }: Viewer, id: string): Promise<StoredDocument | null> {
    const key = `${this.#stateOf(tenantId).number} ${client ?? ''} ${id}`;
    let found = this.#documents.get(key);
    if (!found) {
      found = (await this.#load(tenantId, client, id)) ?? NONE;
      this.#documents.set(key, found);
    }
    if (!('id' in found)) return null;
    if (this.#seen.size < MAX_SEEN) this.#seen.set(found.id, tenantId);
    return found;
  }

  /** Writes which documents were requested, and stops listening. */
  async close(): Promise<void> {
    this.#close();
    await this.#writeSeen();
  }

  #stateOf(tenantId: string): TenantState {
    const cached = this.#platform.notifications.connected ? this.#tenants.get(tenantId) : undefined;
    if (cached) return cached;
    const state = { number: ++this.#states, modes: this.#loadModes(tenantId) };
    this.#tenants.set(tenantId, state);
    state.modes.catch(() => {
      if (this.#tenants.get(tenantId) === state) this.#tenants.delete(tenantId);
    });
    return state;
  }

  async #loadModes(tenantId: string): Promise<ReadonlyMap<string, DocumentsMode>> {
    const rows = await this.#platform.database.query<{ name: string; mode: DocumentsMode }>(tenantId, {
      text: `select name, mode from dws.api_client where tenant_id = $1`,
      values: [tenantId],
    });
    return new Map(rows.map(({ name, mode }) => [name, mode]));
  }

  async #load(tenantId: string, client: string | null, id: string): Promise<StoredDocument | undefined> {
    const rows = await this.#platform.database.query<StoredDocument & Record<string, unknown>>(tenantId, {
      text: `
        select distinct on (d.sha256) d.id, d.text, d.sha256, d.reads_schema as "readsSchema"
        from dws.client_document d
        join dws.api_client c on c.id = d.client_id
        where d.tenant_id = $1 and ($2::text is null or c.name = $2) and (d.document_id = $3 or d.sha256 = $4)
        order by d.sha256 limit 2`,
      values: [tenantId, client, id, id.replace(/^sha256:/i, '').toLowerCase()],
    });
    return rows.length === 1 ? rows[0] : undefined;
  }

  async #writeSeen(): Promise<void> {
    const seen = Map.groupBy(this.#seen, ([, tenantId]) => tenantId);
    this.#seen = new Map();
    for (const [tenantId, documents] of seen)
      await this.#platform.database
        .query(tenantId, {
          text: `
            update dws.client_document set first_seen_at = coalesce(first_seen_at, now()), last_seen_at = now()
            where tenant_id = $1 and id = any($2)
              and (last_seen_at is null or last_seen_at < now() - ${SEEN_ACCURACY})`,
          values: [tenantId, documents.map(([id]) => id)],
        })
        .catch((err: unknown) => this.#platform.log.warn({ err, tenantId }, 'Recording the use of documents failed'));
  }
}
