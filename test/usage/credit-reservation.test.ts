import { describe, expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import type { UsageActor } from '../../src/services/usage/effective-profile.ts';
import { figuresOf, forget, release, requestOf, reserve, settle } from '../support/credit-fixture.ts';
import { test } from '../support/fixture.ts';
import { tenantOf } from '../support/usage-fixture.ts';

const actorOf = (): UsageActor => `user:${newId()}`;

describe('a reservation', () => {
  test('counts until it is settled, released or forgotten', async ({ service }) => {
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
    await expect(reserve(service, tenant, requestOf(actor, { credits: '99.500001' }))).rejects.toThrow(
      /^This requires 99\.500001 credits: 0 of 1000 are used and 900\.5 reserved until 20\d\d-\d\d-01T00:00:00\.000Z/,
    );
    const second = await reserve(service, tenant, requestOf(actor, { credits: '99.5' }));
    await release(service, tenant, second);
    await settle(service, tenant, request, '123.25');
    expect(await figuresOf(service, tenant, actor)).toEqual({
      ...cap,
      used: '123.250000',
      reserved: '0.000000',
      remaining: '876.750000',
    });
    const third = await reserve(service, tenant, requestOf(actor, { credits: '876.75' }));
    await forget(service, third);
    expect(await figuresOf(service, tenant, actor)).toMatchObject({ reserved: '0.000000', remaining: '876.750000' });
  });
});
