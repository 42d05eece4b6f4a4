import type { ConnectionAccount, OAuthClient, TokenSource } from './connection.ts';
import type { OutboundClient } from './outbound.ts';

/** How to reach the drive of one account. */
export interface DriveAccess {
  outbound: OutboundClient;
  /** Base of the URLs of the API, with its version and without a trailing slash. */
  apiUri: string;
  /** Base of the URLs of contents; null if it is `apiUri`. */
  contentUri: string | null;
  token: TokenSource;
  signal: AbortSignal;
}

/** A file or folder of a drive. */
export interface DriveItem {
  /** Id at the provider. It stays when the item is moved or changed. */
  id: string;
  isFolder: boolean;
  name: string;
  /** Id of its folder; null if the drive states a path instead, or if the item is in no folder that the user can see. */
  parentId: string | null;
  /** Path from the root that was asked for, e.g. `a/b.txt`. Null if the drive states folders. */
  path: string | null;
  /** The path as the drive compares it, regardless of case. Null if the drive states folders. */
  foldedPath: string | null;
  /** Media type of the bytes that `contents` returns. */
  contentType: string;
  /** Bytes; null if the provider does not state them. */
  size: number | null;
  /** Changes with the contents and only with them. Null for folders, and if the provider states no hash. */
  hash: string | null;
  /** Changes with the contents, and at times without them. Compared if the drive states no hash. */
  revision: string;
  modifiedAt: Date | null;
  /** Page of the item at the provider. */
  url: string | null;
  /** Why its contents cannot be read, in a few words, e.g. a form. Null if they can. */
  unreadable: string | null;
}

/** A path where no item, or another one, is now. */
export interface RemovedPath {
  removedPath: string;
  /** Whether only the item at the path is gone. */
  keepsBelow?: boolean;
}

/** A folder whose contents the account may not list. */
export interface ClosedFolder {
  closedId: string;
  /** Code and message of the error. */
  code: string;
  message: string;
}

/**
 * An event of a listing or of the changes of a drive. A removed path, folded as the drive does, stands for the item
 * there and, unless `keepsBelow`, everything below it; an item that comes after it stays. Events are in order: the last
 * one about an item counts. A listing reports a closed folder in place of its contents.
 */
export type DriveEvent = { item: DriveItem } | { removedId: string } | RemovedPath | ClosedFolder;

/** A part of a listing or of changes. */
export interface DrivePage {
  events: DriveEvent[];
  /** Continues after this page; once `isLast`, it is where later changes begin (changes only). */
  cursor: string;
  isLast: boolean;
}

/** Thrown by `contents` for a file that the drive does not send. Its message is the reason, in a few words. */
export class FileUnreadable extends Error {}

/** Thrown by `list` and `changes` for a cursor that the provider no longer knows: a full listing is needed. */
export class CursorLost extends Error {}

/** A provider of cloud drives. Differences between providers end here. */
export interface Drive {
  /** Type of integrations, e.g. `google-drive`. */
  id: string;
  name: string;
  /** The addresses of the provider and its demands on OAuth. An integration may replace the addresses and the scope. */
  defaults: Pick<
    OAuthClient,
    'authUri' | 'tokenUri' | 'revokeUri' | 'scope' | 'authParameters' | 'refreshTokenLifetimeMs'
  > & { apiUri: string; contentUri: string | null };
  /** Returns whose drive it is. */
  account(access: DriveAccess): Promise<ConnectionAccount>;
  /**
   * Returns the id of the root folder that `rootId` names (null: the root of the drive). Throws NOT_FOUND for an
   * unknown one.
   */
  root(access: DriveAccess, rootId: string | null): Promise<string>;
  /** Returns a cursor of changes from now on. Taken before a full listing. */
  start(access: DriveAccess, rootId: string | null): Promise<string>;
  /**
   * Lists all items below a folder (the root of the drive if it is null), a page at a time. `cursor` is null at first.
   * An item may come more than once, before its folder, and from outside of the folder. Paths begin at the folder.
   * Throws `CursorLost`, and NOT_FOUND if the folder is gone.
   */
  list(access: DriveAccess, folderId: string | null, cursor: string | null): Promise<DrivePage>;
  /**
   * Returns what changed since a cursor. Items may lie outside of the root. The contents of a folder that has appeared
   * may be missing unless the drive states paths. Throws `CursorLost`.
   */
  changes(access: DriveAccess, rootId: string | null, cursor: string): Promise<DrivePage>;
  /**
   * Opens the contents of a file. Throws PAYLOAD_TOO_LARGE past `maxBytes`, immediately or while they arrive, and for a
   * file that is too large for the provider's export. Throws `FileUnreadable` for a file that the provider never sends,
   * and NOT_FOUND if it is gone.
   */
  contents(
    access: DriveAccess,
    item: Pick<DriveItem, 'id' | 'contentType'>,
    maxBytes: number,
  ): Promise<AsyncIterable<Uint8Array>>;
  /** Revokes the tokens of a connection in the provider's own way. Absent: by `revokeUri` (RFC 7009). */
  revoke?(access: DriveAccess): Promise<void>;
}
