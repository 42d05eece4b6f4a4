import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import type { TarEntry } from './tar.ts';

/** Most bytes of a part in JSON, e.g. the state of an app. */
export const MAX_JSON_BYTES = 8_000_000;
/** Most bytes of a part with rows of the service: parts have 4 MB of text and one row. */
export const MAX_ROWS_BYTES = 64_000_000;

const MAX_NAME_CHARACTERS = 200;
const FINGERPRINT = z.string().regex(/^[0-9a-f]{8,64}$/);

/** The form of the first part of an archive. Unknown properties are ignored. */
export const MANIFEST = z.object({
  format: z.literal(1),
  createdAt: z.iso.datetime(),
  migration: z.string(),
  keyFingerprint: FINGERPRINT.nullable(),
  keys: z.array(FINGERPRINT).max(1000).optional(),
  hasEnd: z.boolean().optional(),
});

/** The form of the last part of an archive. */
export const END = z.object({ entries: z.int(), sha256: z.string() });

/** The form of the state of an app. */
export const STATE = z.object({
  migrations: z.array(z.object({ filename: z.string(), appliedAt: z.string(), duration: z.number() })),
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()) })),
  sequences: z.array(z.object({ name: z.string(), lastValue: z.string(), isCalled: z.boolean() })),
});

/** The form of the part of an app that could not be read. */
export const FAILED = z.object({ reason: z.string() });

/** Returns the beginning of a name from an archive in quotes, with control characters of terminals escaped. */
export function quoteName(name: string): string {
  const start = name.length > MAX_NAME_CHARACTERS ? `${name.slice(0, MAX_NAME_CHARACTERS)}…` : name;
  return JSON.stringify(start).replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (found) => String.raw`\u{${found.codePointAt(0)!.toString(16)}}`,
  );
}

/** Returns the error for a part that no backup has. */
export const unknownPart = (name: string, type?: string): Error =>
  new Error(`The backup has an unknown part: ${quoteName(name)}${type ? ` (${type})` : ''}`);

/** Reads a part. Throws a sentence, before it reads anything, if it has more than `maxBytes`. */
export async function readBytes({ name, size, content }: TarEntry, maxBytes: number): Promise<Buffer> {
  if (size > maxBytes)
    throw new Error(`The part ${quoteName(name)} of the backup has ${size} bytes: it may have ${maxBytes}`);
  return buffer(Readable.from(content));
}

/** Returns the value of a part in JSON; undefined if it is not JSON. Throws like `readBytes`. */
export async function readJson(entry: TarEntry): Promise<unknown> {
  const text = (await readBytes(entry, MAX_JSON_BYTES)).toString();
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns the value of a part that has this form. Throws a sentence for another one. */
export function checkForm<T>(name: string, value: unknown, form: z.ZodType<T>): T {
  const { success, data, error } = form.safeParse(value);
  if (success) return data;
  // Paths contain names of the form and numbers, none of the archive.
  const place = error.issues[0]?.path.join('.') || 'its first character';
  throw new Error(`The part ${quoteName(name)} of the backup is damaged: it has no valid value at ${place}`);
}
