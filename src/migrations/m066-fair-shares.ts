import { Migration } from '@mikro-orm/migrations';

/** Lets runs of jobs wait for their next attempt without a place, and stores who sends notifications. */
export class FairShares extends Migration {
  override up(): void {
    this.addSql(`alter table dws.operation add column next_attempt_at timestamptz;`);
    // `pause` is the state that a run needs to continue, `waited` its waiting time in milliseconds.
    this.addSql(`alter table dws.job_run
      add column next_attempt_at timestamptz, add column pause jsonb, add column waited double precision not null default 0;`);
    this.addSql(`create index operation_of_agents on dws.operation ((input->>'ownerId'), created_at)
      where operation = 'agent.run';`);
    this.addSql(`alter table dws.notification add column sender_id uuid;`);
  }
}
