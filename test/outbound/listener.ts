import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A real HTTP server on loopback that records what it receives. */
export interface Listener {
  port: number;
  /** Connections so far, including connections without a request. */
  connections: number;
  requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[];
  /** Handles the requests. By default, the response is `ok`. */
  respond: (request: IncomingMessage, response: ServerResponse) => void;
  close(): Promise<void>;
}

/** Starts a server at an address, by default on all of loopback, IPv4 and IPv6. */
export async function startListener(host = '::', port = 0): Promise<Listener> {
  const server: Server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (part: string) => (body += part));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      listener.requests.push({ method, url, headers, body });
      listener.respond(request, response);
    });
  });
  server.on('connection', () => (listener.connections += 1));
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  const listener: Listener = {
    port: (server.address() as AddressInfo).port,
    connections: 0,
    requests: [],
    respond: (_request, response) => void response.end('ok'),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return listener;
}
