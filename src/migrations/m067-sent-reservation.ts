import { Migration } from '@mikro-orm/migrations';

/** Records which reservations belong to calls that were sent, and how these are charged. */
export class SentReservations extends Migration {
  override up(): void {
    this.addSql(`alter table dws.credit_reservation
      add column sent_at timestamptz, add column work_id uuid, add column call jsonb,
      add check (num_nulls(sent_at, work_id, call) in (0, 3));`);
    this.addSql(`create index credit_reservation_sent on dws.credit_reservation (work_id) where sent_at is not null;`);
  }
}
