import { Migration } from '@mikro-orm/migrations';

/** Separates the lock of a job by an administrator from the lock of its runs (`locked_at`). */
export class JobLock extends Migration {
  override up(): void {
    this.addSql(`alter table dws.job add column admin_locked_at timestamptz;`);
  }
}
