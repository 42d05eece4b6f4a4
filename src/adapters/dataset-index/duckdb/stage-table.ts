import { copyFile, rename } from 'node:fs/promises';
import { written } from '../../../core/disk-full.ts';
import { upstreamFailed } from '../../../core/errors.ts';
import type { Segment } from '../../../core/row-source.ts';
import { exactJsonSql, mayChangeSql } from './exact-json.ts';
import type { LoadStatements } from './load-statements.ts';
import { allowSegment } from './segment-reader.ts';
import type { SourceColumn } from './staging-types.ts';

/**
 * Stages a segment that is a table: with all of its columns its file becomes the staged file, otherwise the kept
 * columns are copied to a new one. Then removes values without a JSON form, and keeps the digits of numbers in JSON.
 * Throws UPSTREAM_FAILED unless the file has the table `data`.
 */
export async function stageTable(
  statements: LoadStatements,
  segment: Segment,
  alias: string,
  file: string,
  columns: SourceColumn[],
  kept: SourceColumn[],
): Promise<void> {
  await allowSegment(statements, segment);
  const keepsAll = kept === columns;
  if (keepsAll) {
    await written(move(segment.path, file));
    await statements.attach(file, alias);
    await checkTable(statements, alias);
  } else {
    await statements.create(file, alias, kept.length, segment.bytes / Math.max(segment.rows, 1));
    await statements.attach(segment.path, 'source');
    await checkTable(statements, 'source');
    const present = new Set(columns);
    const selected = kept.map((field) => `${present.has(field) ? field.column : field.select} AS ${field.column}`);
    await statements.change(`CREATE TABLE ${alias}.data AS SELECT ${selected.join(', ')} FROM source.data`);
    await statements.change('DETACH source');
  }
  await removeValuesWithoutForm(statements, `${alias}.data`, kept);
  await keepDigits(statements, `${alias}.data`, kept);
}

/** Checks that `data` is a table: a view would run SQL of the process that wrote the file. */
async function checkTable(statements: LoadStatements, alias: string): Promise<void> {
  const [found] = await statements.rows(
    `SELECT count(*) FROM duckdb_tables() WHERE database_name = '${alias}' AND table_name = 'data'`,
  );
  if (Number(found![0]) !== 1) throw upstreamFailed('The source sent a file without rows');
}

/** The folders of a source and of an index may be on different file systems. */
async function move(from: string, to: string): Promise<void> {
  await rename(from, to).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    return copyFile(from, to);
  });
}

/** Removes the values without a JSON form, and begins the sequences that count them after their number. */
async function removeValuesWithoutForm(statements: LoadStatements, table: string, kept: SourceColumn[]): Promise<void> {
  const guarded = kept.filter(({ hasForm }) => hasForm);
  if (guarded.length === 0) return;
  const counts = guarded.map(({ hasForm }) => `count(*) FILTER (WHERE NOT (${hasForm}))`);
  const [counted] = await statements.rows(`SELECT ${counts.join(', ')} FROM ${table}`);
  for (const [i, { column, sqlType, hasForm, lost }] of guarded.entries()) {
    if (Number(counted![i]) === 0) continue;
    await statements.change(
      `ALTER TABLE ${table} ALTER ${column} TYPE ${sqlType} USING CASE WHEN ${hasForm} THEN ${column} END`,
    );
    if (lost) await statements.change(`CREATE TEMP SEQUENCE ${lost} START ${Number(counted![i]) + 1}`);
  }
}

/** Rewrites the columns of JSON with numbers that would lose digits. */
async function keepDigits(statements: LoadStatements, table: string, kept: SourceColumn[]): Promise<void> {
  const columns = kept.filter(({ sqlType }) => sqlType === 'JSON').map(({ column }) => column);
  if (columns.length === 0) return;
  const counts = columns.map((column) => `count(*) FILTER (WHERE ${mayChangeSql(column)})`);
  const [counted] = await statements.rows(`SELECT ${counts.join(', ')} FROM ${table}`);
  for (const [i, column] of columns.entries())
    if (Number(counted![i]) > 0)
      await statements.change(`ALTER TABLE ${table} ALTER ${column} TYPE JSON USING ${exactJsonSql(column)}`);
}
