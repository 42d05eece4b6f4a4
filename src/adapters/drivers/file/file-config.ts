import { badInput } from '../../../core/errors.ts';
import type { FileProblem } from '../../../core/row-source.ts';
import { MAX_COLUMNS } from '../query-process/limits.ts';

const DECIMAL_TYPE = String.raw`DECIMAL\(([1-9]|[12]\d|3[0-8]),([0-9]|[12]\d|3[0-8])\)`;
/** Types of a text file's columns, named as in DuckDB. `TIMESTAMP` is UTC. */
const COLUMN_TYPES = ['VARCHAR', 'BIGINT', 'UBIGINT', 'DOUBLE', 'BOOLEAN', 'DATE', 'TIMESTAMP', 'JSON'];
const COLUMN_TYPE = `^(${COLUMN_TYPES.join('|')}|${DECIMAL_TYPE})$`;

/** How the texts of numbers and dates are read, where they are not in the usual form. */
export interface ValueReading {
  decimal?: '.' | ',';
  /** Separator of thousands; empty for none. Default: the usual ones for the decimal separator. */
  thousands?: string;
  /** Format of dates in the notation of `strptime`. */
  dateFormat?: string;
}

/** A column of the file's table. Columns of CSV are in the order of the file. */
export interface FileColumn extends ValueReading {
  name: string;
  /** The key in objects of JSON, where it is not the name. */
  key?: string;
  type: string;
  /** Whether blanks around the values do not count, such as a no-break space in front of a number. */
  trim?: boolean;
  /** Words that stand for a missing value in this column. */
  nullValues?: string[];
}

/**
 * How a file is read. Absent settings are determined when the file is opened, or have the defaults of `detectConfig`
 * for a plain file.
 */
export interface FileConfig extends ValueReading {
  format: 'csv' | 'json' | 'ndjson' | 'parquet' | 'xlsx' | 'ods';
  encoding?: string;
  delimiter?: string;
  /** Empty: values are never quoted. */
  quote?: string;
  escape?: string;
  skip?: number;
  header?: boolean;
  /** Beginning of lines that are left out as comments; empty for none. */
  comment?: string;
  /** Whether lines that begin with `comment` are records if they have as many values as there are columns. */
  markedRecords?: boolean;
  /** Whether records with fewer values are permitted. */
  ragged?: boolean;
  nullValues?: string[];
  /** Name of a workbook's sheet. Default: the first one. */
  sheet?: string;
  /** Keys that lead to the table of a JSON document, joined by dots. */
  path?: string;
  columns?: FileColumn[];
}

const nullValuesSchema = { type: 'array', maxItems: 100, items: { type: 'string', maxLength: 100 } };
const readingSchema = {
  decimal: { enum: ['.', ','], description: 'Decimal separator of numbers in texts.' },
  thousands: {
    type: 'string',
    maxLength: 1,
    pattern: String.raw`^[^\p{L}\p{N}\p{Sc}\p{Sm}\p{Pd}%"“”„«»]?$`,
    description:
      'Separator of thousands in texts, other than `decimal`: no letter, digit, sign or double quote; empty for none. ' +
      'Default: those that are usual with `decimal`.',
  },
  dateFormat: {
    type: 'string',
    minLength: 2,
    maxLength: 100,
    pattern: '%',
    examples: ['%d.%m.%Y', '%m/%d/%Y %H:%M'],
    description: 'Format of dates in texts in the notation of `strptime`, e.g. `%d.%m.%Y` or `%m/%d/%Y %H:%M`.',
  },
};

/** Decimals and thousands have different separators. */
const separatorsDiffer = ['.', ','].map((separator) => ({
  if: { not: { properties: { decimal: { const: separator } }, required: ['decimal'] } },
  else: { properties: { thousands: { type: 'string', pattern: `^[^${separator}]?$` } } },
}));

