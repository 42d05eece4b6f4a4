import { DatabaseSync } from 'node:sqlite';
import { useFiles, type OpenFile } from '../support/uploaded-source.ts';

/** Sets up a folder for the SQLite files of a test file, and functions that create them. */
export function useSqliteFiles() {
  const files = useFiles();
  let created = 0;

  /** Creates a SQLite file with these statements and opens it. */
  function createFile(
    sql: string,
    fill: (database: DatabaseSync) => void = () => {},
  ): { name: string; file: OpenFile } {
    const name = `created-${created++}.sqlite`;
    const database = new DatabaseSync(files.path(name));
    database.exec(sql);
    fill(database);
    database.close();
    return { name, file: files.open('sqlite', name) };
  }

  /** Creates a file with one table without rows, and opens it. */
  const createEmptyFile = () => createFile('create table t (i)').file;

  return { files, createFile, createEmptyFile };
}
