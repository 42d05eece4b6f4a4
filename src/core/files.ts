/** What became of a file's bytes: the id that names them from now on, how many they are, and their SHA-256 in hex. */
export interface SavedFile {
  id: string;
  size: number;
  sha256: string;
}

/** Where the bytes of files are kept: uploads, and later those of libraries, templates and avatars. A row that names the id makes a file last; others are the janitor's. */
export interface FileStore {
  /**
   * Keeps what is read, whole or not at all; it is on the disk when this answers.
   * @throws tooLarge past `maxBytes` (0 is unlimited), whatever `content` throws; nothing stays then.
   */
  save(content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<SavedFile>;
  /** Where the bytes are, for those who read them. */
  path(id: string): string;
  /** Removes a file, finished or not; one that is not there is no error. */
  remove(id: string): Promise<void>;
  /** Every file, finished or not; `createdAt` in milliseconds, when its saving began. */
  list(): Promise<{ id: string; createdAt: number }[]>;
}

/** A file on its way in. */
export interface IncomingFile {
  /** As the client calls it, null where it has no name. */
  filename: string | null;
  /** As the client says. */
  contentType: string;
  /** It has at least this many bytes. */
  minSize: number;
  /** Read once, by whoever takes the file. */
  content: AsyncIterable<Uint8Array>;
  /** Once `content` is read: the whole input, for a form may say more of a file behind it. Bad inputs are thrown. */
  wholeInput?(): Promise<Record<string, unknown>>;
}

const MAX_FILENAME_CHARACTERS = 255;

/** A client's name of a file as it may be kept and shown: without folders and control characters, at most 255 characters. It never makes a path. */
export function cleanFilename(given: string | null | undefined): string {
  const base = (given ?? '')
    .toWellFormed()
    .normalize('NFC')
    .split(/[/\\]/)
    .at(-1)!
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, '')
    .trim();
  return truncateFilename(base, MAX_FILENAME_CHARACTERS) || 'file';
}

/** The name of what is made of a file: the filename without its extension. */
export const titleOf = (filename: string): string => filename.replace(/(?<=.)\.[^.\s]{1,16}$/u, '').trim() || filename;

/** Keeps the extension, which says to people what the file is. */
function truncateFilename(name: string, most: number): string {
  if (name.length <= most) return name;
  const extension = /\.[^.\s]{1,16}$/u.exec(name)?.[0] ?? '';
  return `${name.slice(0, most - extension.length).replace(/[\ud800-\udbff]$/, '')}${extension}`;
}
