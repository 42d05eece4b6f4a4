import { Migration } from '@mikro-orm/migrations';

/** Records who pays for usage: the user whose cap it counts to, even if an agent used it. */
export class Payers extends Migration {
  override up(): void {
    for (const table of ['usage_event', 'usage_day', 'credit_reservation'])
      this.addSql(`alter table dws.${table} add column payer uuid;`);
    this.fill('usage_day', `and d.day >= date_trunc('month', now() at time zone 'UTC')::date`);
    this.fill('credit_reservation', '');
    this.addSql(`create index usage_day_payer on dws.usage_day (tenant_id, payer, day)
      where resource_type in ('ai', 'agent_run');`);
    this.addSql(`create index credit_reservation_payer on dws.credit_reservation (tenant_id, payer);`);
  }

  /**
   * Fills the payers of usage that counts to a cap at present. The owner of an agent that was deleted is known from the
   * audit of its calls.
   */
  private fill(table: string, condition: string): void {
    // Policies bind the owner of a table, too, unless they are not forced.
    this.addSql(`alter table dws.${table} no force row level security;`);
    this.addSql(`update dws.${table} d set payer = split_part(d.actor, ':', 2)::uuid
      where d.actor like 'user:%' ${condition};`);
    for (const other of ['agent', 'ai_call']) this.addSql(`alter table dws.${other} no force row level security;`);
    this.addSql(`update dws.${table} d set payer = coalesce(
        (select a.owner_id from dws.agent a where a.tenant_id = d.tenant_id and 'agent:' || a.id = d.actor),
        (
          select c.user_id from dws.ai_call c
          where c.tenant_id = d.tenant_id and c.actor = d.actor
          order by c.created_at desc, c.id desc
          limit 1
        ))
      where d.actor like 'agent:%' ${condition};`);
    for (const name of [table, 'agent', 'ai_call']) this.addSql(`alter table dws.${name} force row level security;`);
  }
}
