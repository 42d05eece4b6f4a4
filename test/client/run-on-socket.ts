import { WebSocket } from 'ws';

/** Runs an operation on a socket and returns the payload of its first message. */
export async function runOnSocket(url: string, headers: Record<string, string>, payload: object): Promise<any> {
  const ws = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { headers });
  try {
    return await new Promise((resolve, reject) => {
      ws.on('error', reject);
      ws.on('open', () => ws.send(JSON.stringify({ type: 'connection_init' })));
      ws.on('message', (data) => {
        const message = JSON.parse(String(data));
        if (message.type === 'connection_ack') ws.send(JSON.stringify({ id: '1', type: 'subscribe', payload }));
        else resolve(message.payload);
      });
    });
  } finally {
    ws.close();
  }
}
