const MIGRATION = /^migrations\/([^/]+\.sql)$/;

/** Returns the name of the migration in a file of an app; null if the file is not a migration. */
export const migrationOf = (path: string): string | null => MIGRATION.exec(path)?.[1] ?? null;

/** Compares texts by their code points, as UTF-8 orders them. */
export const byCodePoints = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));
