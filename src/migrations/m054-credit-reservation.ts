import { Migration } from '@mikro-orm/migrations';
import { ofTenants } from './tenant-table.ts';

/** Creates the credits that are set aside for AI calls until they have ended. */
export class CreditReservations extends Migration {
  override up(): void {
    // No key to the tenant, for the reason in m017-cheaper-writes.ts.
    this.addSql(`create table dws.credit_reservation (tenant_id uuid not null, id uuid not null,
      actor text not null check (actor ~ '^(user|agent):[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'),
      credits numeric(15, 6) not null check (credits >= 0),
      expires_at timestamptz not null, primary key (tenant_id, id));`);
    this.addSql(`create index credit_reservation_actor on dws.credit_reservation (tenant_id, actor);`);
    this.addSql(`create index credit_reservation_expiry on dws.credit_reservation (expires_at);`);
    this.addSql(ofTenants('credit_reservation'));
    // The credits that an actor has used in a month are read before each AI call.
    this.addSql(`create index usage_day_ai on dws.usage_day (tenant_id, actor, day)
      where resource_type in ('ai', 'agent_run');`);
  }
}
