import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { tooMany, unavailable, type ApiError } from '../core/errors.ts';
import { callerAt, type Caller } from '../core/fair-gate.ts';

/**
 * Bytes of one user that wait in memory because the clients have not received them: of HTTP responses, and as many of
 * socket messages. See docs/contract/operations.md#fairness.
 */
export const MAX_UNREAD_BYTES = 64 << 20;
/** Such bytes of all users. */
export const MAX_ALL_UNREAD_BYTES = 2 * MAX_UNREAD_BYTES;
/** Smaller responses are not counted. */
const MIN_BYTES = 16_384;

/** Bounds of the responses that wait in a process. */
interface UnreadLimits {
  /** Bytes of one user. A single response is always within it. */
  maxOfUser: number;
  /** Bytes of all users. */
  maxOfAll: number;
  /** How long a response may wait before it ends for one of another user. */
  maxWaitMs: number;
}

const LIMITS: UnreadLimits = { maxOfUser: MAX_UNREAD_BYTES, maxOfAll: MAX_ALL_UNREAD_BYTES, maxWaitMs: 10_000 };
const RETRY = { headers: { 'retry-after': '10' } };

/** A complete response that its client has not received. */
interface UnreadResponse {
  userId: string;
  bytes: number;
  since: number;
  /** Closes its connection. */
  end(): void;
}

/**
 * Counts the responses that wait in memory. When there is no memory for another one of a user, the oldest response of the user
 * with the most bytes ends: if these are more than that user would have, or it waits too long.
 */
export class UnreadResponses {
  readonly #limits: UnreadLimits;
  /** By user, the oldest first. */
  readonly #responses = new Map<string, Set<UnreadResponse>>();
  #bytes = 0;

  constructor(limits: UnreadLimits = LIMITS) {
    this.#limits = limits;
  }

  /** Counts a response, which ends with `end`. Returns the function that counts it as received, or why it is refused. */
  add(userId: string, bytes: number, end: () => void): (() => void) | ApiError {
    const { maxOfUser, maxOfAll } = this.#limits;
    const ofUser = this.#bytesOf(userId);
    if (ofUser > 0 && ofUser + bytes > maxOfUser)
      return tooMany(`A user may have at most ${maxOfUser >> 20} MiB of responses that were not received`, RETRY);
    while (this.#bytes > 0 && this.#bytes + bytes > maxOfAll) {
      const victim = this.#findVictim(userId, ofUser + bytes);
      if (!victim) return unavailable('Too many responses were not received', RETRY);
      this.#remove(victim);
      victim.end();
    }
    const response: UnreadResponse = { userId, bytes, since: performance.now(), end };
    this.#responses.set(userId, (this.#responses.get(userId) ?? new Set()).add(response));
    this.#bytes += bytes;
    return () => this.#remove(response);
  }

  #bytesOf(userId: string): number {
    let bytes = 0;
    for (const response of this.#responses.get(userId) ?? []) bytes += response.bytes;
    return bytes;
  }

  /** Returns the response that ends for one of a user, who would have `bytes` with it. */
  #findVictim(userId: string, bytes: number): UnreadResponse | undefined {
    const others = [...this.#responses.keys()].filter((id) => id !== userId);
    const most = others.reduce((max, id) => Math.max(max, this.#bytesOf(id)), 0);
    const oldest = others
      .filter((id) => this.#bytesOf(id) === most)
      .map((id) => [...this.#responses.get(id)!][0]!)
      .toSorted((one, other) => one.since - other.since)[0];
    const isLate = oldest && performance.now() - oldest.since >= this.#limits.maxWaitMs;
    return most > bytes || isLate ? oldest : undefined;
  }

  #remove(response: UnreadResponse): void {
    const ofUser = this.#responses.get(response.userId);
    if (!ofUser?.delete(response)) return;
    this.#bytes -= response.bytes;
    if (ofUser.size === 0) this.#responses.delete(response.userId);
  }
}

/** The users whose requests the responses belong to. Those without one belong to the address. */
const users = new WeakMap<ServerResponse, Caller>();

/** Assigns a response to the user whose unread bytes it counts among. */
export const assignResponse = (response: ServerResponse, caller: Caller): void => void users.set(response, caller);

/** Returns the user whom a response was assigned to; the address of the request for others. */
export const callerOfResponse = ({ ip }: FastifyRequest, { raw }: FastifyReply): Caller =>
  users.get(raw) ?? callerAt(ip);

/** Called when responses are complete; null once they are. */
const completions = new WeakMap<ServerResponse, (() => void)[] | null>();

/** Calls a function when a response is complete, but not yet sent, or a stream begins, or the request ends before. */
export function whenComplete(response: ServerResponse, end: () => void): void {
  const known = completions.get(response);
  if (known === null || response.destroyed) return end();
  if (known) return void known.push(end);
  completions.set(response, [end]);
  response.once('close', () => complete(response));
}

function complete(response: ServerResponse): void {
  const ends = completions.get(response) ?? [];
  completions.set(response, null);
  for (const end of ends) end();
}

/**
 * Limits the bytes of the complete responses of a user, and of all users, that wait in memory because the clients have not
 * received them. Further responses of reads become 429 or 503. Responses of changes close the connection, because the change is done and
 * must not be repeated. Exports do not count: they are created as the client receives them. Call this before other hooks change
 * responses. See docs/contract/operations.md#fairness.
 */
export function limitUnreadResponses(app: FastifyInstance): void {
  const unread = new UnreadResponses();
  app.addHook('onSend', (request, reply, payload, done) => {
    const { raw } = reply;
    complete(raw);
    // Encoded once, and not by each function that counts its bytes, compresses or sends it.
    const content = typeof payload === 'string' && payload.length >= MIN_BYTES ? Buffer.from(payload) : payload;
    const size = typeof content === 'string' || Buffer.isBuffer(content) ? Buffer.byteLength(content) : 0;
    if (size < MIN_BYTES || raw.destroyed) return done(null, content);
    const { userId, tenantId } = callerOfResponse(request, reply);
    const release = unread.add(userId || tenantId, size, () => raw.destroy());
    if (typeof release === 'function') raw.once('close', release);
    else if (isChange(request)) raw.destroy();
    else return done(release);
    done(null, content);
  });
}

const READING_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'QUERY']);

/** Returns whether a request may have changed something. */
const isChange = ({ method, graphqlOperation }: FastifyRequest): boolean =>
  graphqlOperation ? graphqlOperation.type === 'mutation' : !READING_METHODS.has(method);
