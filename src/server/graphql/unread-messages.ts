import type { WebSocket } from 'ws';

/** Bytes that wait in memory because the clients of one user's sockets have not received them. */
const MAX_UNREAD_BYTES = 64 << 20;

/** The open sockets by user. Limits what they have not received. See docs/contract.md#fairness. */
export class UnreadMessages {
  readonly #sockets = new Map<string, Set<WebSocket>>();

  /** Adds a socket of a user. Returns the function that removes it. */
  add(userId: string, socket: WebSocket): () => void {
    const ofUser = this.#sockets.get(userId) ?? new Set();
    this.#sockets.set(userId, ofUser.add(socket));
    return () => {
      if (ofUser.delete(socket) && ofUser.size === 0) this.#sockets.delete(userId);
    };
  }

  /** Ends the socket with the most unread bytes while those of a user are too many. */
  limit(userId: string): void {
    const unread = [...(this.#sockets.get(userId) ?? [])].sort((a, b) => a.bufferedAmount - b.bufferedAmount);
    let bytes = unread.reduce((sum, { bufferedAmount }) => sum + bufferedAmount, 0);
    while (bytes > MAX_UNREAD_BYTES) {
      const socket = unread.pop()!;
      bytes -= socket.bufferedAmount;
      // A close frame would wait behind the messages.
      socket.terminate();
    }
  }
}
