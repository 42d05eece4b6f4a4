import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { start as startSearch, type Distribution } from '../../tools/elasticsearch.ts';
import type { Engine } from '../../tools/engine.ts';
import { start as startMariadb } from '../../tools/mariadb.ts';

const STARTS: Record<string, () => Promise<Engine<unknown>>> = {
  mariadb: startMariadb,
  ...Object.fromEntries(
    (['elasticsearch', 'opensearch'] satisfies Distribution[]).map((name) => [name, () => startSearch(name)]),
  ),
};

/** Starts engines for the whole run when the first test requests them, and ends them with it. */
export async function openEngineBroker(): Promise<{ url: string; close(): Promise<void> }> {
  const started = new Map<string, Promise<Engine<unknown>>>();
  const server: Server = createServer((request, response) => {
    const name = request.url!.slice(1);
    const starting = started.get(name) ?? STARTS[name]!();
    started.set(name, starting);
    starting.then(
      ({ address }) => response.end(JSON.stringify(address)),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      await Promise.all(
        [...started.values()].map((starting) =>
          starting.then(
            (engine) => engine.stop(),
            () => {},
          ),
        ),
      );
    },
  };
}
