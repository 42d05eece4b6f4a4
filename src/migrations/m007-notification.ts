import { Migration } from '@mikro-orm/migrations';
import { ROW, ofTenants } from './tenant-table.ts';

/** Creates notifications. */
export class Notifications extends Migration {
  override up(): void {
    this.addSql(`create table dws.notification (${ROW},
      user_id uuid not null references dws.app_user on delete cascade, type text not null, message text not null,
      resource_kind text, resource_id uuid, read_at timestamptz,
      check ((resource_kind is null) = (resource_id is null)));`);
    this.addSql(`create index notification_user on dws.notification (user_id, created_at desc, id desc);`);
    this.addSql(`create index notification_created on dws.notification (created_at);`);
    this.addSql(
      `create trigger tell_notification after insert on dws.notification for each row
        execute function dws.tell('dws_notification', 'user_id');`,
    );

    this.addSql(ofTenants('notification'));
  }
}
