import type { WebSocket } from 'ws';
import { MAX_UNREAD_BYTES } from '../unread-responses.ts';

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
    let bytes = 0;
    for (const { bufferedAmount } of this.#sockets.get(userId) ?? []) bytes += bufferedAmount;
    if (bytes <= MAX_UNREAD_BYTES) return;
    const sockets = [...this.#sockets.get(userId)!].sort((a, b) => a.bufferedAmount - b.bufferedAmount);
    while (bytes > MAX_UNREAD_BYTES) {
      const socket = sockets.pop()!;
      bytes -= socket.bufferedAmount;
      // A close frame would wait behind the messages.
      socket.terminate();
    }
  }
}
