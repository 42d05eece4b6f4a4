import { Migration } from '@mikro-orm/migrations';

/** Stores whether the owner of an app has accepted it. Its webhooks, mails and notifications have the rights of the owner. */
export class AppOwners extends Migration {
  override up(): void {
    this.addSql(`alter table dws.app add column accepted boolean not null default true;`);
    // Every way to change the owner goes through this.
    this.addSql(`create function dws.change_app_owner() returns trigger language plpgsql as $$
      begin
        new.accepted := new.owner_id not like 'user:%';
        return new;
      end $$;`);
    this.addSql(
      `create trigger change_owner before update of owner_id on dws.app for each row
        when (new.owner_id is distinct from old.owner_id) execute function dws.change_app_owner();`,
    );
  }
}
