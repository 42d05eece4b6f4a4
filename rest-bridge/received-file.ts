import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { rangeNotSatisfiable } from '../src/core/errors.ts';
import type { ByteRange } from '../src/core/files.ts';
import type { AdapterCall, BridgeContext } from './call.ts';
import { createRevalidation } from './negotiation.ts';

const SINGLE_RANGE = /^bytes=(\d*)-(\d*)$/i;

/** Properties of a file that a response needs in addition to its bytes. */
export interface ReceivedFile {
  contentType: string;
  sha256: string;
}

/** Sends a file with its headers, or 304 with `headers` alone if the client has it. */
export type SendReceived = (
  file: ReceivedFile,
  headers: Readonly<Record<string, string>>,
  contentHeaders?: Readonly<Record<string, string>>,
) => Readable | FastifyReply;

/**
 * Lets the field of a row pass the bytes of a file, and returns the function that sends them. If the client has them, they
 * are not opened.
 */
export function receiveBytes({ context, request, reply }: AdapterCall): SendReceived {
  const revalidation = createRevalidation(request.method === 'POST' ? undefined : request.headers['if-none-match']);
  let file: { content: Readable; size: number } | undefined;
  let range: ByteRange | undefined;
  Object.assign(context, {
    revalidate: (state) => revalidation.revalidate(state),
    selectRange: (size, digest) => {
      void reply.header('accept-ranges', 'bytes');
      range = request.method === 'GET' ? readRange(request.headers, size, `"${digest}"`) : undefined;
      return range;
    },
    sendFile: (content, size) => {
      file = { content, size };
    },
  } satisfies BridgeContext);
  return ({ contentType, sha256 }, headers, contentHeaders = {}) => {
    void reply.headers({ ...headers, etag: `"${sha256}"`, 'x-content-type-options': 'nosniff' });
    if (revalidation.isCurrent) return reply.code(304).send();
    const { size } = file!;
    if (range) void reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${size}`);
    const length = range ? range.end - range.start + 1 : size;
    void reply.headers({ 'content-type': contentType, 'content-length': length, ...contentHeaders });
    // The client may have disconnected in the meantime: nothing will read the file.
    if (reply.raw.destroyed) file!.content.destroy();
    return file!.content;
  };
}

/**
 * Returns the part of `size` bytes with the entity tag `etag` that a request asks for (RFC 9110, section 14). Returns
 * undefined for all bytes: without `Range`, for several parts, and if `If-Range` names other bytes. Throws 416 for a part
 * that lies outside.
 */
function readRange(
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
