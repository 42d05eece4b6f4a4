import { Migration } from '@mikro-orm/migrations';
import { ofTenants, ROW } from './tenant-table.ts';

/** Creates the grants of users to apps, and the declarations of apps and their releases. */
export class AppGrants extends Migration {
  override up(): void {
    const access = `access jsonb not null default '{"scopes": [], "required": [], "hosts": []}'`;
    this.addSql(`alter table dws.app add column ${access};`);
    this.addSql(`alter table dws.app_release add column ${access};`);
    this.addSql(`create table dws.app_grant (${ROW},
      user_id uuid not null references dws.app_user on delete cascade,
      app_id uuid not null references dws.app on delete cascade,
      owner_id text not null, release_id uuid not null,
      scopes jsonb not null default '[]', hosts jsonb not null default '[]',
      last_used_at timestamptz,
      unique (user_id, app_id));`);
    this.addSql(`create index app_grant_app on dws.app_grant (app_id);`);
    this.addSql(`create index app_grant_tenant on dws.app_grant (tenant_id);`);
    this.addSql(ofTenants('app_grant'));
  }
}
