import { Migration } from '@mikro-orm/migrations';
import { ofTenants, ROW } from './tenant-table.ts';

/** SQL for a new UUID of version 7: the time in milliseconds, then random bits. */
const NEW_ID = `encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
  placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
  52, 1), 53, 1), 'hex')::uuid`;

/** Creates usage profiles, including two for every tenant, and their assignments to teams and users. */
export class UsageProfiles extends Migration {
  override up(): void {
    this.addSql(`create table dws.usage_profile (${ROW},
      name text not null, slug text not null check (slug ~ '^[a-z][a-z0-9-]*$'), description text not null,
      credit_cap_per_month integer check (credit_cap_per_month >= 0),
      allowed_model_tiers jsonb not null default '[]',
      is_default boolean not null default false, system boolean not null default false);`);
    this.addSql(`create unique index usage_profile_slug on dws.usage_profile (tenant_id, slug);`);
    this.addSql(`create unique index usage_profile_default on dws.usage_profile (tenant_id) where is_default;`);
    this.seedTenants();
    this.addSql(ofTenants('usage_profile'));

    this.addSql(`alter table dws.app_user add column usage_profile_id uuid;`);
    for (const table of ['app_user', 'team']) {
      this.addSql(`alter table dws.${table} add foreign key (usage_profile_id) references dws.usage_profile;`);
      this.addSql(`create index ${table}_usage_profile on dws.${table} (usage_profile_id)
        where usage_profile_id is not null;`);
    }
  }

  /** A trigger, so that no tenant is without them, however it is created. A restore suspends it, as its backup has them. */
  private seedTenants(): void {
    // They are listed in the order of their creation.
    this.addSql(`create function dws.seed_usage_profiles(tenant uuid) returns void language sql as $$
      insert into dws.usage_profile
        (id, tenant_id, name, slug, description, credit_cap_per_month, allowed_model_tiers, is_default, system, created_at)
      values
        (${NEW_ID}, tenant, 'Standard', 'standard', 'Everyday and advanced models, up to 1,000 credits a month.', 1000,
          '["everyday", "advanced"]', true, true, now() - interval '1 ms'),
        (${NEW_ID}, tenant, 'Premium', 'premium', 'All models, without a monthly cap.', null,
          '["everyday", "advanced", "strategic"]', false, true, now());
    $$;`);
    this.addSql(`select dws.seed_usage_profiles(id) from dws.tenant;`);
    this.addSql(`create function dws.seed_tenant() returns trigger language plpgsql as $$
      begin
        perform dws.seed_usage_profiles(new.id);
        return null;
      end $$;`);
    this.addSql(
      `create trigger seed_tenant after insert on dws.tenant for each row execute function dws.seed_tenant();`,
    );
  }
}
