import { Migration } from '@mikro-orm/migrations';
import { ROW, ofTenants } from './tenant-table.ts';

/** Creates images that models have created. */
export class Images extends Migration {
  override up(): void {
    this.addSql(`create table dws.image (${ROW}, user_id uuid references dws.app_user on delete set null,
      assistant_id uuid references dws.assistant on delete set null,
      file_id uuid not null references dws.stored_file on delete cascade, sealed_prompt text not null,
      model text not null, size text);`);
    this.addSql(`create index image_user on dws.image (user_id);`);
    this.addSql(`create index image_assistant on dws.image (assistant_id) where assistant_id is not null;`);
    this.addSql(`create index image_file on dws.image (file_id);`);
    this.addSql(`create index image_created_at on dws.image (created_at);`);
    this.addSql(ofTenants('image'));
  }
}
