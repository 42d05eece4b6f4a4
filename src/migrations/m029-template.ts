import { Migration } from '@mikro-orm/migrations';
import { ownedTable } from './owned-table.ts';
import { ofTenants, ROW } from './tenant-table.ts';

const TEMPLATE_ID = 'template_id uuid not null references dws.template on delete cascade';

/** Returns SQL of the column with which a copy in a draft names its original. */
const originalId = (table: string): string => `original_id uuid references dws.${table} on delete set null`;

/** Creates templates with their files, inputs, processors and renditions. A draft is a template with a parent. */
export class Templates extends Migration {
  override up(): void {
    this.createTemplates();
    // A commit of a draft may swap names, so their uniqueness is checked at the end of the transaction.
    this.addSql(`create table dws.template_file (${ROW}, ${TEMPLATE_ID},
      filename text not null, role text not null check (role in ('TEMPLATE', 'ASSET', 'DATA')),
      content_type text not null, embedded boolean not null default false,
      file_id uuid references dws.stored_file, ${originalId('template_file')},
      unique (template_id, filename) deferrable initially deferred);`);
    this.addSql(`create table dws.template_input (${ROW}, ${TEMPLATE_ID},
      position integer not null check (position >= 0), name text not null, label text, description text,
      required boolean not null default false, default_value jsonb, schema jsonb not null default '{}',
      ${originalId('template_input')},
      unique (template_id, name) deferrable initially deferred);`);
    this.addSql(`create table dws.template_processor (${ROW}, ${TEMPLATE_ID},
      position integer not null check (position >= 0), name text not null,
      type text not null check (type in ('dataset', 'aggregate', 'visual', 'query')),
      config jsonb not null default '{}', ${originalId('template_processor')},
      unique (template_id, name) deferrable initially deferred);`);
    this.addSql(`create table dws.rendition (${ROW}, ${TEMPLATE_ID},
      user_id uuid not null references dws.app_user on delete cascade, handler text not null, filename text not null,
      content_type text not null, size bigint not null, pages integer, expires_at timestamptz not null,
      file_id uuid not null references dws.stored_file);`);
    this.addSql(`create index rendition_template on dws.rendition (template_id, user_id);`);
    this.addSql(`create index rendition_expiry on dws.rendition (expires_at);`);
    this.addSql(`create index rendition_user on dws.rendition (user_id);`);
    this.addSql(`create index rendition_file on dws.rendition (file_id);`);
    for (const column of ['file_id', 'original_id'])
      this.addSql(`create index template_file_${column} on dws.template_file (${column}) where ${column} is not null;`);
    for (const table of ['template_input', 'template_processor'])
      this.addSql(`create index ${table}_original on dws.${table} (original_id) where original_id is not null;`);
    this.referToFiles();
    this.forgetFiles();
    for (const table of ['template_file', 'template_input', 'template_processor', 'rendition'])
      this.addSql(ofTenants(table));
  }

  private createTemplates(): void {
    const columns = [
      'type text not null',
      'handler text not null',
      `handler_options jsonb not null default '{}'`,
      'template_file_id uuid',
      'letterhead_id uuid',
      `settings jsonb not null default '{}'`,
      'parent_id uuid references dws.template on delete cascade',
      'draft_base text',
    ];
    for (const sql of ownedTable('template', 'template', columns, 'r.parent_id is not null')) this.addSql(sql);
    this.addSql(`create unique index template_draft on dws.template (parent_id);`);

    // A draft belongs to the owner of its template.
    this.addSql(`create function dws.own_template_draft() returns trigger language plpgsql as $$
      begin
        update dws.template set owner_id = new.owner_id where tenant_id = new.tenant_id and parent_id = new.id;
        return null;
      end $$;`);
    this.addSql(
      `create trigger own_draft after update of owner_id on dws.template for each row
        when (new.parent_id is null and new.owner_id is distinct from old.owner_id)
        execute function dws.own_template_draft();`,
    );
  }

  /** The file to render and the letterhead are null after the file was deleted. */
  private referToFiles(): void {
    for (const column of ['template_file_id', 'letterhead_id']) {
      this.addSql(`alter table dws.template add foreign key (${column}) references dws.template_file
        on delete set null deferrable initially deferred;`);
      this.addSql(`create index template_${column} on dws.template (${column}) where ${column} is not null;`);
    }
  }

  /** Deletes the row of a stored file with the last file or rendition that has it. A draft and its template share files. */
  private forgetFiles(): void {
    // The lock orders those who remove references, so that the last one sees that it is the last.
    this.addSql(`create function dws.forget_template_file() returns trigger language plpgsql as $$
      begin
        if tg_op = 'UPDATE' and new.file_id is not distinct from old.file_id then return null; end if;
        perform from dws.stored_file where tenant_id = old.tenant_id and id = old.file_id for update;
        delete from dws.stored_file f
        where f.tenant_id = old.tenant_id and f.id = old.file_id
          and not exists (select from dws.template_file t where t.file_id = old.file_id)
          and not exists (select from dws.rendition r where r.file_id = old.file_id);
        return null;
      end $$;`);
    this.addSql(
      `create trigger forget_file after delete or update of file_id on dws.template_file
        for each row when (old.file_id is not null) execute function dws.forget_template_file();`,
    );
    this.addSql(
      `create trigger forget_file after delete on dws.rendition
        for each row execute function dws.forget_template_file();`,
    );
  }
}
