/** The HTTP side of a fake drive: an API, a host of contents at another port, failures on demand, counts of calls. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DriveTree, FakeItem } from './drive-tree.ts';
import { FakeAuthority, type AuthorityRules } from './fake-authority.ts';
import { runControl } from './fake-control.ts';
import { readRequest, send, type FakeReply, type FakeRequest } from './fake-http.ts';

/** A call that the fake knows. */
export interface FakeRoute {
  /** By which calls are counted and fail. */
  kind: string | ((request: FakeRequest) => string);
  method: 'GET' | 'POST';
  pattern: RegExp;
  /** At the host of contents instead of the API. */
  isContent?: boolean;
  /** Without a token: one that is sent is a leak. */
  isPublic?: boolean;
  /** Only with this parameter. */
  parameter?: string;
  respond(request: FakeRequest, match: string[]): FakeReply;
}

/** A provider's own protocol. */
export interface FakeProtocol extends AuthorityRules {
  /** Type of its integrations. */
  type: string;
  /** Path of the API, e.g. `/drive/v3`. */
  apiPath: string;
  /** Path at the host of contents; null if contents come from the API. */
  contentPath: string | null;
  createTree(): DriveTree;
  createRoutes(fake: DriveFake): FakeRoute[];
  /** An error in the provider's form. */
  refuse(status: number, reason: string): FakeReply;
}

/** A failure in place of the next responses to calls of a kind. */
export interface FakeFailure {
  kind: string;
  /** Number of calls that fail. Default: 1. */
  count?: number;
  /** Number of calls before that succeed. */
  after?: number;
  status?: number;
  reason?: string;
  retryAfter?: number | string;
  /** A page in place of the response. Its default status is 200. */
  html?: string;
  /** The connection is lost without a response, or in the middle of contents. */
  isCut?: boolean;
}

/** Optional behaviour of a provider, which a fake shows on demand. The code of each quirk explains the reason. */
export type Quirk =
  | 'no-hashes'
  | 'earlier-states'
  | 'empty-pages'
  | 'same-link'
  | 'endless-pages'
  | 'adds-first'
  | 'folded-parents'
  | 'text-positions'
  | 'small-positions';

/** A place in a list. */
export interface Place {
  at: number;
  /** The last entry that was shown in this listing; null at its start. */
  last: number | null;
}

export class DriveFake {
  readonly tree: DriveTree;
  readonly authority: FakeAuthority;
  readonly protocol: FakeProtocol;
  /** Number of calls by kind. */
  readonly calls: Record<string, number> = {};
  /** Number of tokens that reached a host that must not get them. */
  leakedTokens = 0;
  account = { id: 'account-1', email: 'ann@example.com', name: 'Ann Example' };
  pageSize = 2;
  /** Runs before the response to a call, e.g. to change the drive while it is listed. */
  onCall: (kind: string) => void = () => {};
  /** Cursors of other epochs are not known. */
  epoch = 0;
  readonly quirks = new Set<Quirk>();
  readonly failures: FakeFailure[] = [];
  /** Folders that may not be opened, by their ids, with the reason of the refusal. They are seen in their folders. */
  readonly closedFolders = new Map<string, string>();
  #turns = 0;
  readonly #routes: FakeRoute[];
  readonly #api: Server;
  readonly #content: Server;

  constructor(protocol: FakeProtocol) {
    this.protocol = protocol;
    this.tree = protocol.createTree();
    this.authority = new FakeAuthority(protocol);
    this.#routes = [...this.#oauthRoutes(), ...protocol.createRoutes(this)];
    this.#api = createServer((request, response) => void this.#serve(request, response, false));
    this.#content = createServer((request, response) => void this.#serve(request, response, true));
  }

