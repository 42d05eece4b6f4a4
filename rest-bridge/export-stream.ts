import { Readable } from 'node:stream';
import type { AdapterCall } from './call.ts';

interface FileChunk {
  text: string;
  encoding: 'utf8' | 'base64';
  filename: string;
  contentType: string;
}

/** Media types of the formats. */
export const EXPORT_MEDIA_TYPES = [
  'text/csv',
  'application/json',
  'application/x-ndjson',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.apache.parquet',
];

/**
 * Streams a subscription of file pieces as one file to save. The next piece is asked for when the client has taken the last ones, and a client that
 * leaves ends the subscription. What is wrong before the first piece is answered as an error; later the connection breaks, for the status is out.
 */
export async function exportStream({ subscribe, reply }: AdapterCall): Promise<Readable> {
  const pieces = (await subscribe()) as AsyncIterableIterator<FileChunk>;
  const first = await pieces.next();
  const { filename, contentType } = first.value as FileChunk;
  void reply
    .header('content-type', contentType)
    .header('content-disposition', `attachment; filename="${filename}"`)
    .header('x-content-type-options', 'nosniff');
  return Readable.from(bytesOf(first.value as FileChunk, pieces), { objectMode: false });
}

async function* bytesOf(first: FileChunk, rest: AsyncIterableIterator<FileChunk>): AsyncGenerator<Buffer> {
  try {
    if (first.text) yield Buffer.from(first.text, first.encoding);
    for await (const { text, encoding } of rest) if (text) yield Buffer.from(text, encoding);
  } finally {
    await rest.return?.();
  }
}
