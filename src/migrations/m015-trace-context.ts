import { Migration } from '@mikro-orm/migrations';

/** Stores with operations and mails the trace of the request that caused them. */
export class TraceContext extends Migration {
  override up(): void {
    this.addSql(`alter table dws.operation add column traceparent text`);
    this.addSql(`alter table dws.mail add column traceparent text`);
  }
}
