import { Field, ObjectType, registerEnumType } from 'type-graphql';
import type { ExportChunk as ExportChunkShape, ExportFormat } from '../src/services/export-file.ts';

export const ExportFormatEnum = { CSV: 'csv', JSON: 'json', NDJSON: 'ndjson' } as const satisfies Record<string, ExportFormat>;
registerEnumType(ExportFormatEnum, {
  name: 'ExportFormat',
  description: 'Format of an export.',
  valuesConfig: { CSV: { description: 'Comma-separated values with a header (RFC 4180).' }, JSON: { description: 'One JSON array.' }, NDJSON: { description: 'One JSON object a line.' } },
});

/** A piece of an export. */
@ObjectType({ description: 'A piece of an exported file, in order.' })
export class ExportChunk implements ExportChunkShape {
  @Field(() => String, { description: 'The piece.' }) text!: string;
  @Field(() => String, { description: 'Name of the file.' }) filename!: string;
  @Field(() => String, { description: 'Its media type.' }) contentType!: string;
}
