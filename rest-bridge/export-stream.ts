import { Readable } from 'node:stream';
import type { AdapterCall } from './call.ts';

/** One piece of the exported file, as the subscription delivers it. */
interface FileChunk {
  text: string;
  encoding: 'utf8' | 'base64';
  filename: string;
  contentType: string;
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
export async function exportStream({ subscribe, reply }: AdapterCall): Promise<Readable> {
  const chunks = (await subscribe()) as AsyncIterableIterator<FileChunk>;
  const first = await chunks.next();
  const { filename, contentType } = first.value as FileChunk;
  void reply
    .header('content-type', contentType)
    .header('content-disposition', `attachment; filename="${filename}"`)
    .header('x-content-type-options', 'nosniff');
  return Readable.from(bytesOf(first.value as FileChunk, chunks), { objectMode: false });
}

async function* bytesOf(first: FileChunk, rest: AsyncIterableIterator<FileChunk>): AsyncGenerator<Buffer> {
  try {
    if (first.text) yield Buffer.from(first.text, first.encoding);
    for await (const { text, encoding } of rest) if (text) yield Buffer.from(text, encoding);
  } finally {
    await rest.return?.();
  }
}
