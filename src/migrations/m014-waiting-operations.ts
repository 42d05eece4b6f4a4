import { Migration } from '@mikro-orm/migrations';

/** Counts the waiting operations of a user by an index. */
export class WaitingOperations extends Migration {
  override up(): void {
    this.addSql(`create index operation_waiting on dws.operation (tenant_id, user_id)
      where status = 'queued' and finished_at is null`);
  }
}
