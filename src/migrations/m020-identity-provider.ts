import { Migration } from '@mikro-orm/migrations';
import { ROW, ofTenants } from './tenant-table.ts';

/** Creates identity providers, their users' identities, and the record of logins that were used. */
export class IdentityProviders extends Migration {
  override up(): void {
    this.addSql(`create table dws.identity_provider (${ROW}, domain text not null, name text not null,
      issuer text not null, client_id text not null, sealed_client_secret text,
      scope text not null, username_claim text not null, create_users boolean not null,
      email_domains jsonb not null, team_ids jsonb not null, enabled boolean not null);`);
    this.addSql(`create unique index identity_provider_domain on dws.identity_provider (tenant_id, lower(domain))
      where enabled;`);

    this.addSql(`create table dws.user_identity (tenant_id uuid not null references dws.tenant,
      provider_id uuid not null references dws.identity_provider on delete cascade, subject text not null,
      user_id uuid not null references dws.app_user on delete cascade, created_at timestamptz not null default now(),
      primary key (provider_id, subject), unique (provider_id, user_id));`);
    this.addSql(`create index user_identity_user on dws.user_identity (user_id);`);
    for (const table of ['identity_provider', 'user_identity']) this.addSql(ofTenants(table));

    this.addSql(`create table dws.used_login (state_hash text primary key, at timestamptz not null default now());`);
    this.addSql(`create index used_login_at on dws.used_login (at);`);
    this.addSql(`grant select, insert, delete on dws.used_login to dws_system;`);
  }
}
