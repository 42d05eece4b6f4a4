import { Migration } from '@mikro-orm/migrations';

/** Adds the index that counts a user's waiting operations. */
export class WaitingOperations extends Migration {
  override up(): void {
    this.addSql(`create index operation_waiting on dws.operation (tenant_id, user_id)
      where status = 'queued' and finished_at is null`);
  }
}
