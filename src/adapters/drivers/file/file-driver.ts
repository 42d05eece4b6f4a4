import type { Driver } from '../../../core/row-source.ts';
import { connectUploaded, recogniseUploaded } from '../query-process/uploaded-connection.ts';
import { configSchema, secretsSchema } from './file-config.ts';

/** The driver of uploaded tables: CSV, JSON, NDJSON and Parquet. SQL on them is DuckDB's, their rows are the table `data`. */
export const fileDriver: Driver = {
  id: 'file',
  name: 'File (CSV, JSON, NDJSON, Parquet)',
  defaultPort: null,
  features: ['sql', 'parameters', 'schema', 'cancel', 'upload'],
  configSchema,
  secretsSchema,
  upload: {
    recognise: (path, filename, signal) => recogniseUploaded('file', path, filename, signal),
    wholeQuery: () => 'select * from data',
  },
  connect: (config, _secrets, file) => connectUploaded('file', config, file),
};
