/**
 * The key of the shared advisory lock of a stored file that is being read. `$1` is the file's id. The janitor deletes
 * no locked file.
 */
export const FILE_LOCK = `hashtextextended('dws.file:' || $1, 0)`;
