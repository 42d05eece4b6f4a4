import { Migration } from '@mikro-orm/migrations';
import { ofTenants, ROW } from './tenant-table.ts';

/** Creates the connections of libraries and toolkits, and the authorizations that wait for their callback. */
export class Connections extends Migration {
  override up(): void {
    this.addSql(`create table dws.connection (${ROW},
      library_id uuid unique references dws.library on delete cascade,
      toolkit_id uuid unique references dws.toolkit on delete cascade,
      owner_id uuid not null references dws.app_user on delete cascade,
      integration_id uuid references dws.integration on delete cascade,
      status text not null check (status in ('connected', 'expired')), sealed_tokens text not null, sealed_client text,
      account jsonb, token_expires_at timestamptz, refresh_token_expires_at timestamptz,
      last_authorized_at timestamptz not null, check (num_nonnulls(library_id, toolkit_id) = 1));`);
    this.addSql(`create index connection_owner on dws.connection (owner_id);`);
    this.addSql(
      `create index connection_integration on dws.connection (integration_id) where integration_id is not null;`,
    );
    this.addSql(ofTenants('connection'));
    this.addSql(`create table dws.oauth_state (state_hash text primary key,
      tenant_id uuid not null references dws.tenant, user_id uuid not null references dws.app_user on delete cascade,
      library_id uuid references dws.library on delete cascade,
      toolkit_id uuid references dws.toolkit on delete cascade,
      sealed text not null, expires_at timestamptz not null,
      check (num_nonnulls(library_id, toolkit_id) = 1));`);
    for (const column of ['user_id', 'library_id', 'toolkit_id'])
      this.addSql(`create index oauth_state_${column} on dws.oauth_state (${column});`);
    this.addSql(ofTenants('oauth_state'));
  }
}
