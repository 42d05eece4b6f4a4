/**
 * Measures how long a progress event takes from its write by another process to the subscribers of a `web` process:
 * `npm run build && node bench/progress.ts [subscribers=1,10,100] [events=100] [dist=dist]`. Prints Markdown. This
 * process writes what a worker writes, ten times a second. Subscribers use GraphQL over WebSockets, ten on each. The
 * reference is a bare NOTIFY between two connections, between two writes.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type Client } from 'graphql-ws';
import pg from 'pg';
import { WebSocket } from 'ws';
import { TOKENS } from './fill.ts';
import { printTable } from './markdown.ts';
import { readOptions } from './options.ts';
import { report, type Measurement } from './report.ts';
import { withService } from './service.ts';

const { subscribers, events, dist } = readOptions({ subscribers: '1,10,100', events: '100', dist: 'dist' });
const PER_SOCKET = 10;
/** Milliseconds between a write and a bare notification; so a write every 100 ms. */
const PAUSE_MS = 50;
const CHANNEL = 'dws_bench';

const START = `
  insert into dws.operation (id, work_id, tenant_id, user_id, operation, resource_kind, resource_id, status, attempt, input, fingerprint)
  values ($1, $1, md5('bench')::uuid, md5('user1')::uuid, 'dataset.refresh', 'dataset', $1, 'running', 1, '{}', '')`;
const WRITE = `
  update dws.operation
  set heartbeat_at = now(), current = $2, updated_at = now(), sequence = sequence + 1
  where tenant_id = md5('bench')::uuid and work_id = $1 and attempt = 1 and status = 'running' and finished_at is null`;
const FINISH = `
  update dws.operation set status = 'succeeded', finished_at = now(), sequence = sequence + 1 where work_id = $1`;

const openSocket = (base: string): Client =>
  createClient({
    url: `${base.replace('http', 'ws')}/graphql`,
    webSocketImpl: class extends WebSocket {
      constructor(url: string, protocols: string) {
        super(url, protocols, { headers: { authorization: `Bearer ${TOKENS.superuser}` } });
      }
    },
  });

/** Follows an operation to its end. Calls `onEvent` with the progress of each event before its end. */
function follow(socket: Client, id: string, onEvent: (current: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.subscribe<{ progress: { status: string; current: number } }>(
      { query: `subscription { progress(id: "${id}") { status percent current total message } }` },
      {
        next({ data, errors }) {
          if (!data) reject(errors![0]);
          else if (data.progress.status === 'RUNNING') onEvent(data.progress.current);
        },
        error: reject,
        complete: resolve,
      },
    );
  });
}

/** Two connections of the bench, as the role of workers. */
async function connect(url: string): Promise<{ writer: pg.Client; listener: pg.Client }> {
  const [writer, listener] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })];
  await Promise.all([writer.connect(), listener.connect()]);
  await writer.query('set role dws_system');
  await listener.query(`listen ${CHANNEL}`);
  return { writer, listener };
}

/** Returns milliseconds from each write to each event, and of each bare notification. */
async function measure(
  base: string,
  { writer, listener }: Awaited<ReturnType<typeof connect>>,
  count: number,
  writes: number,
) {
  const sockets = Array.from({ length: Math.ceil(count / PER_SOCKET) }, () => openSocket(base));
  const id = randomUUID();
  await writer.query(START, [id]);
  const sentAt: number[] = [];
  const took: number[] = [];
  const bare: number[] = [];
  let subscribed = 0;
  const onEvent = (current: number) => {
    if (current === 0) subscribed++;
    else took.push(performance.now() - sentAt[current]!);
  };
  const onBare = ({ payload }: pg.Notification) => bare.push(performance.now() - Number(payload));
  listener.on('notification', onBare);
  const ends = Array.from({ length: count }, (_, i) => follow(sockets[i % sockets.length]!, id, onEvent));
  while (subscribed < count) await sleep(PAUSE_MS);
  for (let event = 1; event <= writes; event++) {
    sentAt[event] = performance.now();
    await writer.query({ name: 'write', text: WRITE, values: [id, event] });
    await sleep(PAUSE_MS);
    await writer.query({
      name: 'bare',
      text: 'select pg_notify($1, $2)',
      values: [CHANNEL, String(performance.now())],
    });
    await sleep(PAUSE_MS);
  }
  await writer.query(FINISH, [id]);
  await Promise.all(ends);
  listener.off('notification', onBare);
  for (const socket of sockets) await socket.dispose();
  return { took, bare };
}

const at = (times: number[], part: number): number =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * part))]!;

await withService({ roles: ['web'], dist }, async ({ base, databaseUrl }) => {
  const clients = await connect(databaseUrl);
  // Only warms caches.
  await measure(base, clients, 1, 20);
  const lines: string[][] = [];
  const measurements: Measurement[] = [];
  for (const count of subscribers.split(',').map(Number)) {
    const { took, bare } = await measure(base, clients, count, Number(events));
    const above = at(took, 0.99) - at(bare, 0.99);
    const figures = [at(took, 0.5), at(took, 0.99), at(bare, 0.5), at(bare, 0.99), above];
    lines.push([String(count), ...figures.map((ms) => ms.toFixed(1)), String(took.length)]);
    measurements.push({
      what: `progress event to ${count} subscribers, p99 above NOTIFY`,
      goal: 'progress',
      value: above,
    });
  }
  await Promise.all([clients.writer.end(), clients.listener.end()]);
  printTable(['subscribers', 'event p50 ms', 'p99', 'NOTIFY p50', 'p99', 'p99 above it (goal 50)', 'events'], lines);
  report(measurements);
});
