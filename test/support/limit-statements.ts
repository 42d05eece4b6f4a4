import { runSql } from './run-sql.ts';

/** Refuses statements that update or delete more than a number of rows of a table. */
export async function limitStatements(databaseUrl: string, table: string, maxRows: number): Promise<void> {
  await runSql(
    databaseUrl,
    `create function dws.check_part() returns trigger language plpgsql as $$
    begin
      if (select count(*) from changed) > ${maxRows} then raise 'More than ${maxRows} rows by one statement'; end if;
      return null;
    end $$`,
  );
  for (const [event, rows] of [
    ['update', 'new'],
    ['delete', 'old'],
  ])
    await runSql(
      databaseUrl,
      `create trigger check_part_${event} after ${event} on dws.${table}
      referencing ${rows} table as changed for each statement execute function dws.check_part()`,
    );
}
