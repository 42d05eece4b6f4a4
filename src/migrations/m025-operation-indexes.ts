import { Migration } from '@mikro-orm/migrations';

/**
 * Replaces the partial indexes of unfinished operations by full ones. While thousands of operations wait, the planner's
 * statistics still say that a few are unfinished; it then reads a whole partial index in place of one entry.
 */
export class OperationIndexes extends Migration {
  override up(): void {
    this.addSql(`drop index dws.operation_work, dws.operation_open;`);
    this.addSql(`create index operation_work on dws.operation (work_id);`);
    this.addSql(
      `create index operation_concurrency on dws.operation (concurrency_key, work_id) where concurrency_key is not null;`,
    );
    this.addSql(`create index operation_heartbeat on dws.operation (heartbeat_at) where heartbeat_at is not null;`);
  }
}
