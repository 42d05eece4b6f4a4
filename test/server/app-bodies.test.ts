import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressRange } from '../../src/core/address-range.ts';
import type { Entrance } from '../../src/core/app-run.ts';
import type { ApiError } from '../../src/core/errors.ts';
import { AppBodies, BODY_LIMITS } from '../../src/server/app-bodies.ts';

const ENTRANCES: readonly Entrance[] = ['view', 'proven', 'open'];
const poolsOf = (bytes: number) => ({ view: bytes, proven: bytes, open: bytes, public: bytes });
const limits = { ...BODY_LIMITS, poolBytes: poolsOf(80), callerShare: 1 / 8, idleMs: 60_000 };

/** Opens a body of a caller, by default of a view, and records what stops it. */
function open(bodies: AppBodies, caller: string | null, entrance: Entrance = 'view') {
  const body = bodies.open({ pool: entrance, owner: 'app', caller });
  const stopped: number[] = [];
  body.receipt.onStop((error: ApiError) => void stopped.push(error.status));
  return { ...body, stopped, receive: (bytes: number) => body.receipt.received(bytes) };
}

test('a caller has a part of the memory, or one body', () => {
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

test.for(ENTRANCES)('the pool of the entrance %s has 32 MiB, and a caller a quarter of it', (entrance) => {
  const bodies = new AppBodies();
  const part = 8 << 20;
  const ofCaller = [open(bodies, 'a', entrance), open(bodies, 'a', entrance)];
  ofCaller[0]!.receive(part - 1);
  ofCaller[1]!.receive(1);
  expect(() => ofCaller[1]!.receive(1)).toThrow('Too many bodies of this caller');
  for (let n = 0; n < 3; n++) {
    const body = open(bodies, `b${n}`, entrance);
    body.receive(part);
    body.receipt.complete();
  }
  for (const body of ofCaller) body.receipt.complete();
  const next = open(bodies, 'c', entrance);
  expect(() => next.receive(1)).toThrow('receiving too many calls');
  // Bodies that fill one pool take nothing from the others.
  for (const other of ENTRANCES) if (other !== entrance) open(bodies, 'c', other).receive(10_000_000);
});

test('a proven body takes the memory of arriving ones without proof, and is stopped for none', () => {
  const bodies = new AppBodies(limits);
  const [proven, signed] = [open(bodies, null, 'proven'), open(bodies, 'a', 'proven')];
  const stranger = open(bodies, 'b', 'proven');
  proven.receive(30);
  signed.receive(5);
  signed.prove();
  stranger.receive(45);
  proven.receive(10);
  expect([proven.stopped, signed.stopped, stranger.stopped]).toEqual([[], [], [503]]);
  proven.receive(35);
  const next = open(bodies, 'c', 'proven');
  expect(() => next.receive(1)).toThrow('receiving too many calls');
  expect([proven.stopped, signed.stopped]).toEqual([[], []]);
});

test('each entrance and caller keeps to its part, whatever arrives, is proven and ends', () => {
  const step = fc.record({
    what: fc.constantFrom('open', 'receive', 'receive', 'receive', 'complete', 'prove', 'close'),
    entrance: fc.constantFrom(...ENTRANCES),
    caller: fc.constantFrom('a', 'b', null),
    body: fc.nat(),
    bytes: fc.integer({ min: 1, max: 100 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const bodies = new AppBodies(limits);
      const all: (ReturnType<typeof open> & { entrance: Entrance; caller: string | null; size: number })[] = [];
      const living = () => all.filter(({ stopped }) => stopped.length === 0);
      const sizeOf = (list: { size: number }[]) => list.reduce((sum, { size }) => sum + size, 0);
      for (const { what, entrance, caller, body: number, bytes } of steps) {
        if (what === 'open') all.push({ ...open(bodies, caller, entrance), entrance, caller, size: 0 });
        const body = living()[number % Math.max(1, living().length)];
        if (!body || what === 'open') continue;
        if (what === 'receive') {
          const others = living().filter((one) => one !== body && one.entrance === body.entrance);
          const own = others.filter((one) => one.caller === body.caller);
          try {
            body.receive(bytes);
            body.size += bytes;
          } catch (error) {
            // Only its own pool can refuse it: if its caller has another body, or its pool is full without it.
            const isPart = body.caller !== null && sizeOf(own) > 0 && sizeOf(own) + body.size + bytes > 10;
            expect(isPart || sizeOf(others) + body.size + bytes > 80, String(error)).toBe(true);
            body.close();
            all.splice(all.indexOf(body), 1);
          }
        } else if (what === 'complete') body.receipt.complete();
        else if (what === 'prove') {
          body.prove();
          body.caller = null;
        } else {
          body.close();
          all.splice(all.indexOf(body), 1);
        }
        for (const { stopped, caller: who } of all) if (stopped.length > 0) expect(who).not.toBeNull();
        for (const one of ENTRANCES) {
          const pool = living().filter((other) => other.entrance === one);
          expect(sizeOf(pool)).toBeLessThanOrEqual(80);
          for (const who of ['a', 'b']) {
            const own = pool.filter((other) => other.caller === who && other.size > 0);
            if (own.length > 1) expect(sizeOf(own)).toBeLessThanOrEqual(10);
          }
        }
      }
      for (const body of all) body.close();
      for (const entrance of ENTRANCES) open(bodies, 'c', entrance).receive(80);
    }),
    { numRuns: 300 },
  );
});

test('a body that is slower than allowed on average ends, a faster one does not', async () => {
  const bodies = new AppBodies({
    ...limits,
    poolBytes: poolsOf(1e9),
    graceMs: 20,
    checkMs: 5,
    minBytesPerSecond: 1000,
  });
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
