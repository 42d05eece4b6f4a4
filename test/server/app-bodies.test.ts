import { expect, test } from 'vitest';
import { addressRange } from '../../src/core/address-range.ts';
import type { ApiError } from '../../src/core/errors.ts';
import { AppBodies, BODY_LIMITS } from '../../src/server/app-bodies.ts';

const limits = { ...BODY_LIMITS, maxBytes: 80, idleMs: 60_000 };

/** Opens a body of a caller, and records what stops it. */
function open(bodies: AppBodies, caller: string) {
  const body = bodies.open({ pool: 'app', caller });
  const stopped: number[] = [];
  body.receipt.onStop((error: ApiError) => void stopped.push(error.status));
  return { ...body, stopped, receive: (bytes: number) => body.receipt.received(bytes) };
}

test('a caller has an eighth of the memory, or one body', () => {
  const bodies = new AppBodies(limits);
  const [first, second] = [open(bodies, 'a'), open(bodies, 'a')];
  first.receive(50);
  expect(() => second.receive(1)).toThrow('Too many bodies of this caller');
  first.close();
  first.close();
  second.receive(10);
  const third = open(bodies, 'a');
  expect(() => third.receive(1)).toThrow('Too many bodies of this caller');
  // A body whose sender is proven counts to no caller.
  second.prove();
  third.receive(10);
});

test('when the memory is full, the slowest body of the caller with the most ends', () => {
  const bodies = new AppBodies(limits);
  const [large, small] = [open(bodies, 'a'), open(bodies, 'b')];
  large.receive(60);
  small.receive(5);
  const next = open(bodies, 'c');
  next.receive(30);
  expect([large.stopped, small.stopped, next.stopped]).toEqual([[503], [], []]);
  expect(() => large.receive(1)).toThrow('receiving too many calls');
  next.receive(40);
  // The caller with the most is the one that needs the bytes.
  expect(() => next.receive(10)).toThrow('receiving too many calls');
});

test('bodies that have arrived stay, and count until their calls end', () => {
  const bodies = new AppBodies(limits);
  const [complete, next] = [open(bodies, 'a'), open(bodies, 'b')];
  complete.receive(75);
  complete.receipt.complete();
  expect(() => next.receive(6)).toThrow('receiving too many calls');
  expect(complete.stopped).toEqual([]);
  complete.close();
  next.receive(6);
});

test('a body that is slower than allowed on average ends, a faster one does not', async () => {
  const bodies = new AppBodies({ ...limits, maxBytes: 1e9, graceMs: 20, checkMs: 5, minBytesPerSecond: 1000 });
  const [slow, fast, complete] = [open(bodies, 'a'), open(bodies, 'b'), open(bodies, 'c')];
  slow.receive(1);
  fast.receive(1e8);
  complete.receipt.complete();
  await expect.poll(() => slow.stopped).toEqual([408]);
  expect([fast.stopped, complete.stopped]).toEqual([[], []]);
  for (const body of [slow, fast, complete]) body.close();
});

test.for([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:0:2:ffff::1', '2001:db8:0:2::/64'],
  ['2001:0DB8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['64:ff9b::203.0.113.7', '64:ff9b:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['unknown', 'unknown'],
] as const)('the address %s is limited as %s', ([address, range]) => {
  expect(addressRange(address)).toBe(range);
});
