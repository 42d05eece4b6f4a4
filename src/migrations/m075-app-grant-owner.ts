import { Migration } from '@mikro-orm/migrations';

/** Deletes the grants to an app that gets another owner: they neither stay in lists nor hold again for a former owner. */
export class AppGrantOwners extends Migration {
  override up(): void {
    // Policies bind the owner of a table, too, unless they are not forced.
    for (const table of ['app', 'app_grant']) this.addSql(`alter table dws.${table} no force row level security;`);
    this.addSql(`delete from dws.app_grant g using dws.app a
      where a.tenant_id = g.tenant_id and a.id = g.app_id and a.owner_id <> g.owner_id;`);
    for (const table of ['app', 'app_grant']) this.addSql(`alter table dws.${table} force row level security;`);
    this.addSql(`create function dws.end_app_grants() returns trigger language plpgsql as $$
      begin
        delete from dws.app_grant where tenant_id = new.tenant_id and app_id = new.id;
        return null;
      end $$;`);
    this.addSql(
      `create trigger end_grants after update of owner_id on dws.app for each row
        when (new.owner_id is distinct from old.owner_id) execute function dws.end_app_grants();`,
    );
  }
}
