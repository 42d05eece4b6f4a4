import type { WebSocket } from 'ws';

/**
 * Lets a message that could not be sent because its client disconnected count as sent. Otherwise graphql-ws prints an
 * internal error for each one.
 */
export function ignoreUnsentMessages(socket: WebSocket): void {
  const send = socket.send.bind(socket) as (data: string, sent: (error?: Error) => void) => void;
  socket.send = (data: unknown, sent: unknown) =>
    send(data as string, (error) =>
      (sent as ((error?: Error) => void) | undefined)?.(socket.readyState === socket.OPEN ? error : undefined),
    );
}
