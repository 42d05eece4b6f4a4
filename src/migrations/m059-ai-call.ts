import { Migration } from '@mikro-orm/migrations';
import { ROW, ofTenants } from './tenant-table.ts';

/** Creates the audit of calls of AI providers. */
export class AiCalls extends Migration {
  override up(): void {
    this.addSql(`create table dws.ai_call (${ROW}, actor text not null check (actor ~ '^(user|agent):'),
      user_id uuid not null, action text not null check (action in ('image', 'chat')), entity_type text not null,
      entity_id uuid not null, provider_id uuid not null, provider_name text not null, own_provider boolean not null,
      model text not null, size text, input_tokens integer, output_tokens integer, duration integer not null,
      status text not null check (status in ('succeeded', 'failed', 'cancelled')), error jsonb,
      credits numeric(15, 6), sealed_prompt text);`);
    this.addSql(`create index ai_call_newest on dws.ai_call (tenant_id, created_at desc, id desc);`);
    this.addSql(`create index ai_call_created_at on dws.ai_call (created_at);`);
    this.addSql(ofTenants('ai_call'));
  }
}
