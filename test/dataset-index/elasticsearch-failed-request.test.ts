import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { openSearchEngine } from '../../src/adapters/dataset-index/elasticsearch/client.ts';

/** Ways in which an engine does not take a request, by the name of the error. */
const FAILURES: Record<string, (stop: AbortController) => RequestListener> = {
  ConnectionError: () => (request) => request.socket.destroy(),
  RequestAbortedError: (stop) => () => stop.abort(),
  ResponseError: () => (request, response) => request.resume().on('end', () => response.writeHead(429).end('{}')),
};

test.each(Object.entries(FAILURES))(
  '%s of a bulk request has no copy of its rows, nor the credentials of the engine',
  async (name, fail) => {
    const stop = new AbortController();
    const server = createServer(fail(stop));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const engine = openSearchEngine({ url: `http://ann:hunter2@127.0.0.1:${port}`, prefix: 'dws-test-' });
    const bulkBody = Buffer.from('a row\n');
    try {
      const request = engine.client.transport.request(
        { method: 'POST', path: '/x/_bulk', bulkBody },
        { signal: stop.signal, maxRetries: 0 },
      );
      const error = await request.then(
        () => undefined,
        (reason: any) => reason,
      );
      expect(error.name).toBe(name);
      const { params } = error.meta.meta.request;
      expect(params.body === bulkBody).toBe(true);
      expect(params.headers).toBeUndefined();
    } finally {
      await engine.close();
      server.closeAllConnections();
      server.close();
    }
  },
);
