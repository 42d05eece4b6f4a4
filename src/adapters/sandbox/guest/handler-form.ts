import { collect } from './handler-values.ts';
import { native } from './native.ts';
import { textOrBytes } from './web-text.ts';

const BOUNDARY = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i;
const NAME = /;\s*name="([^"]*)"/i;
const FILENAME = /;\s*filename="([^"]*)"/i;
const TYPE = /^content-type:\s*([^\r\n]*)/im;

/**
 * Parses a body of `multipart/form-data`: texts, and files as `{filename, contentType, bytes}`. Returns null if it has
 * another form.
 */
export function parseMultipart(contentType: string, bytes: Uint8Array): object | null {
  const [, quoted, plain] = BOUNDARY.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) return null;
  // Each character of the text is a byte.
  const text = `\r\n${native('toLatin1', bytes) as string}`;
  const parts = text.split(`\r\n--${boundary}`);
  if (parts.length < 2 || !parts.at(-1)!.startsWith('--')) return null;
  const pairs = parts.slice(1, -1).map((part) => readPart(part));
  return pairs.includes(null) ? null : collect(pairs as [string, unknown][]);
}

function readPart(part: string): [string, unknown] | null {
  const end = part.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const decode = (latin1: string) => textOrBytes(native('fromLatin1', latin1) as Uint8Array);
  const head = String(decode(part.slice(0, end)));
  const content = part.slice(end + 4);
  const name = NAME.exec(head)?.[1];
  if (name === undefined) return null;
  const filename = FILENAME.exec(head)?.[1];
  if (filename === undefined) return [name, decode(content)];
  const contentType = TYPE.exec(head)?.[1]?.trim() ?? 'application/octet-stream';
  return [name, { filename, contentType, bytes: native('fromLatin1', content) }];
}
