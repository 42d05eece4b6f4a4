import { newId } from '../../src/core/id.ts';
import { priceOf } from '../../src/services/ai/ai-price.ts';
import { endCall, sendCall, type SentCall, type SentCallEnd } from '../../src/services/ai/sent-call.ts';
import { releaseCredits, reserveCredits } from '../../src/services/usage/credit-reservation.ts';
import type { CreditRequest } from '../../src/services/usage/credit-reservation.ts';
import { readCreditUse, type Spender } from '../../src/services/usage/credit-use.ts';
import type { QueryRunner, UsageActor } from '../../src/services/usage/effective-profile.ts';
import type { Service } from './service.ts';
import { systemQuery } from './system-query.ts';
import { usageOf } from './usage-fixture.ts';

type Platform = Pick<Service, 'platform'>;

/** Returns an actor that pays for itself. */
const spenderOf = (actor: UsageActor): Spender => ({ actor, payer: actor.slice(actor.indexOf(':') + 1) });

/** Returns a request for credits: by default 4 of no tier. */
export const requestOf = (actor: UsageActor, values: Partial<CreditRequest> = {}): CreditRequest => ({
  id: newId(),
  ...spenderOf(actor),
  credits: '4',
  tier: null,
  ...values,
});

/** Reserves in a transaction of its own. Returns the id. */
export async function reserve({ platform }: Platform, tenantId: string, request: CreditRequest): Promise<string> {
  await platform.database.transaction(tenantId, (tx) => reserveCredits(tx, { tenantId }, request));
  return request.id;
}

/** Returns the price of credits with up to six decimals: 1 credit is 0.01 dollars. */
const priceOfCredits = (credits: string) => priceOf((Number(credits) / 100).toFixed(8));

/** Returns an image of an actor that is about to be sent. */
export const sentCallOf = ({ id, actor, payer, credits }: CreditRequest): SentCall => ({
  record: {
    id,
    actor,
    userId: payer,
    action: 'image',
    entity: { type: 'user', id: actor.slice(actor.indexOf(':') + 1) },
    provider: { id: newId(), name: 'Fake', isOwn: false },
    model: 'fake-image',
    size: null,
    sealedPrompt: '',
  },
  price: priceOfCredits(credits),
  furtherUsage: [],
  agentRunId: null,
});

/** Marks a reserved call as sent, in a transaction of its own. Without an operation, as if that had ended. */
export const send = ({ platform }: Platform, tenantId: string, request: CreditRequest) =>
  platform.database.transaction(tenantId, async (tx) =>
    sendCall(tx, { tenantId }, { reservationId: request.id, workId: newId() }, sentCallOf(request)),
  );

/** The end of a call that succeeded, with the costs that the provider states. */
export const succeeded = (credits: string): SentCallEnd => ({
  status: 'succeeded',
  error: null,
  state: 'sent',
  stated: priceOfCredits(credits),
  tokens: null,
});

/** Sends and ends a reserved call, which costs `credits`, each in a transaction of its own. */
export async function settle(service: Platform, tenantId: string, request: CreditRequest, credits: string) {
  await send(service, tenantId, request);
  await service.platform.database.transaction(tenantId, (tx) =>
    endCall(tx, { tenantId }, request.id, succeeded(credits)),
  );
}

export const release = ({ platform }: Platform, tenantId: string, id: string) =>
  platform.database.transaction(tenantId, async (tx) => releaseCredits(tx, { tenantId }, id));

/** Returns usage of an AI call by an actor. 1 credit is 0.01 dollars. */
export const chargeOf = (actor: UsageActor, credits: string, values: Partial<Parameters<typeof usageOf>[1]> = {}) => {
  const { key = `ai:${newId()}`, ...rest } = values;
  return usageOf(key, {
    resource: 'ai',
    quantity: (Number(credits) / 100).toFixed(8),
    actor,
    entityType: 'user',
    entityId: actor.slice(actor.indexOf(':') + 1),
    ...rest,
  });
};

/** Returns what runs statements in a tenant. */
export const runnerOf = ({ platform: { database } }: Platform, tenantId: string): QueryRunner => ({
  query: (statement) => database.query(tenantId, statement),
});

/** Returns the figures of an actor, without the profile. */
export async function figuresOf(service: Platform, tenantId: string, actor: UsageActor) {
  const { used, reserved, cap, remaining } = await readCreditUse(
    runnerOf(service, tenantId),
    { tenantId },
    spenderOf(actor),
  );
  return { used, reserved, cap, remaining };
}

/** Expires reservations, as if 10 minutes had passed. */
export const expire = (service: Service, ...ids: string[]) =>
  systemQuery(
    service,
    `update dws.credit_reservation set expires_at = now() - interval '1 ms' where id = any($1)`,
    ids,
  );
