import type { WebSocket } from 'ws';
import { PerUserLimit } from '../../core/per-user-limit.ts';

/** Maximum number of sockets of one address in this process whose callers are not authenticated yet. */
const MAX_WAITING_SOCKETS = 100;
/** Close code of a socket above a limit, after the HTTP status 429. */
export const TOO_MANY = 4429;

/** The sockets whose callers are not authenticated yet, by address. They have 10 seconds for it. */
export class WaitingSockets {
  readonly #limit = new PerUserLimit(MAX_WAITING_SOCKETS);
  readonly #ends = new WeakMap<WebSocket, () => void>();

  /** Counts a socket until it is authenticated or closed. Closes it and returns false above the limit. */
  add(socket: WebSocket, address: string): boolean {
    const end = this.#limit.acquire(address);
    if (!end) {
      socket.close(TOO_MANY, `An address may have at most ${MAX_WAITING_SOCKETS} sockets that are not authenticated`);
      return false;
    }
    this.#ends.set(socket, end);
    socket.once('close', end);
    return true;
  }

  /** Stops counting the socket to the address: the caller is authenticated. */
  authenticated(socket: WebSocket): void {
    this.#ends.get(socket)?.();
  }
}
