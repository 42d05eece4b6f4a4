import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Bytes that a connection had sent when it was last checked. */
interface Progress {
  sent: string;
  since: number;
}

/**
 * Closes each connection (including WebSockets) whose client has received no byte of its pending data for `timeoutMs`
 * (docs/contract/operations.md#fairness). Data that the client sends does not count. Returns a function that ends the
 * watch.
 */
export function closeStalledConnections(server: Server, timeoutMs: number): () => void {
  const connections = new Map<Socket, Progress | null>();
  server.on('connection', (socket) => {
    connections.set(socket, null);
    socket.once('close', () => connections.delete(socket));
  });
  const timer = setInterval(() => {
    const now = performance.now();
    for (const [socket, last] of connections) {
      const sent = socket.writableLength === 0 ? null : progressOf(socket);
      if (sent === null) connections.set(socket, null);
      else if (last?.sent !== sent) connections.set(socket, { sent, since: now });
      else if (now - last.since >= timeoutMs) socket.destroy();
    }
  }, timeoutMs / 6).unref();
  return () => clearInterval(timer);
}

/**
 * Returns a text that changes when the system takes bytes. Node has no public property for the bytes of a running write.
 */
function progressOf(socket: Socket): string {
  const { writeQueueSize } = (socket as { _handle?: { writeQueueSize?: number } })._handle ?? {};
  return `${socket.bytesWritten} ${socket.writableLength} ${writeQueueSize}`;
}
