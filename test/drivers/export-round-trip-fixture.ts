import { mkdir, rm, writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { openDuckdbIndex } from '../../src/adapters/dataset-index/duckdb/duckdb-index.ts';
import { tableNames, type FileConfig } from '../../src/adapters/drivers/file/file-config.ts';
import { openEngine } from '../../src/adapters/drivers/file/file-engine.ts';
import { EXPORT_ENCODERS } from '../../src/adapters/export-format/encoders.ts';
import type { Row } from '../../src/core/dataset-index.ts';
import { EXPORT_FORMATS, type CsvStyle, type ExportFormat } from '../../src/core/export-format.ts';
import type { Field } from '../../src/core/fields.ts';
import { newId } from '../../src/core/id.ts';
import type { FileProblem } from '../../src/core/row-source.ts';
import { boundQuery, neverAborted } from '../support/postgres-source.ts';
import { useFiles } from '../support/uploaded-source.ts';
import { runDuckdb, SELECT_ALL } from './driver-file-fixture.ts';

/** The fields and rows of a dataset. Rows are in the order of the fields. */
export interface TableContent {
  fields: Pick<Field, 'name' | 'type' | 'format'>[];
  rows: unknown[][];
}

/** A column of values as texts, and its type in DuckDB. */
export interface ColumnContent {
  name: string;
  type: string;
  values: readonly (string | null)[];
}

/** Every format of an export, and CSV with a byte order mark. */
export const EXACT_EXPORTS: [ExportFormat, CsvStyle][] = [
  ...EXPORT_FORMATS.map((format): [ExportFormat, CsvStyle] => [format, {}]),
  ['csv', { bom: true }],
];

const MAX_CELL_CHARACTERS = 32_767;
const isMissing = (value: unknown): boolean => value === null;

/**
 * Returns what an upload of an export contains, as docs/contract/datasets.md#exports states it: everything, except what
 * the format cannot express.
 */
function expectedUpload(format: ExportFormat, { fields, rows }: TableContent): TableContent {
  const names = tableNames(fields.map(({ name }) => name));
  const valueOf = (value: unknown, { type }: Pick<Field, 'type'>) => {
    if (type === 'json' && (format === 'csv' || format === 'xlsx') && value !== null) return JSON.stringify(value);
    if (format !== 'xlsx' || typeof value !== 'string') return value;
    return value.length > MAX_CELL_CHARACTERS ? `${value.slice(0, MAX_CELL_CHARACTERS - 1)}…` : value || null;
  };
  const values = rows.map((row) => row.map((value, i) => valueOf(value, fields[i]!)));
  const typeOf = (
    { type, format: exact }: Pick<Field, 'type' | 'format'>,
    i: number,
  ): Pick<Field, 'type' | 'format'> => {
    if (format === 'parquet') return { type, ...(exact && { format: exact }) };
    const isText =
      values.every((row) => isMissing(row[i])) ||
      (type === 'json' && (format === 'csv' || format === 'xlsx')) ||
      (exact && (format === 'json' || format === 'ndjson'));
    return isText ? { type: 'string' } : { type, ...(exact && { format: exact }) };
  };
  return {
    fields: fields.map((field, i) => ({ name: names[i]!, ...typeOf(field, i) })),
    rows: format === 'xlsx' ? values.filter((row) => !row.every(isMissing)) : values,
  };
}

/** Sets up a folder, and functions that create datasets, export them and upload the files, all in this process. */
export function useRoundTrips() {
  const files = useFiles();
  let loads = 0;

  /** Loads a file into an index. */
  async function load(path: string, config: Record<string, unknown>): Promise<TableContent> {
    const dir = `${files.segments}/${loads++}`;
    await mkdir(dir);
    const index = openDuckdbIndex({ dir: `${files.dir}/index-${loads}` });
    try {
      const engine = openEngine(path, config);
      const columns = await engine.describe(boundQuery(SELECT_ALL), false);
      const segments = engine.segments(boundQuery(SELECT_ALL), dir, columns, new Float64Array(2));
      const plan = { flow: [], maxRows: 0, signal: neverAborted, progress: () => {} };
      const generation = await index.load(newId(), columns, segments, plan);
      const names = generation.fields.map(({ name }) => name);
      const query = { where: { kind: 'and' as const, nodes: [] }, words: [], wordFields: [], fields: names, sort: [] };
      const caller = { tenantId: 'tenant', userId: 'user' };
      const page = { start: 0, limit: 10_000, total: false };
      const { rows } = await index.search({ generation, caller, ...query, ...page }, neverAborted);
      return {
        fields: generation.fields.map(({ name, type, format }) => ({ name, type, ...(format && { format }) })),
        // In JSON there is no negative zero.
        rows: rows.map((row) => JSON.parse(JSON.stringify(names.map((name) => row[name] ?? null))) as unknown[]),
      };
    } finally {
      await index.close();
      await rm(dir, { recursive: true });
    }
  }

  /** Creates a dataset of typed columns. */
  async function datasetOf(columns: readonly ColumnContent[]): Promise<TableContent> {
    const [texts, table] = [files.path(`texts-${loads}`), files.path(`table-${loads}`)];
    const lines = columns[0]!.values.map((_, row) =>
      JSON.stringify(Object.fromEntries(columns.map(({ values }, i) => [`t${i}`, values[row]]))),
    );
    await writeFile(texts, `${lines.join('\n')}\n`);
    const types = columns.map((_, i) => `t${i}: 'VARCHAR'`).join(', ');
    const selected = columns.map(({ type }, i) => `t${i}::${type} as c${i}`).join(', ');
    const source = `read_json('${texts}', columns = {${types}}, format = 'newline_delimited')`;
    await runDuckdb(`copy (select ${selected} from ${source}) to '${table}' (format parquet)`);
    const { fields, rows } = await load(table, { format: 'parquet' });
    // A table of DuckDB cannot have names that differ in case only.
    return { fields: fields.map((field, i) => ({ ...field, name: columns[i]!.name })), rows };
  }

  async function exportOf(format: ExportFormat, { fields, rows }: TableContent, style: CsvStyle): Promise<Buffer> {
    const batch: Row[] = rows.map((row) => Object.fromEntries(fields.map(({ name }, i) => [name, row[i]])));
    const batches = (async function* () {
      yield batch;
    })();
    const labelled = fields.map((field) => ({ ...field, label: field.name }));
    const pieces: Buffer[] = [];
    for await (const piece of EXPORT_ENCODERS[format].encode(labelled, batches, 'Data', style))
      pieces.push(Buffer.from(piece as string));
    return Buffer.concat(pieces);
  }

  /** Uploads a file. */
  async function upload(format: ExportFormat, bytes: Buffer): Promise<TableContent & { problems: FileProblem[] }> {
    const path = files.path(`upload-${loads}`);
    await writeFile(path, bytes);
    const { config, problems } = (await openEngine(path, {}).detectConfig(`export.${format}`))!;
    return { ...(await load(path, config as Record<string, unknown> & FileConfig)), problems };
  }

  /** Exports a dataset in a format, and expects of the upload of the file what the contract states. */
  async function expectRoundTrip(table: TableContent, format: ExportFormat, style: CsvStyle = {}): Promise<void> {
    const { fields, rows } = await upload(format, await exportOf(format, table, style));
    const expected = expectedUpload(format, table);
    expect({ format, fields }).toEqual({ format, fields: expected.fields });
    for (const [i, { name }] of fields.entries())
      expect({ format, name, values: rows.map((row) => row[i]) }).toEqual({
        format,
        name,
        values: expected.rows.map((row) => row[i]),
      });
  }

  /** Expects the same of every format. */
  async function expectRoundTrips(columns: readonly ColumnContent[], exports = EXACT_EXPORTS): Promise<void> {
    const table = await datasetOf(columns);
    for (const [format, style] of exports) await expectRoundTrip(table, format, style);
  }

  return { datasetOf, exportOf, upload, expectRoundTrips };
}
