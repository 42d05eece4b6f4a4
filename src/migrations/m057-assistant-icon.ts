import { Migration } from '@mikro-orm/migrations';

/** Adds uploaded icons to assistants: the icon and the favicon that was drawn from it. */
export class AssistantIcons extends Migration {
  override up(): void {
    this.addSql(`alter table dws.assistant add column uploaded_icon_id uuid references dws.stored_file,
      add column favicon_id uuid references dws.stored_file,
      add check ((uploaded_icon_id is null) = (favicon_id is null));`);
    for (const column of ['uploaded_icon_id', 'favicon_id'])
      this.addSql(`create index assistant_${column} on dws.assistant (${column}) where ${column} is not null;`);

    // Both files belong to the assistant alone.
    this.addSql(`create function dws.forget_assistant_icon() returns trigger language plpgsql as $$
      begin
        delete from dws.stored_file f
        where f.tenant_id = old.tenant_id and f.id in (old.uploaded_icon_id, old.favicon_id)
          and not exists (select from dws.assistant a where a.uploaded_icon_id = f.id or a.favicon_id = f.id);
        return null;
      end $$;`);
    this.addSql(`create trigger forget_icon_of_row after delete on dws.assistant for each row
      when (old.uploaded_icon_id is not null) execute function dws.forget_assistant_icon();`);
    this.addSql(`create trigger forget_replaced_icon after update of uploaded_icon_id, favicon_id on dws.assistant
      for each row
      when (old.uploaded_icon_id is not null and new.uploaded_icon_id is distinct from old.uploaded_icon_id)
      execute function dws.forget_assistant_icon();`);
  }
}
