import { cancelled } from '../../core/errors.ts';
import { queryTimeout } from './server-complaint.ts';

/** Milliseconds that a server has to take a new connection. */
export const CONNECT_TIMEOUT = 10_000;
const GOODBYE_TIMEOUT = 1000;

/** What bounds a piece of work on a server. */
export interface WorkLimits {
  signal: AbortSignal;
  /** Milliseconds for everything, connecting included. */
  timeout: number;
}

/** How a session is opened and closed. */
export interface SessionDoor<Session> {
  /** Connects and sets the session up. `signal` is aborted by the caller or by the clock. */
  open(signal: AbortSignal): Promise<Session>;
  /** Stops the statement in the server, then drops the connection. */
  cancel(): Promise<void>;
  /** Says goodbye. */
  end(): Promise<void>;
  /** What the client is told of an error. */
  failure(error: unknown): Error;
}

/**
 * Opens a session, does the work and closes it. When the signal aborts or the time is up, the statement is cancelled in the source
 * before this rejects with `cancelled` or `upstreamFailed` ("query timeout …").
 */
export async function runSession<Session, T>(
  limits: WorkLimits,
  door: SessionDoor<Session>,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const clock = AbortSignal.timeout(limits.timeout);
  const signal = AbortSignal.any([limits.signal, clock]);
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped = door.cancel();
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    signal.throwIfAborted();
    const session = await door.open(signal);
    signal.throwIfAborted();
    return await work(session);
  } catch (error) {
    if (limits.signal.aborted) throw cancelled(undefined, { cause: error });
    if (clock.aborted) throw queryTimeout(limits.timeout);
    throw door.failure(error);
  } finally {
    signal.removeEventListener('abort', stop);
    await (stopped ?? door.end());
  }
}

/** Says goodbye, and hangs up on a server that does not answer to it. */
export async function sayGoodbye(goodbye: () => Promise<unknown>, hangUp: () => void): Promise<void> {
  const timer = setTimeout(hangUp, GOODBYE_TIMEOUT);
  await goodbye();
  clearTimeout(timer);
}