  async listen(port: number): Promise<void> {
    for (const [server, at] of [
      [this.#api, port],
      [this.#content, port === 0 ? 0 : port + 1],
    ] as const) {
      server.listen(at, '127.0.0.1');
      await once(server, 'listening');
    }
  }

  async close(): Promise<void> {
    for (const server of [this.#api, this.#content]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  /** Settings of an integration: id and secret of the client, and the addresses. */
  get registration() {
    const { clientId, clientSecret } = this.authority;
    return { clientId, clientSecret, ...this.addresses };
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#api.address() as AddressInfo).port}`;
  }

  /** The addresses to enter into an integration. */
  get addresses() {
    const { origin } = this;
    const { apiPath, contentPath } = this.protocol;
    return {
      authUri: `${origin}/oauth2/authorize`,
      tokenUri: `${origin}/oauth2/token`,
      revokeUri: `${origin}/oauth2/revoke`,
      apiUri: `${origin}${apiPath}`,
      contentUri: contentPath === null ? null : `${this.contentOrigin}${contentPath}`,
    };
  }

  get contentOrigin(): string {
    return `http://127.0.0.1:${(this.#content.address() as AddressInfo).port}`;
  }

  fail(failure: FakeFailure): void {
    this.failures.push({ count: 1, after: 0, ...failure });
  }

  /** Refuses to open the folder at a path, or permits it again without a reason. */
  closeFolder(path: string, reason: string | null): void {
    const { id } = this.tree.at(path);
    if (reason === null) this.closedFolders.delete(id);
    else this.closedFolders.set(id, reason);
  }

  /** Returns the refusal of a listing of some folders; null if it is permitted. */
  refuseClosed(folderIds: readonly string[]): FakeReply | null {
    const reason = folderIds.map((id) => this.closedFolders.get(id)).find((found) => found !== undefined);
    return reason === undefined ? null : this.protocol.refuse(403, reason);
  }

  loseCursors(): void {
    this.epoch += 1;
  }

  /** Returns a cursor of this epoch. */
  encode = (value: unknown): string => Buffer.from(JSON.stringify([this.epoch, value])).toString('base64url');

  /** Returns what a cursor of this epoch encodes; undefined for another one. */
  decode<T>(cursor: string): T | undefined {
    try {
      const [epoch, value] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [number, T];
      return epoch === this.epoch ? value : undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * Returns a page of a list, and where the next one begins; null at the end. After the first, a page repeats the last entry
   * of the one before.
   */
  page<T>(entries: readonly T[], cursor: Place, limit: number, isListed: (entry: T) => boolean = () => true) {
    const size = Math.min(limit, this.pageSize);
    const found: T[] = cursor.last === null ? [] : [entries[cursor.last]!].filter(isListed);
    const end = found.length + size;
    let { at, last } = cursor;
    for (; at < entries.length && found.length < end; at += 1) {
      if (!isListed(entries[at]!)) continue;
      found.push(entries[at]!);
      last = at;
    }
    return { found, next: at < entries.length ? { at, last } : null };
  }

  /** Returns a place that differs from all before, for a page without items that names another one; null without the quirk. */
  endless<T extends object>(place: T): (T & { turn: number }) | null {
    return this.quirks.has('endless-pages') ? { ...place, turn: (this.#turns += 1) } : null;
  }

  /** A public link to contents at the other host. */
  linkTo = (item: FakeItem): string => `${this.contentOrigin}/download/${encodeURIComponent(item.id)}?signature=s`;

  /** The route of such links. */
  readonly download: FakeRoute = {
    kind: 'download',
    method: 'GET',
    pattern: /^\/download\/([^/]+)$/,
    isContent: true,
    isPublic: true,
    respond: (_request, [id]) => ({ content: this.tree.get(id!)!.content }),
  };

  #oauthRoutes(): FakeRoute[] {
    const route = (kind: string, method: 'GET' | 'POST', name: string, respond: FakeRoute['respond']): FakeRoute => ({
      kind,
      method,
      pattern: new RegExp(`^/oauth2/${name}$`),
      isPublic: true,
      respond,
    });
    return [
      route('authorize', 'GET', 'authorize', (request) => this.authority.authorize(request)),
      route('consent', 'POST', 'authorize', (request) => this.authority.authorize(request)),
      route('token', 'POST', 'token', (request) => this.authority.token(request)),
      route('revoke', 'POST', 'revoke', (request) => this.authority.revocation(request)),
    ];
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse, isContent: boolean): Promise<void> {
    try {
      const request = await readRequest(incoming);
      if (request.path.startsWith('/_control/')) return await send(response, runControl(this, request), false);
      const route = this.#routes.find(
        (known) =>
          known.method === request.method &&
          (known.isContent ?? false) === isContent &&
          known.pattern.test(request.path) &&
          (known.parameter === undefined || request.query.has(known.parameter)),
      );
      if (!route) return await send(response, this.protocol.refuse(404, 'notFound'), false);
      const kind = typeof route.kind === 'string' ? route.kind : route.kind(request);
      this.calls[kind] = (this.calls[kind] ?? 0) + 1;
      this.onCall(kind);
      await this.#respond(route, kind, request, response);
    } catch (error) {
      if (!response.headersSent) response.writeHead(500);
      response.end((error as Error).message);
    }
  }

  async #respond(route: FakeRoute, kind: string, request: FakeRequest, response: ServerResponse): Promise<void> {
    const failure = this.#takeFailure(kind);
    const isContentsCut = failure?.isCut === true && /contents|download|export/.test(kind);
    if (failure?.isCut && !isContentsCut) return void response.destroy();
    if (failure && !isContentsCut) {
      const { status = 503, reason = '', html } = failure;
      const reply = html === undefined ? this.protocol.refuse(status, reason) : { html, status: failure.status };
      const headers: Record<string, string> = {};
      if (failure.retryAfter !== undefined) headers['retry-after'] = String(failure.retryAfter);
      return send(response, { ...reply, headers }, false);
    }
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (route.isPublic && route.isContent && token !== '') this.leakedTokens += 1;
    const isRefused = !route.isPublic && !this.authority.isValid(token);
    // Some providers quote the token that they refuse.
    const reply = isRefused
      ? this.protocol.refuse(401, `invalid token ${token}`)
      : route.respond(request, (route.pattern.exec(request.path) ?? []).slice(1).map(decodeURIComponent));
    await send(response, reply, isContentsCut);
  }

  #takeFailure(kind: string): FakeFailure | undefined {
    const failure = this.failures.find((waiting) => waiting.kind === kind);
    if (!failure) return undefined;
    if (failure.after! > 0) {
      failure.after! -= 1;
      return undefined;
    }
    failure.count! -= 1;
    if (failure.count === 0) this.failures.splice(this.failures.indexOf(failure), 1);
    return failure;
  }
}
