import { Migration } from '@mikro-orm/migrations';
import { ofTenants } from './tenant-table.ts';

/**
 * Columns for the tenant and the app of a record. The tables have no key to the tenant, for the reason in
 * m017-cheaper-writes.ts.
 */
const OF_APP = 'tenant_id uuid not null, app_id uuid not null references dws.app on delete cascade';

/** Creates the records of apps: lines of their logs, calls of their webhooks, and daily totals of the calls. */
export class AppRecords extends Migration {
  override up(): void {
    this.addSql(`create table dws.app_log (id uuid primary key, ${OF_APP},
      at timestamptz not null, level text not null check (level in ('debug', 'info', 'warn', 'error')),
      message text not null, route text, request_id text not null);`);
    // A replayed call may be older than those that are kept, so its id has no key.
    this.addSql(`create table dws.webhook_call (id uuid primary key, ${OF_APP},
      at timestamptz not null, method text not null, path text not null, route text,
      status integer not null, duration double precision not null, peak_memory bigint not null,
      error text, request_id text not null, replay_of_id uuid, request text);`);
    for (const table of ['app_log', 'webhook_call']) {
      this.addSql(`create index ${table}_app on dws.${table} (app_id, at desc, id desc);`);
      this.addSql(`create index ${table}_age on dws.${table} using brin (at);`);
    }
    this.addSql(`create table dws.webhook_day (${OF_APP},
      day date not null, method text not null, route text not null,
      calls bigint not null, duration double precision not null, errors bigint not null,
      primary key (app_id, day, method, route));`);
    this.addSql(`create index webhook_day_age on dws.webhook_day using brin (day);`);
    for (const table of ['app_log', 'webhook_call', 'webhook_day']) this.addSql(ofTenants(table));
  }
}