/** JSON Schema of a file datasource's `config`. */
export const configSchema = {
  type: 'object',
  additionalProperties: false,
  allOf: separatorsDiffer,
  properties: {
    format: {
      enum: ['csv', 'json', 'ndjson', 'parquet', 'xlsx', 'ods'],
      description: '`json` is an array of objects, `ndjson` one object per line.',
    },
    encoding: {
      type: 'string',
      maxLength: 40,
      pattern: String.raw`^[\w.:-]+$`,
      default: 'utf-8',
      description:
        'Any label of the WHATWG Encoding Standard, such as `shift_jis`, `gbk`, `big5`, `euc-kr`, `windows-1251` or `latin1`. ' +
        'A file that is not UTF-8 is read as the encoding that its characters show with certainty, otherwise as `windows-1252`.',
    },
    delimiter: {
      type: 'string',
      minLength: 1,
      maxLength: 1,
      default: ',',
      description: 'CSV: the character between values.',
    },
    quote: {
      type: 'string',
      maxLength: 1,
      default: '"',
      description: 'CSV: the character around values; empty for none.',
    },
    escape: {
      type: 'string',
      maxLength: 1,
      default: '"',
      description: 'CSV: the character that escapes a quote within quotes, e.g. the quote itself.',
    },
    skip: {
      type: 'integer',
      minimum: 0,
      maximum: 1000,
      default: 0,
      description: 'CSV: number of lines to skip before the first record. xlsx, ods: number of rows.',
    },
    header: {
      type: 'boolean',
      default: true,
      description: 'CSV, xlsx, ods: whether the first record contains the column names.',
    },
    comment: {
      type: 'string',
      maxLength: 10,
      pattern: String.raw`^[^\r\n]*$`,
      description:
        'CSV: lines that begin with this text are comments, and are left out; empty for none. ' +
        'Default: `#` or `//`, if such lines stand between the records and are not divided like them.',
    },
    markedRecords: {
      type: 'boolean',
      default: false,
      description:
        'CSV: whether lines that begin with `comment` are records if they have as many values as there are columns. ' +
        'It is true with a `comment` that is recognised.',
    },
    ragged: {
      type: 'boolean',
      default: false,
      description: 'CSV: whether records may have fewer values than there are columns. The missing values are null.',
    },
    nullValues: {
      ...nullValuesSchema,
      description:
        'Words that stand for a missing value in all columns. ' +
        'Default: `NA`, `N/A`, `#N/A`, `NULL` and `-`, in columns that are not texts.',
    },
    sheet: {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description: 'xlsx, ods: name of the sheet. Default: the first one.',
    },
    path: {
      type: 'string',
      minLength: 1,
      maxLength: 1000,
      description: 'JSON: keys that lead to the array of objects in a document, joined by dots, e.g. `result.items`.',
    },
    ...readingSchema,
    columns: {
      type: 'array',
      minItems: 1,
      maxItems: MAX_COLUMNS,
      description:
        'Columns of a CSV file or sheet in its order, or keys of JSON objects. Default: found by reading the whole file on each opening.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name', 'type'],
        allOf: separatorsDiffer,
        properties: {
          name: { type: 'string', minLength: 1, maxLength: 1000 },
          key: { type: 'string', maxLength: 1000, description: 'JSON: key of the objects. Default: the name.' },
          type: {
            type: 'string',
            pattern: COLUMN_TYPE,
            examples: [...COLUMN_TYPES, 'DECIMAL(12,2)'],
            description:
              '`VARCHAR` keeps the text as it is; `DECIMAL(p,s)` is exact; `UBIGINT` is a whole number of 64 bits without a sign; ' +
              'a `TIMESTAMP` is UTC.',
          },
          ...readingSchema,
          trim: {
            type: 'boolean',
            description:
              'CSV: whether values are read without the blanks around them, and blanks alone are a missing value. ' +
              'A `VARCHAR` keeps its blanks.',
          },
          nullValues: { ...nullValuesSchema, description: 'Words that stand for a missing value in this column.' },
        },
      },
    },
  },
};

export const secretsSchema = { type: 'object', additionalProperties: false, properties: {} };

/**
 * Returns column names for the table `data`: none is empty, and all differ in more than case, which SQL ignores. Throws
 * BAD_USER_INPUT for a U+0000, which SQL does not have.
 */
export function tableNames(original: readonly string[]): string[] {
  const broken = original.find((name) => name.includes('\0'));
  if (broken !== undefined)
    throw badInput(`The column name ${JSON.stringify(broken.slice(0, 100))} has a character U+0000`);
  const names = original.map((name, i) => (name.trim() === '' ? `column_${i + 1}` : name));
  const preferred = new Set(names.map((name) => name.toLowerCase()));
  const assigned = new Set<string>();
  return names.map((name) => {
    let unique = name;
    for (let n = 2; assigned.has(unique.toLowerCase()) || (unique !== name && preferred.has(unique.toLowerCase())); n++)
      unique = `${name}_${n}`;
    assigned.add(unique.toLowerCase());
    return unique;
  });
}

/** Returns the columns that have other names than in the file, because names differ in case alone, or not at all. */
export const renamedProblems = (original: readonly string[], names: readonly string[]): FileProblem[] =>
  names.flatMap((name, i) => {
    const written = original[i]!;
    if (written === name || written.trim() === '') return [];
    const message =
      `Another column has the name ${JSON.stringify(written)}, apart from upper and lower case, so this one is named ` +
      `${JSON.stringify(name)}. Change one of them in the file if that is wrong`;
    return [{ column: name, message }];
  });
