import { cancelled } from '../../core/errors.ts';
import { queryTimeout } from './server-error.ts';

/** Milliseconds for a server to accept a connection. */
export const CONNECT_TIMEOUT = 10_000;
const GOODBYE_TIMEOUT = 1000;

/** Limits of a task on a server. */
export interface WorkLimits {
  signal: AbortSignal;
  /** Milliseconds for the whole task, including the connection. */
  timeout: number;
}

/** How a session is opened and closed. */
export interface SessionDoor<Session> {
  /** Connects and configures the session. `signal` is aborted by the caller or by the time limit. */
  open(signal: AbortSignal): Promise<Session>;
  /** Stops the statement in the server, then closes the connection. */
  cancel(): Promise<void>;
  /** Ends the session regularly. */
  end(): Promise<void>;
  /** Returns the error for the client. */
  failure(error: unknown): Error;
}

/**
 * Opens a session, runs the task and closes the session. When the signal aborts or the time is over, the statement is
 * cancelled in the source before this rejects with CANCELLED or UPSTREAM_FAILED ("query timeout …").
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

/** Ends a connection regularly, and closes it when the server does not respond. */
export async function endGracefully(goodbye: () => Promise<unknown>, hangUp: () => void): Promise<void> {
  const timer = setTimeout(hangUp, GOODBYE_TIMEOUT);
  await goodbye();
  clearTimeout(timer);
}
