import { Migration } from '@mikro-orm/migrations';
import { ofTenants, ROW } from './tenant-table.ts';

/** Creates the files of apps. The stored file of one belongs to it alone. */
export class AppFiles extends Migration {
  override up(): void {
    this.addSql(`create table dws.app_file (${ROW},
      app_id uuid not null references dws.app on delete cascade,
      path text collate "C" not null, content_type text not null,
      file_id uuid not null references dws.stored_file, unique (app_id, path));`);
    this.addSql(`create index app_file_file_id on dws.app_file (file_id);`);
    this.addSql(`create function dws.forget_app_file() returns trigger language plpgsql as $$
      begin
        delete from dws.stored_file f
        where f.tenant_id = old.tenant_id and f.id = old.file_id
          and not exists (select from dws.app_file a where a.file_id = old.file_id);
        return null;
      end $$;`);
    this.addSql(
      `create trigger forget_file_of_row after delete on dws.app_file
        for each row execute function dws.forget_app_file();`,
    );
    this.addSql(
      `create trigger forget_replaced_file after update of file_id on dws.app_file
        for each row when (new.file_id <> old.file_id) execute function dws.forget_app_file();`,
    );
    this.addSql(ofTenants('app_file'));
  }
}
