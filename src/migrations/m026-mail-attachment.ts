import { Migration } from '@mikro-orm/migrations';
import { ofTenants } from './tenant-table.ts';

/** Creates the attachments of mails, and stores the cause of a mail. */
export class MailAttachments extends Migration {
  override up(): void {
    // `attachments` describes the files as long as the mail exists, `mail_attachment` names them until it is sent.
    this.addSql(`alter table dws.mail add column attachments jsonb not null default '[]', add column source text;`);
    this.addSql(`create index mail_source on dws.mail (tenant_id, source) where source is not null;`);
    this.addSql(`create table dws.mail_attachment (tenant_id uuid not null references dws.tenant,
      mail_id uuid not null references dws.mail on delete cascade,
      file_id uuid not null references dws.stored_file, position integer not null,
      primary key (mail_id, file_id));`);
    this.addSql(`create index mail_attachment_file on dws.mail_attachment (file_id);`);
    this.addSql(ofTenants('mail_attachment'));
    this.releaseAttachments();
    this.forgetFiles();
  }

  /** A mail that is sent or has failed is not sent again. */
  private releaseAttachments(): void {
    this.addSql(`create function dws.release_attachments() returns trigger language plpgsql as $$
      begin
        delete from dws.mail_attachment where mail_id = new.id;
        return null;
      end $$;`);
    this.addSql(
      `create trigger release_attachments after update of status on dws.mail for each row
        when (old.status = 'queued' and new.status <> 'queued') execute function dws.release_attachments();`,
    );
  }

  /** Deletes the row of a file with the last action or mail that has it. */
  private forgetFiles(): void {
    // The lock orders those who remove references, so that the last one sees that it is the last.
    this.addSql(`create function dws.forget_files(ids uuid[]) returns void language plpgsql as $$
      begin
        perform from dws.stored_file where id = any(ids) order by id for update;
        delete from dws.stored_file f
        where f.id = any(ids)
          and not exists (select from dws.job_action a where a.file_id = f.id)
          and not exists (select from dws.mail_attachment a where a.file_id = f.id);
      end $$;`);
    this.addSql(`create or replace function dws.forget_job_file() returns trigger language plpgsql as $$
      begin
        if tg_op = 'UPDATE' and new.file_id is not distinct from old.file_id then return null; end if;
        perform dws.forget_files(array[old.file_id]);
        return null;
      end $$;`);
    this.addSql(`create function dws.forget_mail_files() returns trigger language plpgsql as $$
      begin
        perform dws.forget_files(array(select distinct file_id from removed));
        return null;
      end $$;`);
    this.addSql(
      `create trigger forget_files after delete on dws.mail_attachment referencing old table as removed
        for each statement execute function dws.forget_mail_files();`,
    );
  }
}
