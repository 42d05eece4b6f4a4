import type { IncomingHttpHeaders } from 'node:http';
import { rangeNotSatisfiable } from '../src/core/errors.ts';
import type { ByteRange } from '../src/core/files.ts';

const SINGLE_RANGE = /^bytes=(\d*)-(\d*)$/i;

/**
 * Returns the part of `size` bytes with the entity tag `etag` that a request asks for (RFC 9110, section 14). Returns
 * undefined for all bytes: without `Range`, for several parts, and if `If-Range` names other bytes. Throws 416 for a part
 * that lies outside.
 */
export function readRange(
  { range, 'if-range': condition }: IncomingHttpHeaders,
  size: number,
  etag: string,
): ByteRange | undefined {
  const [, first = '', last = ''] = SINGLE_RANGE.exec(range?.replaceAll(/\s/g, '') ?? '') ?? [];
  if (first + last === '' || (condition !== undefined && condition !== etag)) return undefined;
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (start > end) throw rangeNotSatisfiable({ size }, { headers: { 'content-range': `bytes */${size}` } });
  return { start, end };
}
