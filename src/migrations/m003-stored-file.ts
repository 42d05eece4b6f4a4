import { Migration } from '@mikro-orm/migrations';
import { ROW, ofTenants } from './tenant-table.ts';

/** Creates uploaded files, and links datasources to them. */
export class StoredFiles extends Migration {
  override up(): void {
    this.addSql(
      `create table dws.stored_file (${ROW}, filename text not null, content_type text not null,
        size bigint not null, sha256 text not null);`,
    );
    this.addSql(`create index stored_file_of_tenant on dws.stored_file (tenant_id);`);
    this.addSql(`alter table dws.datasource add column file_id uuid references dws.stored_file;`);
    this.addSql(`create index datasource_file on dws.datasource (file_id) where file_id is not null;`);

    this.addSql(ofTenants('stored_file'));
  }
}
