/**
 * SQL for the processes that wait for an advisory lock of the same database. `pg_locks` has the locks of the whole
 * cluster, which other test files use at the same time.
 */
export const WAITING_FOR_LOCKS = `
  select pid from pg_locks
  where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())`;
