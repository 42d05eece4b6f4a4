/** The key of the advisory lock that whoever reads a stored file for long shares; `$1` is the file's id. The janitor spares what is locked. */
export const FILE_LOCK = `hashtextextended('dws.file:' || $1, 0)`;
