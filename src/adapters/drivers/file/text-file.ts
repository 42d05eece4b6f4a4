import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { badInput } from '../../../core/errors.ts';

const CHUNK = 1 << 20;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** Yields the bytes of a file in chunks. A chunk is valid until the next one. */
export function* chunksOf(path: string): Generator<Buffer> {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.allocUnsafe(CHUNK);
    for (let read = readSync(file, buffer); read > 0; read = readSync(file, buffer)) yield buffer.subarray(0, read);
  } finally {
    closeSync(file);
  }
}

/**
 * Creates a file without a name, which ends with this process. Returns its descriptor and a path to read it at. Write
 * to it with `writeFileSync`: `writeSync` may write only a part.
 */
export function unlinkedFile(): { file: number; path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'dws-text-'));
  const file = openSync(join(folder, 'copy'), 'w+', 0o600);
  rmSync(folder, { recursive: true });
  return { file, path: `/dev/fd/${file}` };
}

/** Returns the decoder of an encoding. Throws BAD_USER_INPUT for an unknown one. */
export function decoderOf(encoding: string, options: TextDecoderOptions = {}): TextDecoder {
  try {
    return new TextDecoder(encoding, options);
  } catch (error) {
    throw badInput(
      `config.encoding: ${JSON.stringify(encoding)} is not a label of the WHATWG Encoding Standard. Save the file as UTF-8`,
      {
        cause: error,
      },
    );
  }
}

/**
 * Returns a path at which the text can be read as UTF-8: the file itself, or an unlinked copy that ends with this
 * process. Throws BAD_USER_INPUT when the file does not have that encoding. With `unmarked` it has no byte order mark.
 */
export function utf8Path(path: string, encoding: string, { unmarked = false } = {}): string {
  const decoder = decoderOf(encoding, { fatal: true });
  if (decoder.encoding === 'utf-8' && !(unmarked && hasByteOrderMark(path))) return path;
  const copy = unlinkedFile();
  const write = (text: string) => {
    if (text.includes('\0')) throw badInput('The file has a character U+0000');
    writeFileSync(copy.file, text);
  };
  try {
    for (const chunk of chunksOf(path)) write(decoder.decode(chunk, { stream: true }));
    write(decoder.decode());
  } catch (error) {
    throw error instanceof TypeError ? badInput(`The file is not ${encoding.toUpperCase()}`) : error;
  }
  return copy.path;
}

function hasByteOrderMark(path: string): boolean {
  for (const chunk of chunksOf(path)) return chunk.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return false;
}

/** Words that programs write for numbers that JSON does not have. */
export const NO_NUMBER = /[:[,]\s*[-+]?(?:NaN|Infinity|inf)\b/i;

/** An unpaired surrogate in a text that `JSON.stringify` wrote. */
const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

/**
 * Returns the first line of a UTF-8 text that is not JSON, with the reason; undefined when every line is. Blank lines
 * are skipped.
 */
export function brokenJsonLine(path: string): string | undefined {
  const decoder = new TextDecoder('utf-8');
  let line = 0;
  let rest = '';
  const broken = (lines: string[]): string | undefined => {
    for (const text of lines) {
      line += 1;
      try {
        if (text.trim() !== '' && LONE_SURROGATE.test(JSON.stringify(JSON.parse(text))))
          throw new Error('half of a character of two parts, such as \\ud83d');
      } catch (error) {
        const { message } = error as Error;
        const hint = NO_NUMBER.test(text)
          ? '. JSON has no NaN and no Infinity: replace them by null, or by texts'
          : message.startsWith('Bad control character')
            ? '. Write control characters by escapes such as \\t or \\n'
            : '';
        return `Line ${line} of the file: ${message.slice(0, 200)}${hint}`;
      }
    }
    return undefined;
  };
  for (const chunk of chunksOf(path)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop()!;
    const found = broken(lines);
    if (found) return found;
  }
  return broken([rest]);
}
