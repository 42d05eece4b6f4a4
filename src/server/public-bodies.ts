import { Transform } from 'node:stream';
import type { FastifyReply, FastifyRequest, preParsingHookHandler } from 'fastify';
import { addressRange } from '../core/address-range.ts';
import type { BodyReceipt } from '../core/app-run.ts';
import { rateLimited } from '../core/errors.ts';
import { PerUserLimit } from '../core/per-user-limit.ts';
import type { AppBodies } from './app-bodies.ts';

/** Bodies that an address may send at the same time in a process without credentials. */
const MAX_OPEN_BODIES = 64;

/**
 * Creates the hook that limits the bodies of callers without valid credentials: their number and memory by address, and the
 * time in which they arrive. `isKnown` returns whether a request has a caller.
 */
export function limitPublicBodies(
  bodies: AppBodies,
  isKnown: (request: FastifyRequest) => boolean,
): preParsingHookHandler {
  const open = new PerUserLimit(MAX_OPEN_BODIES);
  return (request, reply, payload, done) => {
    if (isKnown(request)) return done(null, payload);
    const address = addressRange(request.ip);
    const leave = open.acquire(address);
    if (!leave) return done(rateLimited(undefined, { headers: { 'retry-after': '1' } }));
    const body = bodies.open({ pool: 'public', owner: null, caller: address });
    reply.raw.once('close', () => {
      body.close();
      leave();
    });
    done(null, countBytes(payload, body.receipt, reply));
  };
}

type Payload = Parameters<preParsingHookHandler>[2] & { receivedEncodedLength?: number };

/** Returns the bytes of a body, and counts them as they arrive. It fails when the body is stopped. */
function countBytes(payload: Payload, receipt: BodyReceipt, { raw }: FastifyReply): Payload {
  const counted: Transform & { receivedEncodedLength?: number } = new Transform({
    transform(part: Buffer, _encoding, pass) {
      try {
        receipt.received(part.length);
        pass(null, part);
      } catch (error) {
        pass(error as Error);
      }
    },
    flush(pass) {
      receipt.complete();
      pass();
    },
  });
  // The headers state the length of the encoded body.
  Object.defineProperty(counted, 'receivedEncodedLength', { get: () => payload.receivedEncodedLength });
  receipt.onStop((error) => counted.destroy(error));
  payload.once('error', (error) => counted.destroy(error));
  raw.once('close', () => counted.destroy());
  return payload.pipe(counted);
}
