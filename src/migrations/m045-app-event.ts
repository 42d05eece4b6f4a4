import { Migration } from '@mikro-orm/migrations';
import { ofTenants } from './tenant-table.ts';

/** Creates the events that handlers of apps raise, and lets apps send notifications and render templates for teams. */
export class AppEvents extends Migration {
  override up(): void {
    // For agents. `depth` is how many handlers called each other to get to the one that raised the event.
    this.addSql(`create table dws.app_event (id uuid primary key, tenant_id uuid not null references dws.tenant,
      app_id uuid not null references dws.app on delete cascade,
      name text not null, payload jsonb not null, principal text not null, depth integer not null,
      created_at timestamptz not null default now());`);
    this.addSql(`create index app_event_app on dws.app_event (app_id, created_at);`);
    this.addSql(`create index app_event_age on dws.app_event using brin (created_at);`);
    this.addSql(ofTenants('app_event'));

    // Teams have renditions too: handlers of their apps render templates.
    this.addSql(`alter table dws.rendition drop constraint rendition_user_id_fkey;`);
    this.addSql(`create function dws.forget_renditions() returns trigger language plpgsql as $$
      begin
        delete from dws.rendition where tenant_id = old.tenant_id and user_id = old.id;
        return null;
      end $$;`);
    for (const table of ['app_user', 'team'])
      this.addSql(
        `create trigger forget_renditions after delete on dws.${table} for each row
          execute function dws.forget_renditions();`,
      );

    this.addSql(`alter table dws.notification add column link text;`);
    this.addSql(
      `create index notification_of_apps on dws.notification (tenant_id, created_at) where type = 'app.notification';`,
    );
  }
}
