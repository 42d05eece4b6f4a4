import { Migration } from '@mikro-orm/migrations';

/** Separates the lock of a user by an administrator from the lock after failed logins (`locked_at`). */
export class AdminLock extends Migration {
  override up(): void {
    this.addSql(`alter table dws.app_user add column admin_locked_at timestamptz;`);
    // Failed logins lock with the tenth attempt. An administrator set a lock with fewer attempts, if it is still in force.
    // Locks of superusers stay as they are: the last superuser could not unlock their own account.
    // Policies bind the owner of a table, too, unless they are not forced.
    this.addSql(`alter table dws.app_user no force row level security;`);
    this.addSql(`
      update dws.app_user set admin_locked_at = locked_at, locked_at = null
      where locked_at > now() - interval '15 minutes' and login_attempts < 10 and not superuser;`);
    this.addSql(`alter table dws.app_user force row level security;`);
    this.addSql(`drop trigger tell_credential on dws.app_user;`);
    this.addSql(`
      create trigger tell_credential
        after delete or update of username, enabled, superuser, permissions, domain, admin_locked_at on dws.app_user
        for each row execute function dws.tell('dws_credential', 'id');`);
  }
}
