import { Migration } from '@mikro-orm/migrations';

/** Adds the datasource of an app, which has the owner and the shares of its app. */
export class AppDatasources extends Migration {
  override up(): void {
    this.addSql(`alter table dws.datasource add column app_id uuid references dws.app on delete cascade;`);
    this.addSql(`create unique index datasource_app on dws.datasource (app_id) where app_id is not null;`);
    this.addSql(`create function dws.own_app_datasource() returns trigger language plpgsql as $$
      begin
        update dws.datasource set owner_id = new.owner_id where tenant_id = new.tenant_id and app_id = new.id;
        return null;
      end $$;`);
    this.addSql(
      `create trigger own_datasource after update of owner_id on dws.app for each row
        when (new.owner_id is distinct from old.owner_id) execute function dws.own_app_datasource();`,
    );
    this.addSql(`create function dws.share_app_datasource() returns trigger language plpgsql as $$
      begin
        if tg_op = 'DELETE' then
          delete from dws.share s using dws.datasource d
          where d.tenant_id = old.tenant_id and d.app_id = old.resource_id
            and s.tenant_id = old.tenant_id and s.resource_id = d.id and s.principal = old.principal;
        else
          insert into dws.share (id, tenant_id, kind, resource_id, principal, access_level)
          select gen_random_uuid(), d.tenant_id, 'datasource', d.id, new.principal, new.access_level
          from dws.datasource d
          where d.tenant_id = new.tenant_id and d.app_id = new.resource_id
          on conflict (resource_id, principal) do update
            set access_level = excluded.access_level, version = share.version + 1, updated_at = now();
        end if;
        return null;
      end $$;`);
    for (const [name, event, row] of [
      ['share_datasource', 'insert or update of access_level', 'new'],
      ['unshare_datasource', 'delete', 'old'],
    ])
      this.addSql(
        `create trigger ${name} after ${event} on dws.share for each row
          when (${row}.kind = 'app') execute function dws.share_app_datasource();`,
      );
    this.addSql(`create function dws.share_new_app_datasource() returns trigger language plpgsql as $$
      begin
        insert into dws.share (id, tenant_id, kind, resource_id, principal, access_level)
        select gen_random_uuid(), s.tenant_id, 'datasource', new.id, s.principal, s.access_level
        from dws.share s
        where s.tenant_id = new.tenant_id and s.kind = 'app' and s.resource_id = new.app_id;
        return null;
      end $$;`);
    this.addSql(
      `create trigger share_with_app after insert on dws.datasource for each row
        when (new.app_id is not null) execute function dws.share_new_app_datasource();`,
    );
  }
}
