import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * Returns the SQL that creates a function of schema/functions, for a migration that needs it. Every later change of the
 * file is applied by `migrate`.
 */
export const databaseFunction = (name: string): string =>
  readFileSync(join(dirname(findPackageJSON(import.meta.url)!), `schema/functions/${name}.sql`), 'utf8');
