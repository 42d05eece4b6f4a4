import { hash } from 'node:crypto';
import { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { PublicContext } from '../../core/context.ts';
import type { DocumentsMode } from '../../core/documents-mode.ts';
import { badInput, refused, unauthenticated } from '../../core/errors.ts';
import type { Platform } from '../../core/platform.ts';
import type { Viewer } from '../../core/viewer.ts';
import type { DocumentRegistry, StoredDocument } from '../../services/client/document-registry.ts';
import type { PersistedQueries } from './document-store.ts';

/** Document of a request, or its id. */
export interface SentDocument {
  query?: unknown;
  documentId?: unknown;
  extensions?: unknown;
}

type Caller = Pick<PublicContext, 'viewer' | 'request'>;

/** A warning in `extensions.warnings` of a response. */
interface ResponseWarning {
  code: 'DOCUMENT_NOT_STORED';
  message: string;
}

const NOT_STORED: ResponseWarning = {
  code: 'DOCUMENT_NOT_STORED',
  message: 'The document is not stored for the client, which will be refused in the mode ENFORCE',
};

/** Documents that are not stored are logged once in this time, by each process. */
const LOG_INTERVAL_MS = 3_600_000;
const MAX_LOGGED = 10_000;

/** The error of an id that no document has. Its status is the one of Apollo's own. */
const documentNotFound = (): GraphQLError =>
  new GraphQLError('PersistedQueryNotFound', {
    extensions: { code: 'PERSISTED_QUERY_NOT_FOUND', http: { status: 200 } },
  });

const notStored = () => refused('The client may run only documents that are stored for it');
const noSchema = () => refused('The client may not read the schema');

/**
 * Returns the id of a document that is sent without its text: `documentId`, or the hash of Apollo's persisted queries.
 * An empty text counts as none, because the protocol of sockets requires a text.
 */
export function sentId({ query, documentId, extensions }: SentDocument): string | undefined {
  const hasText = query !== undefined && query !== null && query !== '';
  if (documentId !== undefined && documentId !== null) {
    if (typeof documentId !== 'string') throw badInput('documentId must be a text');
    if (hasText) throw badInput('query and documentId exclude each other');
    return documentId;
  }
  if (hasText) return undefined;
  const { persistedQuery } = (extensions ?? {}) as { persistedQuery?: { sha256Hash?: unknown } | null };
  return typeof persistedQuery?.sha256Hash === 'string' ? persistedQuery.sha256Hash : undefined;
}

/** Decides which documents of GraphQL callers may run. See docs/contract/clients.md#modes. */
export class ClientDocuments {
  readonly #registry: DocumentRegistry;
  readonly #persistedQueries: PersistedQueries;
  readonly #log: Platform['log'];
  readonly #logged = new LRUCache<string, true>({ max: MAX_LOGGED, ttl: LOG_INTERVAL_MS });
  readonly #warned = new WeakSet<object>();

  constructor(registry: DocumentRegistry, persistedQueries: PersistedQueries, log: Platform['log']) {
    this.#registry = registry;
    this.#persistedQueries = persistedQueries;
    this.#log = log;
  }

  /**
   * Returns the stored text that replaces the sent document; undefined if the request runs as it is. Throws FORBIDDEN
   * for a document that the caller may not run, and `PERSISTED_QUERY_NOT_FOUND` for an unknown id.
   */
  async resolve(sent: SentDocument, caller: Caller): Promise<string | undefined> {
    const { viewer } = caller;
    const id = sentId(sent);
    if (!viewer) {
      if (typeof sent.documentId === 'string') throw unauthenticated(caller.request.cookieRefusal);
      return undefined;
    }
    const ofViewer = this.#registry.modeOf(viewer);
    const mode = typeof ofViewer === 'string' ? ofViewer : await ofViewer;
    return id === undefined
      ? this.#checkText(sent.query, mode, viewer, caller)
      : this.#findText(id, mode, sent, caller);
  }

  /** Like `resolve`, for a socket: returns the text that runs. Texts that are registered over HTTP are found by their hash, too. */
  async resolveOnSocket(sent: SentDocument & { query: string }, caller: Caller): Promise<string> {
    const text = (await this.resolve(sent, caller)) ?? sent.query;
    if (text === '' && sentId(sent) !== undefined) throw documentNotFound();
    return text;
  }

  /** Returns the warnings about a request, by the object that was given to `resolve` as its request. */
  warningsOf(request: object): { warnings: ResponseWarning[] } | undefined {
    return this.#warned.has(request) ? { warnings: [NOT_STORED] } : undefined;
  }

  async #findText(id: string, mode: DocumentsMode, sent: SentDocument, caller: Caller): Promise<string | undefined> {
    const viewer = caller.viewer!;
    // A text that a client has registered by Apollo's protocol.
    const registered = sent.documentId == null && mode !== 'ENFORCE' ? this.#persistedQueries.find(id) : undefined;
    if (registered !== undefined) {
      await this.#checkText(registered, mode, viewer, caller);
      return registered;
    }
    const found = await this.#registry.find(viewer, id);
    if (found) return permitted(found, mode);
    if (sent.documentId != null || mode === 'ENFORCE') throw documentNotFound();
    return undefined;
  }

  async #checkText(text: unknown, mode: DocumentsMode, viewer: Viewer, caller: Caller): Promise<string | undefined> {
    if (mode === 'OFF' || typeof text !== 'string') return undefined;
    const sha256 = hash('sha256', text);
    const found = await this.#registry.find(viewer, sha256);
    // An id of a manifest may look like a digest of another text only with a collision.
    if (found?.text === text) return permitted(found, mode);
    if (mode === 'ENFORCE') throw notStored();
    if (mode === 'WARN') this.#warned.add(caller.request);
    const key = `${viewer.tenantId} ${viewer.client ?? ''} ${sha256}`;
    if (!this.#logged.has(key)) {
      this.#logged.set(key, true);
      const { client = null, tenant } = viewer;
      this.#log.info({ requestId: caller.request.id, tenant, client, sha256 }, 'A document that is not stored ran');
    }
    return undefined;
  }
}

function permitted({ text, readsSchema }: StoredDocument, mode: DocumentsMode): string {
  if (readsSchema && mode === 'ENFORCE') throw noSchema();
  return text;
}
