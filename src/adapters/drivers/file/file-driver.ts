import type { Driver } from '../../../core/row-source.ts';
import { connectUploaded, detectUploadedConfig } from '../query-process/uploaded-connection.ts';
import { configSchema, secretsSchema } from './file-config.ts';

/** Driver of uploaded tables: CSV, JSON, NDJSON, Parquet and workbooks. Queries use DuckDB's SQL on the table `data`. */
export const fileDriver: Driver = {
  id: 'file',
  name: 'File (CSV, JSON, NDJSON, Parquet, xlsx, ods)',
  defaultPort: null,
  features: ['sql', 'parameters', 'schema', 'cancel', 'upload'],
  configSchema,
  secretsSchema,
  upload: {
    detectConfig: (path, filename, signal, given) => detectUploadedConfig('file', path, filename, signal, given),
    defaultQuery: () => 'select * from data',
  },
  connect: (config, _secrets, file) => connectUploaded('file', config, file),
};
