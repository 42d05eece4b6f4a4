import { Migration } from '@mikro-orm/migrations';

/** Records in which trace a handler emitted an event, so that the agents that run on it continue the trace. */
export class AppEventTrace extends Migration {
  override up(): void {
    this.addSql(`alter table dws.app_event add column traceparent text;`);
  }
}
