import { Migration } from '@mikro-orm/migrations';

/**
 * Adds the read rows and bytes of a download to its audit event. Its event is inserted before the first byte, and
 * completed at the end.
 */
export class ReadAudit extends Migration {
  override up(): void {
    this.addSql(`
      alter table dws.audit_event
        add column parameters jsonb, add column rows double precision, add column bytes double precision;`);
    this.addSql(`grant update (outcome, rows, bytes) on dws.audit_event to dws_system;`);
  }
}
