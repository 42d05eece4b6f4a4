import fc from 'fast-check';
import { describe, expect, test as pure } from 'vitest';
import { creditsOf, USAGE_RESOURCE_TYPES, type UsageResource } from '../../src/core/usage.ts';
import { test } from '../support/fixture.ts';
import { systemQuery } from '../support/system-query.ts';

const SEED = 21;

describe('the credits of a quantity', () => {
  pure.each<[UsageResource, string, string]>([
    ['ai', '1', '100.000000'],
    ['ai', '0.1', '10.000000'],
    ['ai', '0.000000004', '0.000000'],
    ['ai', '0.000000005', '0.000001'],
    ['agent_run', '3', '3.000000'],
    ['app_compute', '0', '0.000000'],
    ['job_compute', '12.345', '0.123450'],
    ['job_compute', '0.00005', '0.000001'],
    ['job_compute', '0.000049999', '0.000000'],
    ['job_compute', '99999999999.9999', '999999999.999999'],
    ['app_storage', '1000000000', '0.010000'],
    ['file_storage', '49999', '0.000000'],
    ['file_storage', '50000', '0.000001'],
    ['workspace_storage', '123456789012345', '1234.567890'],
    ['es_index_count', '7', '0.070000'],
  ])('of %s: %s is %s', (resource, quantity, credits) => {
    expect(creditsOf(resource, quantity)).toBe(credits);
  });

  pure.each(['', '-1', '+1', '1e3', '1.', '.5', ' 1', '1\n', '0.0000000001', '1000000000000000', 'NaN', '１'])(
    'are refused for %j',
    (quantity) => {
      expect(() => creditsOf('job_compute', quantity)).toThrow(
        new RangeError(`The quantity ${JSON.stringify(quantity)} is not a decimal`),
      );
    },
  );

  pure('are less than a thousand million', () => {
    expect(creditsOf('ai', '9999999.999999994')).toBe('999999999.999999');
    for (const quantity of ['9999999.999999995', '10000000'])
      expect(() => creditsOf('ai', quantity)).toThrow(`The credits of ${quantity} (ai) are too many`);
  });

  test('are those that Postgres computes from the rate', async ({ service }) => {
    // Half of the quantities end with 5, so that many products are halfway between two millionths.
    const quantities = fc
      .tuple(fc.nat({ max: 9_999_999 }), fc.integer({ min: 1, max: 9 }), fc.nat({ max: 999_999_999 }), fc.boolean())
      .map(([whole, places, digits, isHalf]) => {
        const fraction = String(digits).padStart(9, '0').slice(-places);
        return `${whole}.${isHalf ? `${fraction.slice(1)}5` : fraction}`;
      });
    const cases = fc.sample(fc.tuple(fc.constantFrom(...USAGE_RESOURCE_TYPES), quantities), {
      numRuns: 3000,
      seed: SEED,
    });
    const computed = await systemQuery<{ credits: string }>(
      service,
      `select round(c.quantity * c.rate, 6)::text as credits
      from unnest($1::numeric[], $2::numeric[]) with ordinality c (quantity, rate, n)
      order by c.n`,
      cases.map(([, quantity]) => quantity),
      cases.map(([{ rate }]) => rate),
    );
    expect(cases.map(([{ slug }, quantity]) => creditsOf(slug, quantity))).toEqual(
      computed.map(({ credits }) => credits),
    );
    expect(new Set(computed.map(({ credits }) => credits)).size).toBeGreaterThan(1000);
  });
});
