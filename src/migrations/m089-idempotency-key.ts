import { Migration } from '@mikro-orm/migrations';
import { ofTenants } from './tenant-table.ts';

/** Stores the idempotency keys of mutations: one row for a key and a mutation of its request. */
export class IdempotencyKey extends Migration {
  override up(): void {
    // `key` is a digest of caller and key, `path` the key of the mutation in the data of the response.
    this.addSql(`create table dws.idempotency_key (
      tenant_id uuid not null references dws.tenant, user_id uuid not null references dws.app_user on delete cascade,
      key text not null, path text not null, fingerprint text not null, run_id uuid not null, operation_id uuid,
      thing_id uuid, thing_type text, sealed bytea not null, ended boolean not null,
      created_at timestamptz not null default now(), primary key (user_id, key, path));`);
    this.addSql(`create index idempotency_key_age on dws.idempotency_key (created_at);`);
    this.addSql(ofTenants('idempotency_key'));
  }
}
