import { newId } from '../../src/core/id.ts';
import { releaseCredits, reserveCredits, settleCredits } from '../../src/services/usage/credit-reservation.ts';
import type { CreditRequest } from '../../src/services/usage/credit-reservation.ts';
import { readCreditUse } from '../../src/services/usage/credit-use.ts';
import type { QueryRunner, UsageActor } from '../../src/services/usage/effective-profile.ts';
import { meter } from '../../src/services/usage/usage-meter.ts';
import type { Service } from './service.ts';
import { systemQuery } from './system-query.ts';
import { usageOf } from './usage-fixture.ts';

type Platform = Pick<Service, 'platform'>;

/** Returns a request for credits: by default 4 of no tier. */
export const requestOf = (actor: UsageActor, values: Partial<CreditRequest> = {}): CreditRequest => ({
  id: newId(),
  actor,
  credits: '4',
  tier: null,
  ...values,
});

/** Reserves in a transaction of its own. Returns the id. */
export async function reserve({ platform }: Platform, tenantId: string, request: CreditRequest): Promise<string> {
  await platform.database.transaction(tenantId, (tx) => reserveCredits(tx, { tenantId }, request));
  return request.id;
}

/** Settles in a transaction of its own: charges `credits` and ends the reservation. */
export const settle = ({ platform }: Platform, tenantId: string, { id, actor }: CreditRequest, credits: string) =>
  platform.database.transaction(tenantId, async (tx) => {
    settleCredits(tx, { tenantId }, id);
    meter({ tenantId }, tx, [chargeOf(actor, credits, { key: `ai:${id}` })]);
  });

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
  const { used, reserved, cap, remaining } = await readCreditUse(runnerOf(service, tenantId), { tenantId }, actor);
  return { used, reserved, cap, remaining };
}

/** Expires reservations, as if 10 minutes had passed. */
export const expire = (service: Service, ...ids: string[]) =>
  systemQuery(
    service,
    `update dws.credit_reservation set expires_at = now() - interval '1 ms' where id = any($1)`,
    ids,
  );
