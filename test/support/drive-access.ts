import { afterEach } from 'vitest';
import { createDrives } from '../../src/adapters/drives/drive-list.ts';
import { createGuardedFetch } from '../../src/adapters/outbound/guarded-fetch.ts';
import { CursorLost, type Drive, type DriveAccess, type DriveItem, type DrivePage } from '../../src/core/drive.ts';
import { startDriveFake } from '../../tools/drive-fake.ts';
import type { DriveFake } from '../../tools/drive-fake/fake-server.ts';

/** A drive with its fake. */
export interface DriveFixture {
  drive: Drive;
  fake: DriveFake;
  access: DriveAccess;
  /** Tokens that the provider has refused. */
  refused: string[];
  close(): Promise<void>;
}

/** Starts the fake of a drive and opens it with the client that the service uses. */
export async function openDriveFixture(provider: string): Promise<DriveFixture> {
  const fake = await startDriveFake(provider);
  const drive = createDrives().get(fake.protocol.type)!;
  const outbound = createGuardedFetch({ allowed: ['127.0.0.1'] });
  const refused: string[] = [];
  let token = fake.authority.issueToken();
  return {
    drive,
    fake,
    refused,
    access: {
      outbound,
      apiUri: fake.addresses.apiUri,
      contentUri: fake.addresses.contentUri,
      signal: new AbortController().signal,
      token: async (old) => {
        if (old === undefined) return token;
        refused.push(old);
        return (token = fake.authority.issueToken());
      },
    },
    async close() {
      await Promise.all([outbound.close(), fake.close()]);
    },
  };
}

/** The knowledge of a reader of a drive from its listing and changes alone: the minimum for a sync. */
export class DriveMirror {
  readonly items = new Map<string, DriveItem>();
  readonly #fixture: Pick<DriveFixture, 'drive' | 'access'>;
  readonly #folderId: string | null;
  #rootId = '';
  #cursor = '';

  constructor(fixture: Pick<DriveFixture, 'drive' | 'access'>, folderId: string | null = null) {
    this.#fixture = fixture;
    this.#folderId = folderId;
  }

  /** Reads all items, then the changes during the listing. Returns the number of pages of the listing. */
  async readAll(): Promise<number> {
    const { drive, access } = this.#fixture;
    this.#rootId = await drive.root(access, this.#folderId);
    this.#cursor = await drive.start(access, this.#folderId);
    this.items.clear();
    const pages = await this.#list(this.#folderId);
    await this.readChanges();
    return pages;
  }

  /** Reads what changed since. Returns the events, and reads all after a lost cursor. */
  async readChanges(): Promise<DrivePage['events']> {
    const { drive, access } = this.#fixture;
    const events: DrivePage['events'] = [];
    for (let isLast = false; !isLast;) {
      const page = await drive.changes(access, this.#folderId, this.#cursor);
      events.push(...page.events);
      await this.#apply(page);
      this.#cursor = page.cursor;
      isLast = page.isLast;
    }
    return events;
  }

  /** Reads what changed since, or all if the cursor is lost. Returns whether it was. */
  async readChangesOrAll(): Promise<boolean> {
    try {
      await this.readChanges();
      return false;
    } catch (error) {
      if (!(error instanceof CursorLost)) throw error;
      await this.readAll();
      return true;
    }
  }

  /** The files below the root, by path. */
  get files(): DriveItem[] {
    return [...this.items.values()]
      .filter((item) => !item.isFolder && this.pathOf(item) !== null)
      .toSorted((a, b) => this.pathOf(a)!.localeCompare(this.pathOf(b)!));
  }

  get paths(): string[] {
    return this.files.map((file) => this.pathOf(file)!);
  }

  /** Returns the path from the root; null for an item outside of it. */
  pathOf(item: DriveItem): string | null {
    if (item.path !== null) return item.path;
    if (item.parentId === this.#rootId) return item.name;
    const folder = this.items.get(item.parentId ?? '');
    const path = folder?.isFolder ? this.pathOf(folder) : null;
    return path === null ? null : `${path}/${item.name}`;
  }

  async #list(folderId: string | null): Promise<number> {
    const { drive, access } = this.#fixture;
    let pages = 0;
    for (let cursor: string | null = null; ; pages += 1) {
      const page: DrivePage = await drive.list(access, folderId, cursor);
      for (const event of page.events) this.#applyEvent(event);
      if (page.isLast) return pages + 1;
      cursor = page.cursor;
    }
  }

  /** A folder that appears is listed, as its items may not be mentioned. */
  async #apply({ events }: DrivePage): Promise<void> {
    for (const event of events) {
      const isNew = 'item' in event && event.item.isFolder && !this.items.has(event.item.id);
      this.#applyEvent(event);
      if (isNew && event.item.path === null) await this.#list(event.item.id);
    }
  }

  #applyEvent(event: DrivePage['events'][number]): void {
    if ('item' in event) this.items.set(event.item.id, event.item);
    else if ('removedId' in event) this.items.delete(event.removedId);
    else if ('removedPath' in event) {
      const { removedPath, keepsBelow } = event;
      for (const [id, { foldedPath }] of this.items)
        if (foldedPath === removedPath || (!keepsBelow && foldedPath?.startsWith(`${removedPath}/`)))
          this.items.delete(id);
    }
  }
}

/** Reads contents to their end. */
export async function readBytes(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts);
}

/** A drive with its fake, and what a reader knows of it. */
export interface TestedDrive extends DriveFixture {
  tree: DriveFake['tree'];
  mirror: DriveMirror;
  fileNamed(name: string): DriveItem;
  readText(name: string): Promise<string>;
}

/** Returns a function that opens drives, which are closed after each test. */
export function useDrives(): (provider: string) => Promise<TestedDrive> {
  const opened: DriveFixture[] = [];
  afterEach(async () => void (await Promise.all(opened.splice(0).map((fixture) => fixture.close()))));
  return async (provider) => {
    const fixture = await openDriveFixture(provider);
    opened.push(fixture);
    const mirror = new DriveMirror(fixture);
    const fileNamed = (name: string) => mirror.files.find((file) => file.name === name)!;
    const readText = async (name: string) =>
      (await readBytes(await fixture.drive.contents(fixture.access, fileNamed(name), 100_000_000))).toString();
    return { ...fixture, tree: fixture.fake.tree, mirror, fileNamed, readText };
  };
}
