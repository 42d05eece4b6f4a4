import { Migration } from '@mikro-orm/migrations';
import { ROW, ofTenants } from './tenant-table.ts';

/** Creates AI providers of tenants and of single users. */
export class AiProviders extends Migration {
  override up(): void {
    this.addSql(`create table dws.ai_provider (${ROW}, name text not null, base_url text not null,
      sealed_api_key text, models jsonb not null, enabled boolean not null,
      owner_id uuid references dws.app_user on delete cascade);`);
    this.addSql(`create index ai_provider_tenant on dws.ai_provider (tenant_id, owner_id);`);
    this.addSql(`create index ai_provider_owner on dws.ai_provider (owner_id) where owner_id is not null;`);
    this.addSql(ofTenants('ai_provider'));
  }
}
