import type { Driver } from '../../../core/row-source.ts';
import { connectUploaded, detectUploadedConfig } from '../query-process/uploaded-connection.ts';
import type { ColumnsFrom } from '../query-process/work.ts';
import { configSchema, secretsSchema, type FileConfig } from './file-config.ts';
import { detectLike } from './former-config.ts';

/** Driver of uploaded tables: CSV, JSON, NDJSON, Parquet and workbooks. Queries use DuckDB's SQL on the table `data`. */
export const fileDriver: Driver = {
  id: 'file',
  name: 'File (CSV, JSON, NDJSON, Parquet, xlsx, ods)',
  defaultPort: null,
  features: ['sql', 'parameters', 'schema', 'cancel', 'upload'],
  configSchema,
  secretsSchema,
  upload: {
    detectConfig(path, filename, signal, given = {}, former) {
      const detect = (config: Partial<FileConfig>, columnsFrom?: ColumnsFrom) =>
        detectUploadedConfig('file', path, filename, signal, { ...config }, columnsFrom);
      return former ? detectLike(former as Partial<FileConfig>, given, detect) : detect(given);
    },
    defaultQuery: () => 'select * from data',
  },
  connect: (config, _secrets, file) => connectUploaded('file', config, file),
};
