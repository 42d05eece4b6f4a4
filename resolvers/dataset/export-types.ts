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
  description: 'File format of an export. Columns have the names of the fields.',
  valuesConfig: {
    CSV: {
      description:
        'Comma-separated values with a header (RFC 4180). Values are not escaped for spreadsheets: one that begins ' +
        'with `=`, `+`, `-` or `@` may be read as a formula.',
    },
    JSON: { description: 'One JSON array of objects.' },
    NDJSON: { description: 'One JSON object per line.' },
    XLSX: {
      description:
        'Excel workbook, for at most 16,384 fields; rows past 1,048,576 continue on further sheets. Fields with a ' +
        '`format` and dates before March 1900 are written as text, because Excel cannot represent them exactly. Text ' +
        'is never a formula; text past 32,767 characters is cut and ends in `…`.',
    },
    PARQUET: {
      description:
        'Apache Parquet. Integers have 64 bits; they are unsigned if a value exceeds the signed range. Decimals that ' +
        'a double would round are strings of exact digits.',
    },
  },
});

/** Keys are the names in GraphQL, values the internal ones. */
export const ChunkEncodingEnum = { UTF8: 'utf8', BASE64: 'base64' } as const satisfies Record<
  string,
  ExportChunkShape['encoding']
>;
registerEnumType(ChunkEncodingEnum, {
  name: 'ChunkEncoding',
  description: 'Encoding of a chunk of a file.',
  valuesConfig: { UTF8: { description: 'Plain text.' }, BASE64: { description: 'Bytes in Base64.' } },
});

@ObjectType({ description: 'A chunk of an exported file. Chunks arrive in order.' })
export class ExportChunk implements Omit<ExportChunkShape, 'rows' | 'resourceId'> {
  @Field(() => String, {
    description:
      'Content: plain text for text formats; for `XLSX` and `PARQUET`, bytes in Base64, to be decoded chunk by chunk.',
  })
  text!: string;

  @Field(() => ChunkEncodingEnum, { description: 'Encoding of `text`.' })
  encoding!: ExportChunkShape['encoding'];

  @Field(() => String, { description: 'Name of the file.' })
  filename!: string;

  @Field(() => String, { description: 'Media type of the file.' })
  contentType!: string;
}
