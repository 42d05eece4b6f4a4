import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { AdapterCall, BridgeContext } from './call.ts';
import { dispositionOf } from './disposition.ts';
import { createRevalidation } from './negotiation.ts';

/** One piece of the exported file, as the subscription delivers it. */
interface FileChunk {
  text: string;
  encoding: 'utf8' | 'base64';
  filename: string;
  contentType: string;
  /** SHA-256 of a stored file, in hexadecimal. */
  sha256?: string;
}

/** Media types of the export formats. */
export const EXPORT_MEDIA_TYPES = [
  'text/csv',
  'application/json',
  'application/x-ndjson',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.apache.parquet',
];

/**
 * Streams the chunks of a subscription as one file download. It reads the next chunk when the client has received the
 * previous ones, and ends the subscription when the client disconnects. An error before the first chunk is an error
 * response; a later one closes the connection, because the status has been sent.
 */
export async function exportStream({
  context,
  subscribe,
  request,
  reply,
}: AdapterCall): Promise<Readable | FastifyReply> {
  const revalidation = createRevalidation(request.headers['if-none-match']);
  Object.assign(context, { revalidate: (state) => revalidation.revalidate(state) } satisfies BridgeContext);
  const chunks = (await subscribe()) as AsyncIterableIterator<FileChunk>;
  const first = await chunks.next().catch(async (error: unknown) => {
    await chunks.return?.();
    throw error;
  });
  const { filename, contentType, sha256 } = first.value as FileChunk;
  if (sha256 !== undefined) {
    void reply.headers({ etag: `"${sha256}"`, 'cache-control': 'private, no-cache' });
    if (revalidation.isCurrent) {
      endSubscription(chunks);
      return reply.code(304).send();
    }
  }
  void reply
    .header('content-type', contentType)
    .header('content-disposition', dispositionOf('attachment', filename))
    .header('x-content-type-options', 'nosniff');
  const file = fileStream(first.value as FileChunk, chunks);
  // The client may have disconnected in the meantime: nothing will read the file.
  if (reply.raw.destroyed) file.destroy();
  return file;
}

/** Returns a file's bytes. Its end, whatever the cause, ends the subscription, even if nothing was read. */
function fileStream(first: FileChunk, rest: AsyncIterableIterator<FileChunk>): Readable {
  let next: Promise<IteratorResult<FileChunk>> | undefined = Promise.resolve({ done: false, value: first });
  const load = (stream: Readable): void => {
    const chunk = next ?? rest.next();
    next = undefined;
    chunk.then(
      ({ done, value }) => {
        if (done) stream.push(null);
        else if (value.text) stream.push(Buffer.from(value.text, value.encoding));
        else load(stream);
      },
      (error: Error) => stream.destroy(error),
    );
  };
  return new Readable({
    read() {
      load(this);
    },
    destroy(error, callback) {
      endSubscription(rest);
      callback(error);
    },
  });
}

/** Ends a subscription. Not awaited: it may wait for a pending chunk, which ends with the request. */
function endSubscription(chunks: AsyncIterableIterator<FileChunk>): void {
  chunks.return?.()?.catch(() => {});
}
