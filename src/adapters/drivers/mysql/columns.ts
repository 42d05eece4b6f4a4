import { distinctNames, type Column } from '../../../core/fields.ts';
import { mysqlType } from '../../../core/source-types.ts';
import type { WireField } from './wire.ts';

const UNSIGNED = 32;
const ENUM = 256;
const SET = 2048;
const BINARY_CHARSET = 63;
/** Results are sent in utf8mb4, with at most this many bytes a character. */
const BYTES_PER_CHARACTER = 4;

/** Names of the protocol's types that are not strings. */
const WORDS: Readonly<Record<number, string>> = {
  0: 'decimal',
  1: 'tinyint',
  2: 'smallint',
  3: 'int',
  4: 'float',
  5: 'double',
  6: 'null',
  7: 'timestamp',
  8: 'bigint',
  9: 'mediumint',
  10: 'date',
  11: 'time',
  12: 'datetime',
  13: 'year',
  14: 'date',
  16: 'bit',
  242: 'vector',
  245: 'json',
  246: 'decimal',
  255: 'geometry',
};

/** Names of the protocol's string types, as text and as bytes. `text` stands for all of its sizes. */
const STRING_WORDS: Readonly<Record<number, [text: string, bytes: string]>> = {
  15: ['varchar', 'varbinary'],
  249: ['text', 'blob'],
  250: ['text', 'blob'],
  251: ['text', 'blob'],
  252: ['text', 'blob'],
  253: ['varchar', 'varbinary'],
  254: ['char', 'binary'],
};

/**
 * Returns the bare name of a column's type as in `information_schema`. The server's extended type names precede the
 * protocol's types.
 */
export function typeWord(field: WireField): string {
  if (field.extendedFormat === 'json') return 'json';
  if (field.extendedTypeName) return field.extendedTypeName;
  if (field.flags & ENUM) return 'enum';
  if (field.flags & SET) return 'set';
  return (
    STRING_WORDS[field.columnType]?.[isBytes(field) ? 1 : 0] ?? WORDS[field.columnType] ?? `type ${field.columnType}`
  );
}

/** Returns whether a value that is sent as a string is bytes, not text. */
export const isBytes = (field: WireField) => field.characterSet === BINARY_CHARSET;

export const isUnsigned = (field: WireField) => (field.flags & UNSIGNED) !== 0;

/** The length of a decimal includes sign and point. */
function decimalSize(field: WireField): { precision: number; scale: number } {
  const marks = (field.decimals > 0 ? 1 : 0) + (isUnsigned(field) ? 0 : 1);
  return { precision: field.columnLength - marks, scale: field.decimals };
}

/** Returns the type as written in SQL, for messages. */
function spelled(word: string, field: WireField): string {
  if (word === 'decimal') {
    const { precision, scale } = decimalSize(field);
    return `decimal(${precision},${scale})${isUnsigned(field) ? ' unsigned' : ''}`;
  }
  if (word === 'varchar' || word === 'char') return `${word}(${Math.floor(field.columnLength / BYTES_PER_CHARACTER)})`;
  if (word === 'bit' || (word === 'tinyint' && field.columnLength === 1)) return `${word}(${field.columnLength})`;
  return word.endsWith('int') && isUnsigned(field) ? `${word} unsigned` : word;
}

/** Returns the columns of a prepared statement (docs/contract/datasets.md#fields). */
export function describeColumns(fields: WireField[]): Column[] {
  const names = distinctNames(fields.map((field) => field.name));
  return fields.map((field, i) => {
    const word = typeWord(field);
    const about = { unsigned: isUnsigned(field), width: field.columnLength, size: decimalSize(field) };
    return { name: names[i]!, ...mysqlType(word, about), sourceType: spelled(word, field) };
  });
}
