import { afterEach, describe, expect, vi } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { reconcile } from '../../src/operations/reconciler.ts';
import { endCall } from '../../src/services/ai/sent-call.ts';
import { reserveCredits, sweepReservations } from '../../src/services/usage/credit-reservation.ts';
import { loadEffectiveProfile, type UsageActor } from '../../src/services/usage/effective-profile.ts';
import { QUICK } from '../operation/platform.ts';
import {
  chargeOf,
  figuresOf,
  expire,
  release,
  requestOf,
  reserve,
  runnerOf,
  send,
  settle,
  succeeded,
} from '../support/credit-fixture.ts';
import { recordRoundTrips } from '../support/round-trips.ts';
import { systemQuery } from '../support/system-query.ts';
import { meterIn, tenantOf } from '../support/usage-fixture.ts';
import { createProfile, test } from '../support/usage-profile-fixture.ts';

const actorOf = (): UsageActor => `user:${newId()}`;
const NOTHING = { used: '0.000000', reserved: '0.000000' };

afterEach(() => vi.useRealTimers());

describe('a reservation', () => {
  test('counts until it is settled, released or expires', async ({ service }) => {
    const [tenant, actor] = [await tenantOf(service), actorOf()];
    const request = requestOf(actor, { credits: '900.5' });
    await reserve(service, tenant, request);
    const cap = { cap: 1000 };
    expect(await figuresOf(service, tenant, actor)).toEqual({
      ...cap,
      used: '0.000000',
      reserved: '900.500000',
      remaining: '99.500000',
    });
    await expect(reserve(service, tenant, requestOf(actor, { credits: '99.500001' }))).rejects.toMatchObject({
      status: 402,
      code: 'CREDITS_SPENT',
      message: expect.stringMatching(
        /^Not enough credits: this requires 99\.500001, 0 of 1000 are used and 900\.5 reserved\. .* 20\d\d-\d\d-01T00:00:00\.000Z$/,
      ),
    });
    const second = await reserve(service, tenant, requestOf(actor, { credits: '99.5' }));
    expect(await figuresOf(service, tenant, actor)).toMatchObject({ remaining: '0.000000' });
    await release(service, tenant, second);
    await settle(service, tenant, request, '123.25');
    expect(await figuresOf(service, tenant, actor)).toEqual({
      ...cap,
      used: '123.250000',
      reserved: '0.000000',
      remaining: '876.750000',
    });
    const third = await reserve(service, tenant, requestOf(actor, { credits: '876.75' }));
    await expire(service, third);
    expect(await figuresOf(service, tenant, actor)).toMatchObject({ reserved: '0.000000', remaining: '876.750000' });
  });

  test('is renewed by its id, with other credits, and set aside again after it has expired', async ({ service }) => {
    const [tenant, actor] = [await tenantOf(service), actorOf()];
    const request = requestOf(actor, { credits: '1000' });
    const expiry = async () =>
      (
        await systemQuery<{ left: number }>(
          service,
          `select extract(epoch from expires_at - clock_timestamp())::float8 as left
          from dws.credit_reservation where id = $1`,
          request.id,
        )
      ).map(({ left }) => Math.round(left / 60));
    await reserve(service, tenant, request);
    expect(await expiry()).toEqual([10]);
    await systemQuery(
      service,
      `update dws.credit_reservation set expires_at = clock_timestamp() + interval '1 minute' where id = $1`,
      request.id,
    );
    await reserve(service, tenant, request);
    expect(await expiry()).toEqual([10]);
    await reserve(service, tenant, { ...request, credits: '999' });
    expect(await figuresOf(service, tenant, actor)).toMatchObject({ reserved: '999.000000' });
    await expect(reserve(service, tenant, { ...request, credits: '1000.000001' })).rejects.toThrow(
      /^Not enough credits/,
    );
    expect(await figuresOf(service, tenant, actor)).toMatchObject({ reserved: '999.000000' });
    await expire(service, request.id);
    await reserve(service, tenant, request);
    expect(await figuresOf(service, tenant, actor)).toMatchObject({ reserved: '1000.000000' });
    await expire(service, request.id);
    const other = await reserve(service, tenant, requestOf(actor, { credits: '1' }));
    await expect(reserve(service, tenant, request)).rejects.toThrow(/ 1 reserved\./);
    await release(service, tenant, other);
  });

  test('has one actor and one payer', async ({ service }) => {
    const tenant = await tenantOf(service);
    const request = requestOf(actorOf());
    await reserve(service, tenant, request);
    for (const changed of [{ actor: actorOf() }, { payer: newId() }])
      await expect(reserve(service, tenant, { ...request, ...changed })).rejects.toThrow(
        `The credits of ${request.id} are reserved for another user`,
      );
  });

  test('binds one actor of one tenant', async ({ service }) => {
    const [tenant, other, actor] = [await tenantOf(service), await tenantOf(service, 'other'), actorOf()];
    const request = requestOf(actor, { credits: '1000' });
    await reserve(service, tenant, request);
    await reserve(service, tenant, requestOf(actorOf(), { credits: '1000' }));
    await reserve(service, other, { ...request, id: newId() });
    await reserve(service, other, requestOf(actorOf(), { id: request.id, credits: '1000' }));
    await release(service, other, request.id);
    expect(await figuresOf(service, tenant, actor)).toMatchObject({ reserved: '1000.000000' });
  });

  test('is undone with its transaction', async ({ service }) => {
    const [tenant, actor] = [await tenantOf(service), actorOf()];
    const failed = service.platform.database.transaction(tenant, async (tx) => {
      await reserveCredits(tx, { tenantId: tenant }, requestOf(actor, { credits: '7' }));
      expect((await figuresOf(service, tenant, actor)).reserved).toBe('0.000000');
      throw new Error('The request failed');
    });
    await expect(failed).rejects.toThrow('The request failed');
    expect(await figuresOf(service, tenant, actor)).toMatchObject(NOTHING);
  });

  test('that does not exist is neither settled nor released', async ({ service }) => {
    const [tenant, actor] = [await tenantOf(service), actorOf()];
    await release(service, tenant, newId());
    await settle(service, tenant, requestOf(actor), '2.5');
    expect(await figuresOf(service, tenant, actor)).toMatchObject({ ...NOTHING, used: '2.500000' });
  });

  test('of a sent call is neither released nor swept, does not expire, and ends once', async ({ service }) => {
    const [tenant, actor] = [await tenantOf(service), actorOf()];
    const request = requestOf(actor);
    await reserve(service, tenant, request);
    await send(service, tenant, request);
    await expire(service, request.id);
    await release(service, tenant, request.id);
    await service.platform.system.transaction(sweepReservations);
    expect(await figuresOf(service, tenant, actor)).toMatchObject({ ...NOTHING, reserved: '4.000000' });
    await expect(reserve(service, tenant, request)).rejects.toThrow('was sent already');
    const end = () =>
      service.platform.database.transaction(tenant, (tx) =>
        endCall(tx, { tenantId: tenant }, request.id, succeeded('3')),
      );
    expect([await end(), await end()]).toEqual(['3.000000', undefined]);
    expect(await figuresOf(service, tenant, actor)).toMatchObject({ ...NOTHING, used: '3.000000' });
  });

  test('is deleted by the janitor once it has expired', async ({ service }) => {
    const [tenant, actor] = [await tenantOf(service), actorOf()];
    const [expired, kept] = [requestOf(actor), requestOf(actor)];
    for (const request of [expired, kept]) await reserve(service, tenant, request);
    await expire(service, expired.id);
    await expect
      .poll(async () => {
        await reconcile(service.platform, {}, { ...QUICK, orphanAge: 600_000 });
        return systemQuery(service, 'select id from dws.credit_reservation where actor = $1', actor);
      })
      .toEqual([{ id: kept.id }]);
  });

  test('takes two round trips', async ({ service }) => {
    const [tenant, actor] = [await tenantOf(service), actorOf()];
    const trips = await recordRoundTrips(() => reserve(service, tenant, requestOf(actor)));
    expect(trips).toHaveLength(2);
  });

  test.for(['', '-1', '1e3', 'x', '1.0000001'])(
    'of %j credits is a mistake of the caller',
    async (credits, { service }) => {
      await expect(reserve(service, await tenantOf(service), requestOf(actorOf(), { credits }))).rejects.toThrow(
        RangeError,
      );
    },
  );
});

