import { Migration } from '@mikro-orm/migrations';
import { ofTenants } from './tenant-table.ts';

/** Adds avatars to users, and the received parts of those that are uploaded in several. */
export class Avatars extends Migration {
  override up(): void {
    this.addSql(`alter table dws.app_user add column avatar_id uuid references dws.stored_file,
      add column avatar_original_id uuid references dws.stored_file;`);
    for (const column of ['avatar_id', 'avatar_original_id'])
      this.addSql(`create index app_user_${column} on dws.app_user (${column}) where ${column} is not null;`);

    // An upload is of one user for one user. Each part is a file.
    this.addSql(`create table dws.avatar_upload_part (
      file_id uuid primary key references dws.stored_file on delete cascade,
      tenant_id uuid not null references dws.tenant,
      uploader_id uuid not null references dws.app_user on delete cascade,
      user_id uuid not null references dws.app_user on delete cascade,
      upload_id text not null, part integer not null, parts integer not null,
      created_at timestamptz not null default now(),
      unique (uploader_id, user_id, upload_id, part));`);
    this.addSql(`create index avatar_upload_part_of_user on dws.avatar_upload_part (user_id);`);
    this.addSql(`create index avatar_upload_part_created on dws.avatar_upload_part (created_at);`);
    this.addSql(ofTenants('avatar_upload_part'));
  }
}
