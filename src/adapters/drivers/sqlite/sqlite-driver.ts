import { open } from 'node:fs/promises';
import type { Driver } from '../../../core/row-source.ts';
import { connectUploaded, detectUploadedConfig } from '../query-process/uploaded-connection.ts';

const MAGIC = Buffer.from('SQLite format 3\0');

const configSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    table: {
      type: 'string',
      minLength: 1,
      maxLength: 1000,
      description: "The table or view whose rows are the file's, where a dataset is made of the file itself.",
    },
  },
};

const secretsSchema = { type: 'object', additionalProperties: false, properties: {} };

/** Driver of uploaded SQLite files. */
export const sqliteDriver: Driver = {
  id: 'sqlite',
  name: 'SQLite',
  defaultPort: null,
  features: ['sql', 'parameters', 'schema', 'cancel', 'upload'],
  configSchema,
  secretsSchema,
  upload: {
    async detectConfig(path, filename, signal, _given, former) {
      const found = (await isSqlite(path)) ? await detectUploadedConfig('sqlite', path, filename, signal) : null;
      return found && { ...found, config: { ...former, ...found.config } };
    },
    defaultQuery: ({ table }) => (typeof table === 'string' ? `select * from "${table.replaceAll('"', '""')}"` : null),
  },
  connect: (config, _secrets, file) => connectUploaded('sqlite', config, file),
};

async function isSqlite(path: string): Promise<boolean> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
    return bytesRead === MAGIC.length && buffer.equals(MAGIC);
  } finally {
    await handle.close();
  }
}
