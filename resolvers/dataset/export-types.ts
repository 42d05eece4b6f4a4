import { Field, ObjectType, registerEnumType } from 'type-graphql';
import type { ExportFormat } from '../../src/core/export-format.ts';
import type { ExportChunk as ExportChunkShape } from '../../src/services/resource/export-file.ts';

export const ExportFormatEnum = {
  CSV: 'csv',
  JSON: 'json',
  NDJSON: 'ndjson',
  XLSX: 'xlsx',
  PARQUET: 'parquet',
} as const satisfies Record<string, ExportFormat>;
registerEnumType(ExportFormatEnum, {
  name: 'ExportFormat',
  description: 'Format of an export. Columns are called by the names of the fields.',
  valuesConfig: {
    CSV: {
      description:
        'Comma-separated values with a header (RFC 4180). Values are written as they are, also those that a spreadsheet takes for a formula because they begin with `=`, `+`, `-` or `@`.',
    },
    JSON: { description: 'One JSON array.' },
    NDJSON: { description: 'One JSON object a line.' },
    XLSX: {
      description:
        'An Excel workbook, of several sheets past 1,048,576 rows, for at most 16,384 fields. Fields with a `format` and dates before March 1900 are text, for Excel cannot hold them exactly; ' +
        'texts are never formulas, and those past 32,767 characters are cut, ending in `…`.',
    },
    PARQUET: {
      description:
        'Apache Parquet. Integers have 64 bits, those past the signed ones are unsigned; decimals that a double would spoil are strings of exact digits.',
    },
  },
});

export const ChunkEncodingEnum = { UTF8: 'utf8', BASE64: 'base64' } as const satisfies Record<
  string,
  ExportChunkShape['encoding']
>;
registerEnumType(ChunkEncodingEnum, {
  name: 'ChunkEncoding',
  description: 'How a piece of a file is written as text.',
  valuesConfig: { UTF8: { description: 'It is text.' }, BASE64: { description: 'Its bytes in Base64.' } },
});

/** A piece of an export. */
@ObjectType({ description: 'A piece of an exported file, in order.' })
export class ExportChunk implements ExportChunkShape {
  @Field(() => String, {
    description:
      'The piece: as it is for formats that are text, its bytes in Base64 (to be decoded piece by piece) for `XLSX` and `PARQUET`.',
  })
  text!: string;
  @Field(() => ChunkEncodingEnum, { description: 'How `text` is to be read.' }) encoding!: ExportChunkShape['encoding'];
  @Field(() => String, { description: 'Name of the file.' }) filename!: string;
  @Field(() => String, { description: 'Its media type.' }) contentType!: string;
}
