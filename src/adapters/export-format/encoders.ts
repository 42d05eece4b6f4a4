import type { ExportEncoder, ExportFormat } from '../../core/export-format.ts';
import { parquet } from './parquet.ts';
import { csv, json, ndjson } from './text.ts';
import { xlsx } from './xlsx.ts';

export const EXPORT_ENCODERS: Readonly<Record<ExportFormat, ExportEncoder>> = { csv, json, ndjson, xlsx, parquet };
