/**
 * SQL for the processes that wait for an advisory lock of the same database. `pg_locks` has those of the whole cluster, with
 * which other test files work at the same time.
 */
export const WAITING_FOR_LOCKS = `
  select pid from pg_locks
  where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())`;