describe('the limits', () => {
  test('of a cap of 0 refuse everything, even free calls', async ({ service, admin }) => {
    const tenant = await tenantOf(service);
    const zero = await service.user('zero');
    const { id } = await createProfile(admin, { creditCapPerMonth: 0, allowedModelTiers: ['everyday'] });
    await admin.put('/users/zero/ai/profile', { profileId: id });
    for (const credits of ['0', '0.000001'])
      await expect(reserve(service, tenant, requestOf(`user:${zero.id}`, { credits }))).rejects.toMatchObject({
        code: 'CREDITS_SPENT',
        message: expect.stringContaining('0 of 0 are used'),
      });
    expect((await zero.get('/me/usage')).body).toMatchObject({ cap: 0, remaining: 0 });
  });

  test('of no cap refuse nothing but tiers', async ({ service, admin }) => {
    const tenant = await tenantOf(service);
    const free = await service.user('free');
    const { id } = await createProfile(admin, { allowedModelTiers: ['advanced'] });
    await admin.put('/users/free/ai/profile', { profileId: id });
    const request = requestOf(`user:${free.id}`, { credits: '999999.5', tier: 'advanced' });
    await reserve(service, tenant, request);
    await reserve(service, tenant, { ...request, id: newId(), tier: null });
    expect((await free.get('/me/usage')).body).toMatchObject({ cap: null, remaining: null, reserved: 1999999 });
    await expect(reserve(service, tenant, { ...request, id: newId(), tier: 'strategic' })).rejects.toMatchObject({
      status: 403,
      code: 'FORBIDDEN',
      message: 'The usage profile does not allow models of the tier strategic',
    });
  });

  test('of a lower cap bind immediately, including reserved credits', async ({ service, admin }) => {
    const tenant = await tenantOf(service);
    const { id: userId } = await service.user('lower');
    const { id } = await createProfile(admin, { creditCapPerMonth: 100 });
    await admin.put('/users/lower/ai/profile', { profileId: id });
    const request = requestOf(`user:${userId}`, { credits: '80' });
    await reserve(service, tenant, request);
    await admin.put(`/usage-profiles/${id}`, { creditCapPerMonth: 50 });
    expect(await figuresOf(service, tenant, request.actor)).toMatchObject({ remaining: '0.000000' });
    await expect(reserve(service, tenant, request)).rejects.toThrow('this requires 80, 0 of 50 are used');
  });

  test('of a user without a row are the limits of the default', async ({ service, admin }) => {
    const tenant = await tenantOf(service);
    expect(await loadEffectiveProfile(runnerOf(service, tenant), { tenantId: tenant }, newId())).toMatchObject({
      source: 'default',
      creditCapPerMonth: 1000,
      profiles: [{ slug: 'standard' }],
    });
    await reserve(service, tenant, requestOf(`agent:${newId()}`, { tier: 'advanced' }));
    expect(admin.id).toBeTruthy();
  });
});

