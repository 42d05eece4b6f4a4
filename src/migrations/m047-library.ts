import { Migration } from '@mikro-orm/migrations';
import { ownedTable } from './owned-table.ts';
import { searchFunction } from './search-function.ts';
import { searchedTable } from './searched-table.ts';
import { ofTenants, ROW } from './tenant-table.ts';

/** The search finds the integrations of the tenant, not the integrations of single libraries. */
const SEARCHED_INTEGRATIONS = { kind: 'integration', table: 'integration', but: 'r.embedded' };

/** Creates libraries, the integrations with which they connect, and their files. */
export class Libraries extends Migration {
  override up(): void {
    this.addSql(`create table dws.integration (${ROW},
      name text not null, type text not null, embedded boolean not null default false, own_library_id uuid,
      creator_id uuid references dws.app_user on delete set null, auth_type text not null, client_id text not null,
      sealed_client_secret text, auth_uri text not null, token_uri text not null, revoke_uri text, api_uri text not null,
      content_uri text, scope text not null, check (embedded = (own_library_id is not null)));`);
    this.addSql(`create index integration_name on dws.integration (tenant_id, lower(name), id);`);
    this.addSql(ofTenants('integration'));
    for (const sql of searchedTable(SEARCHED_INTEGRATIONS)) this.addSql(sql);
    this.addSql(searchFunction(SEARCHED_INTEGRATIONS));
    const columns = [
      'integration_id uuid references dws.integration',
      `settings jsonb not null default '{}'`,
      'file_count integer not null default 0',
      'bytes bigint not null default 0',
      'last_sync_at timestamptz',
      'last_sync jsonb',
    ];
    for (const sql of ownedTable('library', 'library', columns)) this.addSql(sql);
    this.addSql(`create index library_integration on dws.library (integration_id) where integration_id is not null;`);
    this.addSql(
      `alter table dws.integration add foreign key (own_library_id) references dws.library on delete cascade;`,
    );
    this.addSql(
      `create index integration_library on dws.integration (own_library_id) where own_library_id is not null;`,
    );
    this.addSql(`create table dws.library_file (${ROW},
      library_id uuid not null references dws.library on delete cascade, file_id text not null,
      name text not null, path text collate "C" not null, content_type text not null, size bigint, hash text,
      status text not null check (status in ('synced', 'skipped', 'failed')), reason text, url text,
      modified_at timestamptz, synced_at timestamptz, stored_file_id uuid references dws.stored_file,
      unique (library_id, file_id));`);
    this.addSql(`create index library_file_path on dws.library_file (library_id, path, id);`);
    this.addSql(
      `create index library_file_stored on dws.library_file (stored_file_id) where stored_file_id is not null;`,
    );
    this.addSql(ofTenants('library_file'));
    this.createContentTriggers();
    this.createSearchTriggers();
  }

  /** Deletes the stored file of a file that is deleted or gets other contents. */
  private createContentTriggers(): void {
    this.addSql(`create function dws.forget_library_file() returns trigger language plpgsql as $$
      begin
        delete from dws.stored_file f
        where f.tenant_id = old.tenant_id and f.id = old.stored_file_id
          and not exists (select from dws.library_file l where l.stored_file_id = old.stored_file_id);
        return null;
      end $$;`);
    this.addSql(
      `create trigger forget_file_of_row after delete on dws.library_file for each row
        when (old.stored_file_id is not null) execute function dws.forget_library_file();`,
    );
    this.addSql(
      `create trigger forget_replaced_file after update of stored_file_id on dws.library_file for each row
        when (old.stored_file_id is not null and new.stored_file_id is distinct from old.stored_file_id)
        execute function dws.forget_library_file();`,
    );
  }

  /** Adds files to the global search, with the owner of their library and their path as description. */
  private createSearchTriggers(): void {
    this.addSql(`create function dws.search_library_file() returns trigger language plpgsql as $$
      begin
        if tg_op = 'DELETE' then
          delete from dws.search_entry where tenant_id = old.tenant_id and kind = 'library-file' and id = old.id;
        else
          perform dws.put_search_entry(new.tenant_id, 'library-file', new.id,
            (select l.owner_id from dws.library l where l.id = new.library_id), new.name, null, new.path,
            new.updated_at);
        end if;
        return null;
      end $$;`);
    this.addSql(
      `create trigger search_entry after insert or delete on dws.library_file for each row
        execute function dws.search_library_file();`,
    );
    this.addSql(
      `create trigger search_renamed after update of name, path on dws.library_file for each row
        when (row(new.name, new.path) is distinct from row(old.name, old.path))
        execute function dws.search_library_file();`,
    );
    this.addSql(`create function dws.search_files_of_owner() returns trigger language plpgsql as $$
      begin
        update dws.search_entry e set owner_id = new.owner_id
        from dws.library_file f
        where f.tenant_id = new.tenant_id and f.library_id = new.id
          and e.tenant_id = new.tenant_id and e.kind = 'library-file' and e.id = f.id;
        return null;
      end $$;`);
    this.addSql(
      `create trigger search_files after update of owner_id on dws.library for each row
        when (new.owner_id <> old.owner_id) execute function dws.search_files_of_owner();`,
    );
  }
}
