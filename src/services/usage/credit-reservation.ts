import type { ModelTier } from '../../core/ai.ts';
import { parseCredits } from '../../core/credits.ts';
import type { Query } from '../../core/database.ts';
import { lockKey } from '../../core/locks.ts';
import type { Transaction } from '../../core/platform.ts';
import { creditRefusal, readCreditUse, type Spender } from './credit-use.ts';

/** The maximum cost of an AI call, reserved until the call has ended. */
export interface CreditRequest extends Spender {
  /** UUID of the paid action. It has one reservation, and always the same actor and payer. */
  id: string;
  /** Decimal with up to six places, e.g. `4.000000`. */
  credits: string;
  /** Tier of the model. Null for an action without a model. */
  tier: ModelTier | null;
}

/** Time after which a reservation expires if its call is neither sent nor renewed. */
const LIFETIME = `interval '10 minutes'`;

const RESERVE = `
  insert into dws.credit_reservation (tenant_id, id, actor, payer, credits, expires_at)
  values ($1, $2, $3, $4, $5, clock_timestamp() + ${LIFETIME})
  on conflict (tenant_id, id) do update set credits = excluded.credits, expires_at = excluded.expires_at`;

const RELEASE = 'delete from dws.credit_reservation where tenant_id = $1 and id = $2 and sent_at is null';

/**
 * Reserves credits of a payer for an actor, until `releaseCredits` or for 10 minutes; once its call is sent
 * (`sendCall`), until the call has ended. Reserving the same id again renews it, even with other credits or after it
 * has expired. Throws FORBIDDEN for a tier that the usage profile does not allow. Throws CREDITS_SPENT if used,
 * reserved and requested credits exceed the cap of the payer or a limit of the agent, or one of these is 0.
 *
 * Reservations of a payer wait for each other until their transactions end, so call it after the rows of the request
 * are locked, and do nothing slow after it. See docs/contract/usage.md#cap.
 */
export async function reserveCredits(
  tx: Pick<Transaction, 'query' | 'execute'>,
  { tenantId }: { tenantId: string },
  { id, actor, payer, credits, tier }: CreditRequest,
): Promise<void> {
  parseCredits(credits);
  lockKey(tx, `credits:${tenantId}:${payer}`);
  const [use, [former]] = await Promise.all([
    readCreditUse(tx, { tenantId }, { actor, payer }, id),
    tx.query<Spender & { sent: boolean } & Record<string, unknown>>({
      text: 'select actor, payer, sent_at is not null as sent from dws.credit_reservation where tenant_id = $1 and id = $2',
      values: [tenantId, id],
    }),
  ]);
  if (former && (former.actor !== actor || former.payer !== payer))
    throw new Error(`The credits of ${id} are reserved for another user`);
  if (former?.sent) throw new Error(`The call ${id} was sent already`);
  const refusal = creditRefusal(use, { tier, credits });
  if (refusal) throw refusal;
  tx.execute({ text: RESERVE, values: [tenantId, id, actor, payer, credits] });
}

/**
 * Ends the reservation of a call that was not sent, with the next statement or the commit. Does nothing without a
 * reservation, or if its call was sent: that one ends with `endCall`.
 */
export const releaseCredits = (
  tx: Pick<Transaction, 'execute'>,
  { tenantId }: { tenantId: string },
  id: string,
): void => tx.execute({ text: RELEASE, values: [tenantId, id] });

/** Deletes expired reservations of calls that were not sent. They have not counted since they expired. */
export async function sweepReservations(query: Query): Promise<void> {
  await query({ text: 'delete from dws.credit_reservation where sent_at is null and expires_at < clock_timestamp()' });
}
