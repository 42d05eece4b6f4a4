import type { WebSocket } from 'ws';
import { MAX_ALL_UNREAD_BYTES, MAX_UNREAD_BYTES } from '../unread-responses.ts';

/** The sockets of all users are only counted when a user has as many unread bytes: there may be thousands. */
const MIN_BYTES = 256 << 10;

type UnreadSocket = Pick<WebSocket, 'bufferedAmount' | 'terminate'>;

/** The open sockets by user. Limits the bytes that they have not received. See docs/contract/operations.md#fairness. */
export class UnreadMessages {
  readonly #sockets = new Map<string, Set<UnreadSocket>>();

  /** Adds a socket of a user. Returns the function that removes it. */
  add(userId: string, socket: UnreadSocket): () => void {
    const ofUser = this.#sockets.get(userId) ?? new Set();
    this.#sockets.set(userId, ofUser.add(socket));
    return () => {
      if (ofUser.delete(socket) && ofUser.size === 0) this.#sockets.delete(userId);
    };
  }

  /**
   * Ends the sockets with the most unread bytes until the unread bytes of the user, and then of all users, are within
   * their limits. Users with the most unread bytes come first.
   */
  limit(userId: string): void {
    const ofUser = this.#sockets.get(userId);
    if (!ofUser || bytesOf(ofUser) < MIN_BYTES) return;
    endLargest(ofUser, MAX_UNREAD_BYTES);
    const users = [...this.#sockets.values()].map((sockets) => ({ sockets, bytes: bytesOf(sockets) }));
    let bytes = users.reduce((sum, user) => sum + user.bytes, 0);
    if (bytes <= MAX_ALL_UNREAD_BYTES) return;
    for (const user of users.toSorted((one, other) => other.bytes - one.bytes)) {
      bytes -= endLargest(user.sockets, Math.max(0, user.bytes - (bytes - MAX_ALL_UNREAD_BYTES)));
      if (bytes <= MAX_ALL_UNREAD_BYTES) return;
    }
  }
}

const bytesOf = (sockets: Iterable<UnreadSocket>): number => {
  let bytes = 0;
  for (const { bufferedAmount } of sockets) bytes += bufferedAmount;
  return bytes;
};

/** Ends the sockets with the most unread bytes until at most `maxBytes` are left. Returns the bytes of those that it ended. */
function endLargest(sockets: Iterable<UnreadSocket>, maxBytes: number): number {
  const before = bytesOf(sockets);
  if (before <= maxBytes) return 0;
  let bytes = before;
  for (const socket of [...sockets].toSorted((one, other) => other.bufferedAmount - one.bufferedAmount)) {
    bytes -= socket.bufferedAmount;
    // A close frame would wait behind the messages.
    socket.terminate();
    if (bytes <= maxBytes) break;
  }
  return before - bytes;
}
