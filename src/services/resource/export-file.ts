import { performance } from 'node:perf_hooks';
import { EXPORT_ENCODERS } from '../../adapters/export-format/encoders.ts';
import type { Row } from '../../core/dataset-index.ts';
import type { CsvStyle, ExportEncoder, ExportFormat } from '../../core/export-format.ts';
import type { Field } from '../../core/fields.ts';
import { endTurn } from '../../core/long-turns.ts';

/** A part of an exported file. Every chunk repeats the name and the media type of the file. */
export interface ExportChunk {
  /** Content of the chunk, as text or in Base64 according to `encoding`. */
  text: string;
  encoding: 'utf8' | 'base64';
  filename: string;
  contentType: string;
  /** Number of rows that were read for this chunk and those before it. */
  rows: number;
  /** Id of the resource that is exported. Absent for the audit log. */
  resourceId?: string;
}

/**
 * Bytes of a binary chunk. The limit keeps GraphQL messages small; a multiple of 3 avoids Base64 padding inside the
 * file.
 */
const CHUNK_BYTES = 3 << 18;
/** UTF-16 code units of a text chunk. */
const CHUNK_CHARACTERS = 1 << 17;
/** Number of values that an encoder takes in a turn of the event loop: a few milliseconds. */
const VALUES_PER_TURN = 6000;
/** Upper bits of the first code unit of a surrogate pair. */
const HIGH_SURROGATE = 0xd800 >>> 10;

/**
 * Exports the rows of `scan` as the chunks of a file. Throws before the first chunk for fields that the format does not
 * support and for errors before the first row. Does not read ahead of the consumer. Aborts the signal of the scan when
 * the consumer stops.
 */
export function exportFile(
  format: ExportFormat,
  { filename, title, resourceId, style }: { filename: string; title: string; resourceId?: string; style?: CsvStyle },
  fields: readonly Field[],
  scan: (signal: AbortSignal) => AsyncIterable<Row[]>,
): AsyncGenerator<ExportChunk, void, undefined> {
  const encoder = EXPORT_ENCODERS[format];
  encoder.check?.(fields);
  const read = { rows: 0 };
  return toChunks(
    encodeRows(encoder, fields, (signal) => countRows(scan(signal), read, fields.length), title, style),
    read,
    {
      filename: `${filename}.${format}`,
      contentType: encoder.contentType,
      ...(resourceId !== undefined && { resourceId }),
    },
  );
}

/** Counts the rows as the encoder takes them. Large batches are divided, so that requests of others run in between. */
async function* countRows(
  batches: AsyncIterable<Row[]>,
  read: { rows: number },
  columns: number,
): AsyncGenerator<Row[]> {
  const size = Math.max(1, Math.floor(VALUES_PER_TURN / Math.max(columns, 1)));
  for await (const batch of batches) {
    for (let start = 0; start < batch.length; start += size) {
      const rows = batch.length > size ? batch.slice(start, start + size) : batch;
      read.rows += rows.length;
      const { active } = performance.eventLoopUtilization();
      yield rows;
      await endTurn(performance.eventLoopUtilization().active - active);
    }
  }
}

async function* toChunks(
  pieces: AsyncIterable<string | Uint8Array>,
  read: { readonly rows: number },
  file: Pick<ExportChunk, 'filename' | 'contentType' | 'resourceId'>,
): AsyncGenerator<ExportChunk, void, undefined> {
  for await (const piece of splitEvenly(pieces)) {
    if (typeof piece === 'string') yield { text: piece, encoding: 'utf8', rows: read.rows, ...file };
    else yield { text: Buffer.from(piece).toString('base64'), encoding: 'base64', rows: read.rows, ...file };
  }
}

/**
 * Splits text, or bytes, into pieces of equal length, independent of the pieces it comes in. The index reads hidden
 * rows, too, so the boundaries of its batches would reveal them; the boundaries in a zip archive depend on time.
 */
async function* splitEvenly(
  pieces: AsyncIterable<string | Uint8Array>,
): AsyncGenerator<string | Uint8Array, void, undefined> {
  let text: string | undefined;
  // Joined once a chunk is full, so that each byte is copied a few times at most.
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    if (typeof piece !== 'string') {
      parts.push(piece);
      size += piece.length;
      if (size < CHUNK_BYTES) continue;
      const bytes = Buffer.concat(parts);
      const end = size - (size % CHUNK_BYTES);
      for (let start = 0; start < end; start += CHUNK_BYTES) yield bytes.subarray(start, start + CHUNK_BYTES);
      parts = [bytes.subarray(end)];
      size -= end;
      continue;
    }
    text = (text ?? '') + piece;
    let start = 0;
    for (let end = cutPosition(text, start); end < text.length; end = cutPosition(text, start)) {
      yield text.slice(start, end);
      start = end;
    }
    text = text.slice(start);
  }
  if (text !== undefined) yield text;
  if (size > 0) yield Buffer.concat(parts);
}

/** Returns the end of the piece that begins at `start`. It never splits a surrogate pair. */
function cutPosition(text: string, start: number): number {
  const end = start + CHUNK_CHARACTERS;
  return text.charCodeAt(end - 1) >>> 10 === HIGH_SURROGATE ? end + 1 : end;
}

async function* encodeRows(
  encoder: ExportEncoder,
  fields: readonly Field[],
  scan: (signal: AbortSignal) => AsyncIterable<Row[]>,
  title: string,
  style: CsvStyle | undefined,
): AsyncGenerator<string | Uint8Array, void, undefined> {
  const abort = new AbortController();
  const batches = scan(abort.signal)[Symbol.asyncIterator]();
  try {
    // The first batch is read before the encoder writes anything, so that an early error precedes the first chunk.
    const first = await batches.next();
    yield* encoder.encode(fields, prepend(first, batches), title, style);
  } finally {
    abort.abort();
    await batches.return?.();
  }
}

async function* prepend(first: IteratorResult<Row[]>, rest: AsyncIterator<Row[]>): AsyncGenerator<Row[]> {
  for (let batch = first; !batch.done; batch = await rest.next()) yield batch.value;
}
