/**
 * Reference for a refresh: pipes `COPY (query) TO STDOUT` of SOURCE_URL into `COPY target FROM STDIN` of TARGET_URL
 * with back-pressure,
 * and does nothing else. Row messages have the same form in both directions, so their bytes pass unchanged. Prints
 * its own CPU seconds.
 * `node bench/copy-reference.ts '<query>' '<target>'`
 */
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import pg from 'pg';

interface Wire {
  stream: Duplex;
  query(text: string): void;
  endCopyFrom(): void;
}

const [query, target] = process.argv.slice(2);
const HEAD = 5;
const code = (letter: string): number => letter.charCodeAt(0);
const [ROWS, READY, FAILED] = [code('d'), code('Z'), code('E')];

async function open(url: string): Promise<pg.Client & { connection: Wire }> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client as pg.Client & { connection: Wire };
}

/** Runs `COPY target FROM STDIN`: `begun` resolves when rows may be sent, `done` when all are stored. */
function copyIn(client: pg.Client): { begun: Promise<Wire>; done: Promise<void> } {
  const begun = Promise.withResolvers<Wire>();
  const done = Promise.withResolvers<void>();
  const copy = {
    callback: (error: Error | null) => (error ? done.reject(error) : done.resolve()),
    submit: (wire: Wire) => wire.query(`copy ${target} from stdin`),
    handleCopyInResponse: (wire: Wire) => begun.resolve(wire),
    handleCommandComplete: () => {},
    handleError: (error: Error) => copy.callback(error),
    handleReadyForQuery: () => copy.callback(null),
  };
  client.query(copy as unknown as pg.Submittable);
  return { begun: begun.promise, done: done.promise };
}

/** Runs `COPY (query) TO STDOUT` into the sink's stream, bypassing pg, which would parse every row. */
async function copyOut(wire: Wire, sink: Duplex): Promise<void> {
  const { stream } = wire;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let rest: Buffer = Buffer.alloc(0);
  stream.removeAllListeners('data').on('data', (bytes: Buffer) => {
    const data = rest.length > 0 ? Buffer.concat([rest, bytes]) : bytes;
    let from = 0;
    let at = 0;
    // Runs of whole row messages are sent in one write.
    const send = (until: number) => {
      if (until > from) sink.write(data.subarray(from, until));
    };
    while (at + HEAD <= data.length) {
      const end = at + 1 + data.readInt32BE(at + 1);
      if (end > data.length) break;
      if (data[at] !== ROWS) {
        send(at);
        from = end;
        if (data[at] === FAILED) reject(new Error(data.toString('utf8', at + HEAD, end)));
        if (data[at] === READY) resolve();
      }
      at = end;
    }
    send(at);
    rest = data.subarray(at);
    if (!sink.writableNeedDrain || stream.isPaused()) return;
    stream.pause();
    void once(sink, 'drain').then(() => stream.resume());
  });
  wire.query(`copy (${query}) to stdout`);
  await promise;
}

const [source, sink] = await Promise.all([open(process.env['SOURCE_URL']!), open(process.env['TARGET_URL']!)]);
const into = copyIn(sink);
const wire = await into.begun;
await copyOut(source.connection, wire.stream);
wire.endCopyFrom();
await into.done;
// pg has lost track of this connection, so it cannot be reused.
source.on('error', () => {});
source.connection.stream.destroy();
await sink.end();
const { user, system } = process.cpuUsage();
console.log((user + system) / 1e6);
