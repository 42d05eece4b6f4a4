import type { AiCallStatus, AiCallTrace } from '../../core/ai.ts';
import { addCredits } from '../../core/credits.ts';
import type { OperationFailure } from '../../core/operations.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import { creditsOf, type Usage } from '../../core/usage.ts';
import { lowerPrice, type AiPrice } from './ai-price.ts';
import { recordAiCall, type AiCallRecord } from './record-ai-call.ts';

/** A call of an AI provider that is about to be sent: all that its charge and its record in the audit require. */
export interface SentCall {
  record: Omit<AiCallRecord, 'duration'>;
  /** The reserved price, which is charged unless the provider states less. */
  price: AiPrice;
  /** Charged with it. */
  furtherUsage: Usage[];
  /** The run of an agent that states its charge; null for none. */
  agentRunId: string | null;
}

/** How a sent call ended. */
export interface SentCallEnd {
  status: AiCallStatus;
  /** Why it did not succeed; null for a success. */
  error: OperationFailure | null;
  state: AiCallTrace['state'];
  /** The price of the usage that the provider has stated; null if it has stated none. */
  stated: AiPrice | null;
  tokens: AiCallTrace['tokens'];
}

/** The end of a call whose worker died. */
const LOST: SentCallEnd = {
  status: 'failed',
  error: { statusCode: 500, code: 'INTERNAL', message: 'The worker process ended before the call was done' },
  state: 'sent',
  stated: null,
  tokens: null,
};

/**
 * Marks a call as sent. Call it in the transaction that reserves its credits, right before the first byte of the
 * request (`BeforeSend`): whatever happens then, `endCall` or the janitor charges it. `workId` is the id of the
 * operation that sends it. A call of a user's own provider reserves nothing, and is recorded by the same rules.
 */
export const sendCall = (
  tx: Pick<Transaction, 'execute'>,
  { tenantId }: { tenantId: string },
  { reservationId, workId }: { reservationId: string; workId: string },
  call: SentCall,
): void =>
  tx.execute({
    text: `
      insert into dws.credit_reservation (tenant_id, id, actor, payer, credits, expires_at, sent_at, work_id, call)
      values ($1, $2, $3, $4, 0, clock_timestamp(), clock_timestamp(), $5, $6)
      on conflict (tenant_id, id) do update
      set sent_at = excluded.sent_at, work_id = excluded.work_id, call = excluded.call`,
    values: [tenantId, reservationId, call.record.actor, call.record.userId, workId, JSON.stringify(call)],
  });

/**
 * Ends a sent call: charges it, unless the provider has not received it or has refused it, and records it in the audit.
 * Returns its credits without the credits of `furtherUsage`, or null if nothing is charged. Returns undefined, and
 * changes nothing, if it was not sent or was ended before. A transaction ends one call.
 */
export async function endCall(
  tx: Pick<Transaction, 'query' | 'execute'>,
  owner: { tenantId: string },
  reservationId: string,
  { status, error, state, stated, tokens }: SentCallEnd,
): Promise<string | null | undefined> {
  const [sent] = await tx.query<{ call: SentCall; duration: number }>({
    text: `
      delete from dws.credit_reservation
      where tenant_id = $1 and id = $2 and sent_at is not null
      returning call, (extract(epoch from greatest(clock_timestamp() - sent_at, '0')) * 1000)::float8 as duration`,
    values: [owner.tenantId, reservationId],
  });
  if (!sent) return undefined;
  const { record, price: reserved, furtherUsage, agentRunId } = sent.call;
  const price = state === 'sent' ? lowerPrice(stated ?? reserved, reserved) : null;
  const outcome = { status, error, price, tokens };
  const charged = recordAiCall(tx, owner, { ...record, duration: sent.duration }, outcome, furtherUsage);
  if (!charged) return null;
  const further = furtherUsage.map(({ resource, quantity }) => creditsOf(resource, quantity));
  if (agentRunId) addRunCredits(tx, owner, agentRunId, addCredits(charged.credits, ...further));
  return charged.credits;
}

/** Adds credits to a run, even if it has ended. Does nothing if it was deleted. */
const addRunCredits = (
  tx: Pick<Transaction, 'execute'>,
  { tenantId }: { tenantId: string },
  agentRunId: string,
  credits: string,
): void =>
  tx.execute({
    text: `
      update dws.agent_run set credits = credits + $3::numeric, version = version + 1, updated_at = now()
      where tenant_id = $1 and id = $2`,
    values: [tenantId, agentRunId, credits],
  });

/**
 * Ends the calls whose operation has ended without them: their worker died, or the operation is gone, e.g. in a
 * restored backup or with its user. They are charged in full as reserved, because the provider may have done the work.
 */
export async function endLostCalls({ system, database, log }: Platform, signal?: AbortSignal): Promise<void> {
  const lost = await system.query<{ tenantId: string; id: string }>({
    text: `
      select tenant_id as "tenantId", id
      from dws.credit_reservation r
      where sent_at is not null
        and not exists (
          select from dws.operation o
          where o.tenant_id = r.tenant_id and o.work_id = r.work_id and o.finished_at is null
        )`,
  });
  for (const call of lost) {
    signal?.throwIfAborted();
    await database
      .transaction(call.tenantId, async (tx) => void (await endCall(tx, call, call.id, LOST)))
      .catch((error: unknown) => log.error({ err: error, call: call.id }, 'Could not end a lost call'));
  }
}
