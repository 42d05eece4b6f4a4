import type { Readable } from 'node:stream';
import { normalizeText } from './normalize-text.ts';

/** A stored file: its id, its size in bytes and its SHA-256 in hexadecimal. */
export interface SavedFile {
  id: string;
  size: number;
  sha256: string;
}

/** A part of a file: its first and its last byte, counted from 0. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Stores the bytes of uploaded files. The janitor deletes files whose id no row contains. */
export interface FileStore {
  /**
   * Saves the content, in full or not at all. The file is on the disk when the promise resolves. Throws `tooLarge` for
   * more than `maxBytes` (0 is unlimited), and any error of `content`. `id` is a new one unless the caller has stored it
   * before.
   */
  save(content: AsyncIterable<Uint8Array>, maxBytes: number, id?: string): Promise<SavedFile>;
  /**
   * Saves a file again under a new id, without copying its bytes: the former file may then be changed or deleted.
   * Returns undefined if the former one was not saved in full, or if the file system has no links.
   */
  saveAgain(id: string): Promise<SavedFile | undefined>;
  /** Returns the path of a file. */
  path(id: string): string;
  /** Returns the bytes of a small file; undefined for a missing one. */
  read(id: string): Promise<Buffer | undefined>;
  /** Opens a file or a part of it, which stays readable when it is deleted. Returns undefined for a missing one. */
  open(id: string, range?: ByteRange): Promise<Readable | undefined>;
  /** Deletes a file, complete or not. Does nothing for a missing one. */
  remove(id: string): Promise<void>;
  /** Returns the time of the last write to a file, complete or not, in milliseconds since 1970; undefined without one. */
  writtenAt(id: string): Promise<number | undefined>;
  /** Lists all files, complete or not. `createdAt` is the time at which saving began, in milliseconds since 1970. */
  list(): Promise<{ id: string; createdAt: number }[]>;
}

/** Yields bytes once, as content of a file. */
export async function* yieldOnce(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Size of the parts in which bytes in memory are saved. A hash over more of them would block the event loop. */
const PART_BYTES = 1 << 20;

/** Yields bytes in parts, as content of a file. */
export async function* yieldInParts(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.byteLength; start += PART_BYTES) yield bytes.subarray(start, start + PART_BYTES);
}

/** A file that a client uploads. */
export interface IncomingFile {
  /** Original file name; null without one. */
  filename: string | null;
  /** Media type that the client states. */
  contentType: string;
  /** Lower bound of the size in bytes. */
  minSize: number;
  /** The bytes. They can be read once. */
  content: AsyncIterable<Uint8Array>;
  /**
   * Returns the complete input, including the fields of a form after the file. Call it after `content` is read. Throws
   * BAD_USER_INPUT for invalid fields.
   */
  wholeInput?(): Promise<Record<string, unknown>>;
}

const MAX_FILENAME_CHARACTERS = 255;
/** UTF-16 units at each end of a name that are enough for its normal form. */
const MAX_NAME_UNITS = 8 * MAX_FILENAME_CHARACTERS;

/**
 * Returns a file name for storage and display: no folders, no control characters, at most 255 characters. Not for
 * paths.
 */
export function cleanFilename(filename: string | null | undefined): string {
  const base = normalizeName((filename ?? '').split(/[/\\]/).at(-1)!)
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, '')
    .trim();
  return truncateFilename(base) || 'file';
}

/** Returns a well-formed name in NFC. A name that is far too long loses its middle first. */
export const normalizeName = (name: string): string =>
  normalizeText(
    (name.length > 2 * MAX_NAME_UNITS
      ? name.slice(0, MAX_NAME_UNITS) + name.slice(-MAX_NAME_UNITS)
      : name
    ).toWellFormed(),
    'NFC',
  );

/** Returns the name that a user gives to a new file, with hyphens in place of separators of folders. */
export const withoutFolders = (filename: string): string => filename.replaceAll(/[/\\]/g, '-');

/** Returns the file name without its extension. */
export const titleOf = (filename: string): string => filename.replace(/(?<=.)\.[^.\s]{1,16}$/u, '').trim() || filename;

/** Shortens a file name to 255 characters without its extension being lost. */
export function truncateFilename(name: string): string {
  if (name.length <= MAX_FILENAME_CHARACTERS) return name;
  const extension = /\.[^.\s]{1,16}$/u.exec(name)?.[0] ?? '';
  return `${name.slice(0, MAX_FILENAME_CHARACTERS - extension.length).replace(/[\ud800-\udbff]$/, '')}${extension}`;
}