describe('a month', () => {
  const at = (time: string) => vi.useFakeTimers({ toFake: ['Date'], now: new Date(time) });

  test('is a UTC month, and counts the category ai only', async ({ service }) => {
    const [tenant, actor] = [await tenantOf(service), actorOf()];
    const used = (credits: string, time: string, values: object = {}) =>
      chargeOf(actor, credits, { occurredAt: new Date(time), ...values });
    await meterIn(service, tenant, [
      used('1', '2028-01-31T23:59:59.999Z'),
      used('2', '2028-02-01T00:00:00.000Z'),
      used('4', '2028-02-29T23:59:59.999Z', { entityType: 'assistant', entityId: newId() }),
      used('0', '2028-02-10T00:00:00.000Z', { resource: 'agent_run', quantity: '8' }),
      used('0', '2028-02-10T00:00:00.000Z', { resource: 'app_compute', quantity: '1600' }),
      { ...used('32', '2028-02-10T00:00:00.000Z'), actor: actorOf() },
    ]);
    at('2028-02-29T23:59:59.999Z');
    expect(await figuresOf(service, tenant, actor)).toMatchObject({ used: '14.000000', remaining: '986.000000' });
    at('2028-03-01T00:00:00.000Z');
    expect(await figuresOf(service, tenant, actor)).toMatchObject({ used: '0.000000', remaining: '1000.000000' });
  });

  test('begins with nothing used, but with the credits that are still reserved', async ({ service }) => {
    const [tenant, actor] = [await tenantOf(service), actorOf()];
    at('2026-12-31T23:59:59.000Z');
    await meterIn(service, tenant, [chargeOf(actor, '990')]);
    const open = requestOf(actor, { credits: '10' });
    await reserve(service, tenant, open);
    await expect(reserve(service, tenant, requestOf(actor, { credits: '1' }))).rejects.toThrow(
      'Not enough credits: this requires 1, 990 of 1000 are used and 10 reserved. ' +
        'The next month begins at 2027-01-01T00:00:00.000Z',
    );
    at('2027-01-01T00:00:00.000Z');
    expect(await figuresOf(service, tenant, actor)).toMatchObject({ used: '0.000000', reserved: '10.000000' });
    await reserve(service, tenant, requestOf(actor, { credits: '990' }));
    await expect(reserve(service, tenant, requestOf(actor, { credits: '1' }))).rejects.toThrow(
      'The next month begins at 2027-02-01T00:00:00.000Z',
    );
    await settle(service, tenant, open, '10');
    expect(await figuresOf(service, tenant, actor)).toMatchObject({ used: '10.000000', remaining: '0.000000' });
  });
});
