import { Migration } from '@mikro-orm/migrations';
import { ofTenants } from './tenant-table.ts';

/**
 * Columns for the tenant and the app of a row. The tables have no key to the tenant, for the reason in
 * m017-cheaper-writes.ts.
 */
const OF_APP = 'tenant_id uuid not null, app_id uuid not null references dws.app on delete cascade';

/** Counts the refused calls of webhooks by day, and gives apps tokens by which their webhooks are called. */
export class WebhookProof extends Migration {
  override up(): void {
    this.addSql(`create table dws.webhook_refusal_day (${OF_APP},
      day date not null, method text not null, route text not null, reason text not null, calls bigint not null,
      primary key (app_id, day, method, route, reason));`);
    this.addSql(`create index webhook_refusal_day_age on dws.webhook_refusal_day using brin (day);`);
    this.addSql(`create table dws.app_hook_token (
      app_id uuid primary key references dws.app on delete cascade, tenant_id uuid not null,
      sealed text not null, digest text not null unique, former_digest text, former_until timestamptz);`);
    this.addSql(`create index app_hook_token_former on dws.app_hook_token (former_digest)
      where former_digest is not null;`);
    for (const table of ['webhook_refusal_day', 'app_hook_token']) this.addSql(ofTenants(table));
  }
}
