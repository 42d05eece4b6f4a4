import { createHash } from 'node:crypto';
import { CursorLost, type Drive, type DriveEvent, type DriveItem, type DrivePage } from '../../src/core/drive.ts';
import { ApiError } from '../../src/core/errors.ts';
import { yieldOnce } from '../../src/core/files.ts';

interface ScriptedFile {
  id: string;
  name: string;
  parentId: string | null;
  /** Null for a folder. */
  bytes: Buffer | null;
  revision: number;
  unreadable: string | null;
  hasHash: boolean;
}

/**
 * A drive in memory that reports folders by ids. A test writes to it, and `on…` decide what happens during a call. Pages
 * have two events. Changes name an item once for each change, in their order.
 */
export class ScriptedDrive implements Drive {
  readonly id = 'scripted';
  readonly name = 'Scripted';
  readonly defaults = {
    authUri: 'https://drive.test/authorize',
    tokenUri: 'https://drive.test/token',
    revokeUri: null,
    scope: 'read',
    authParameters: {},
    refreshTokenLifetimeMs: null,
    apiUri: 'https://drive.test/v1',
    contentUri: null,
  };
  pageSize = 2;
  readonly calls = { list: 0, changes: 0, contents: 0 };
  /** Ids of the files whose contents were read, in order. */
  readonly downloads: string[] = [];
  readonly #items = new Map<string, ScriptedFile>();
  readonly #changes: string[] = [];
  #lostBefore = 0;
  /** Runs before each page of a listing; it may throw. */
  onList: (call: number) => void | Promise<void> = () => {};
  onChanges: () => void = () => {};
  /** Replaces the contents of a file; undefined leaves them. */
  onContents: (id: string, signal: AbortSignal) => AsyncIterable<Uint8Array> | undefined | Promise<undefined> = () =>
    undefined;

  put(
    path: string,
    contents: string | Buffer,
    more: Partial<Pick<ScriptedFile, 'unreadable' | 'hasHash'>> = {},
  ): string {
    const parts = path.split('/');
    const name = parts.pop()!;
    const parentId = this.folder(parts.join('/'));
    const found = [...this.#items.values()].find((one) => one.name === name && one.parentId === parentId);
    const id = found?.id ?? `f${this.#items.size}-${name}`;
    this.#set({ unreadable: null, hasHash: true, ...found, id, name, parentId, bytes: Buffer.from(contents), ...more });
    return id;
  }

  /** Returns the id of a folder, which is created unless it is there. */
  folder(path: string): string {
    if (path === '') return 'root';
    const parts = path.split('/');
    const name = parts.pop()!;
    const parentId = this.folder(parts.join('/'));
    const found = [...this.#items.values()].find((one) => one.name === name && one.parentId === parentId);
    if (found) return found.id;
    const id = `d${this.#items.size}-${name}`;
    this.#set({ id, name, parentId, bytes: null, unreadable: null, hasHash: true });
    return id;
  }

  /** Moves or renames an item. Only the item itself is reported. */
  move(id: string, change: { name?: string; parentId?: string | null }): void {
    this.#set({ ...this.#items.get(id)!, ...change });
  }

  /** Deletes an item and what is below it. Only the item itself is reported. */
  remove(id: string): void {
    for (const { id: below, parentId } of this.#items.values()) if (parentId === id) this.#forget(below);
    this.#items.delete(id);
    this.#changes.push(id);
  }

  /** Reports an item again although nothing has changed. */
  touch(id: string): void {
    this.#set(this.#items.get(id)!);
  }

  /** Forgets all cursors that were given. */
  loseCursors(): void {
    this.#lostBefore = this.#changes.length + 1;
    this.#changes.push('unknown');
  }

  #forget(id: string): void {
    for (const { id: below, parentId } of this.#items.values()) if (parentId === id) this.#forget(below);
    this.#items.delete(id);
  }

  #set(item: Omit<ScriptedFile, 'revision'>): void {
    this.#items.set(item.id, { ...item, revision: (this.#items.get(item.id)?.revision ?? 0) + 1 });
    this.#changes.push(item.id);
  }

  account = async () => ({ email: null, displayName: null, accountId: 'one' });
  root = async (_access: unknown, rootId: string | null) => rootId ?? 'root';
  start = async () => String(this.#changes.length);

  async list(_access: unknown, folderId: string | null, cursor: string | null): Promise<DrivePage> {
    this.calls.list++;
    await this.onList(this.calls.list);
    const items = [...this.#items.values()].filter((item) => folderId === null || this.#isBelow(item, folderId));
    return this.#page(
      items.map((item) => ({ item: toItem(item) })),
      Number(cursor ?? 0),
    );
  }

  #isBelow({ parentId }: ScriptedFile, folderId: string): boolean {
    const parent = parentId === null ? undefined : this.#items.get(parentId);
    return parentId === folderId || (parent !== undefined && this.#isBelow(parent, folderId));
  }

  async changes(_access: unknown, _rootId: string | null, cursor: string): Promise<DrivePage> {
    this.calls.changes++;
    this.onChanges();
    if (Number(cursor) < this.#lostBefore) throw new CursorLost();
    const events = this.#changes.map((id): DriveEvent => {
      const item = this.#items.get(id);
      return item ? { item: toItem(item) } : { removedId: id };
    });
    return this.#page(events, Number(cursor));
  }

  #page(events: DriveEvent[], start: number): DrivePage {
    const end = Math.min(start + this.pageSize, events.length);
    return { events: events.slice(start, end), cursor: String(end), isLast: end === events.length };
  }

  async contents({ signal }: { signal: AbortSignal }, { id }: Pick<DriveItem, 'id'>, maxBytes: number) {
    this.calls.contents++;
    this.downloads.push(id);
    const special = await this.onContents(id, signal);
    if (special) return special;
    const bytes = this.#items.get(id)?.bytes;
    if (!bytes) throw new ApiError(404, 'NOT_FOUND', `There is no file ${id}`);
    if (bytes.byteLength > maxBytes) throw new ApiError(413, 'PAYLOAD_TOO_LARGE', 'The file is too large');
    return yieldOnce(bytes);
  }
}

const toItem = ({ id, name, parentId, bytes, revision, unreadable, hasHash }: ScriptedFile): DriveItem => ({
  id,
  isFolder: bytes === null,
  name,
  parentId,
  path: null,
  foldedPath: null,
  contentType: 'text/plain',
  size: hasHash ? (bytes?.byteLength ?? null) : null,
  hash: bytes && hasHash ? createHash('md5').update(bytes).digest('hex') : null,
  revision: String(revision),
  modifiedAt: new Date(1_700_000_000_000 + revision),
  url: null,
  unreadable,
});
