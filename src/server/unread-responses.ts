import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { tooMany } from '../core/errors.ts';
import { PerUserLimit } from '../core/per-user-limit.ts';

/**
 * Bytes of one user that wait in memory because the clients have not received them: of HTTP responses, and as many of
 * socket messages. See docs/contract.md#fairness.
 */
export const MAX_UNREAD_BYTES = 64 << 20;
/** Smaller responses are not counted. */
const MIN_BYTES = 16_384;

/** The users whose requests the responses belong to. Those without one belong to the address. */
const users = new WeakMap<ServerResponse, string>();

/** Assigns a response to the user whose unread bytes it counts among. */
export const assignResponse = (response: ServerResponse, userId: string): void => void users.set(response, userId);

/**
 * Limits the bytes of the complete responses of a user that wait in memory because the client has not received them.
 * Further ones of reads become 429. Those of changes close the connection, because the change is done and must not be
 * repeated. Exports do not count: they are created as the client receives them. Call this before other hooks change
 * responses. See docs/contract.md#fairness.
 */
export function limitUnreadResponses(app: FastifyInstance): void {
  const limit = new PerUserLimit(MAX_UNREAD_BYTES);
  app.addHook('onSend', (request, reply, payload, done) => {
    const { raw } = reply;
    const size = typeof payload === 'string' || Buffer.isBuffer(payload) ? Buffer.byteLength(payload) : 0;
    if (size < MIN_BYTES || raw.destroyed) return done(null, payload);
    const release = limit.acquire(users.get(raw) ?? request.ip, size);
    if (!release && isChange(request)) raw.destroy();
    else if (!release)
      return done(
        tooMany(`A user may have at most ${MAX_UNREAD_BYTES >> 20} MiB of responses that were not received`, {
          headers: { 'retry-after': '10' },
        }),
      );
    if (release) raw.once('close', release);
    done(null, payload);
  });
}

/** Returns whether a request may have changed something. */
const isChange = ({ method, graphqlOperation }: FastifyRequest): boolean =>
  graphqlOperation ? graphqlOperation.type === 'mutation' : method !== 'GET' && method !== 'HEAD';
