import { EXPORT_ENCODERS } from '../../adapters/export-format/encoders.ts';
import type { Row } from '../../core/dataset-index.ts';
import type { ExportEncoder, ExportFormat } from '../../core/export-format.ts';
import type { Field } from '../../core/fields.ts';

/** A piece of an export. Name and type of the file are in every piece. */
export interface ExportChunk {
  /** The piece, or its bytes in Base64: `encoding` says which. */
  text: string;
  encoding: 'utf8' | 'base64';
  filename: string;
  contentType: string;
}

/** Bytes in one piece at most, so that a message of GraphQL stays small. Base64 takes three at a time. */
const PIECE_BYTES = 3 << 18;
/** UTF-16 units in a piece of text. */
const PIECE_CHARACTERS = 1 << 17;
/** The upper bits of the first half of a character that takes two units. */
const HIGH_SURROGATE = 0xd800 >>> 10;

/**
 * The rows of `scan` as a file in pieces. Fields that the format cannot hold are refused before the first, and what fails before the first row is thrown
 * instead of it. Nothing is read ahead of the consumer; leaving early aborts the scan's signal.
 */
export function fileOf(
  format: ExportFormat,
  name: string,
  fields: readonly Field[],
  scan: (signal: AbortSignal) => AsyncIterable<Row[]>,
): AsyncGenerator<ExportChunk, void, undefined> {
  const encoder = EXPORT_ENCODERS[format];
  encoder.check?.(fields);
  return chunks(encoded(encoder, fields, scan), { filename: `${name}.${format}`, contentType: encoder.contentType });
}

async function* chunks(
  pieces: AsyncIterable<string | Uint8Array>,
  file: Pick<ExportChunk, 'filename' | 'contentType'>,
): AsyncGenerator<ExportChunk, void, undefined> {
  for await (const piece of evenPieces(pieces)) {
    if (typeof piece === 'string') yield { text: piece, encoding: 'utf8', ...file };
    else
      for (let at = 0; at < piece.length; at += PIECE_BYTES)
        yield {
          text: Buffer.from(piece.subarray(at, at + PIECE_BYTES)).toString('base64'),
          encoding: 'base64',
          ...file,
        };
  }
}

/**
 * Texts are cut to one length, whatever the batches they come in: the index reads hidden rows too, so that where its batches end would tell of them. Bytes are
 * cut by their encoders, after so many rows.
 */
async function* evenPieces(
  pieces: AsyncIterable<string | Uint8Array>,
): AsyncGenerator<string | Uint8Array, void, undefined> {
  let text: string | undefined;
  for await (const piece of pieces) {
    if (typeof piece !== 'string') {
      yield piece;
      continue;
    }
    text = (text ?? '') + piece;
    let at = 0;
    for (let end = cutOf(text, at); end < text.length; end = cutOf(text, at)) {
      yield text.slice(at, end);
      at = end;
    }
    text = text.slice(at);
  }
  if (text !== undefined) yield text;
}

/** Where a piece that begins at a place ends: never within a character. */
function cutOf(text: string, from: number): number {
  const end = from + PIECE_CHARACTERS;
  return text.charCodeAt(end - 1) >>> 10 === HIGH_SURROGATE ? end + 1 : end;
}

async function* encoded(
  encoder: ExportEncoder,
  fields: readonly Field[],
  scan: (signal: AbortSignal) => AsyncIterable<Row[]>,
): AsyncGenerator<string | Uint8Array, void, undefined> {
  const left = new AbortController();
  const batches = scan(left.signal)[Symbol.asyncIterator]();
  try {
    // What fails at once does so before anything was said.
    const first = await batches.next();
    yield* encoder.encode(fields, begunWith(first, batches));
  } finally {
    left.abort();
    await batches.return?.();
  }
}

async function* begunWith(first: IteratorResult<Row[]>, rest: AsyncIterator<Row[]>): AsyncGenerator<Row[]> {
  for (let batch = first; !batch.done; batch = await rest.next()) yield batch.value;
}
