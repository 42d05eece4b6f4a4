import type { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { DECIMAL_COLUMNS, type ExportEncoder } from '../../core/export-format.ts';
import { endTurn } from '../../core/long-turns.ts';
import { columnOf } from './parquet-columns.ts';
import { RowGroup } from './parquet-group.ts';

/** Apache Parquet, compressed with Snappy, which every reader supports. */
export const parquet: ExportEncoder = {
  contentType: 'application/vnd.apache.parquet',
  async *encode(fields, batches) {
    const { ByteWriter, ParquetWriter } = await import('hyparquet-writer');
    const columns = fields.map(columnOf);
    const bytes = new ByteWriter();
    const root = { name: 'schema', num_children: columns.length };
    const file = new ParquetWriter({
      writer: bytes,
      schema: [root, ...columns.map(({ element, stated = element }) => stated)],
      createdBy: 'data-workspace-service',
    });
    let group = new RowGroup(columns);
    for await (const batch of batches) {
      for (const row of batch) {
        group.add(row);
        if (!group.full) continue;
        yield* written(group, file, bytes);
        group = new RowGroup(columns);
      }
    }
    if (group.rows > 0) yield* written(group, file, bytes);
    const decimals = columns.flatMap(({ name, decimalType }) => {
      const type = decimalType?.();
      return type === undefined ? [] : [[name, type]];
    });
    if (decimals.length > 0) file.kvMetadata = [{ key: DECIMAL_COLUMNS, value: JSON.stringify(decimals) }];
    void file.finish();
    yield taken(bytes);
  },
};

/**
 * Writes a group column by column, because `ParquetWriter.write` would block the event loop until all columns are
 * done.
 */
async function* written(group: RowGroup, file: ParquetWriter, bytes: ByteWriter): AsyncGenerator<Uint8Array> {
  const { writeColumn } = await import('hyparquet-writer/src/column.js');
  const start = bytes.offset;
  const columns = [];
  let size = 0n;
  for (const { column, pageData } of group.columns(file)) {
    const turnStart = performance.now();
    const { chunk } = writeColumn({ writer: bytes, column, pageData });
    columns.push(chunk);
    size += chunk.meta_data!.total_uncompressed_size;
    if (bytes.index > 0) yield taken(bytes);
    await endTurn(performance.now() - turnStart);
  }
  file.row_groups.push({
    columns,
    num_rows: BigInt(group.rows),
    total_byte_size: size,
    total_compressed_size: BigInt(bytes.offset - start),
  });
  file.num_rows += BigInt(group.rows);
}

/** Returns the bytes written so far and empties the buffer. */
function taken(bytes: ByteWriter): Uint8Array {
  const copy = bytes.getBytes().slice();
  bytes.index = 0;
  return copy;
}
