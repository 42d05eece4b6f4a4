import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { passToApp } from '../../rest-bridge/app-request.ts';
import type { RunApp } from '../../rest-bridge/call.ts';
import { sendError } from '../../rest-bridge/send-error.ts';
import { AppBodies, BODY_LIMITS } from '../../src/server/app-bodies.ts';
import { queuePipelinedRequests } from '../../src/server/pipelined-requests.ts';

const POOL = { view: 1000, proven: 1000, open: 1000, public: 1000 };
const MAX_BODY_BYTES = 200_000;

/** Starts a server whose app has memory for 1,000 bytes. Returns what it ran, and a function that opens a connection. */
async function startServer(closeMs: number) {
  const bodies = new AppBodies({ ...BODY_LIMITS, poolBytes: POOL, closeMs });
  const ran: string[] = [];
  const runApp: RunApp = async (_id, { path }, receive) => {
    ran.push(path);
    const body = bodies.open({ pool: 'view', owner: 'app', caller: 'ann' });
    try {
      const received = await receive(MAX_BODY_BYTES, body.receipt);
      return { status: 200, headers: {}, body: Buffer.from(`${received.length} bytes`) };
    } finally {
      body.close();
    }
  };
  const app = Fastify();
  queuePipelinedRequests(app);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  app.setErrorHandler(sendError);
  app.post('/api/apps/:id/view/*', (request, reply) =>
    passToApp({ context: { runApp }, request, reply, params: request.params } as never),
  );
  app.addContentTypeParser('application/json', { parseAs: 'string', bodyLimit: 1000 }, (_request, _text, done) =>
    done(null, null),
  );
  app.post('/json', async () => 'done');
  await app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  return { ran, open: () => connect(port, '127.0.0.1') };
}

const jsonHeadOf = (bytes: number) =>
  `POST /json HTTP/1.1\r\nHost: app\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`;
const headOf = (name: string, bytes: number) =>
  `POST /api/apps/app/view/${name} HTTP/1.1\r\nHost: app\r\nContent-Length: ${bytes}\r\n\r\n`;

/** Reads the responses of a connection: their statuses and JSON or text bodies, which must be complete. */
function readResponses(socket: Socket) {
  let text = '';
  socket.on('data', (data: Buffer) => (text += data.toString()));
  socket.on('error', () => {});
  const responses = () => {
    const found: [number, string][] = [];
    for (let rest = text; rest !== '';) {
      const end = rest.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(rest)?.[1] ?? Infinity);
      if (end < 0 || rest.length < end + 4 + length) break;
      found.push([Number(rest.slice(9, 12)), rest.slice(end + 4, end + 4 + length)]);
      rest = rest.slice(end + 4 + length);
    }
    return found;
  };
  return { responses, closed: once(socket, 'close') };
}

const statusesOf = (responses: [number, string][]) => responses.map(([status]) => status);

test('a client that is still sending gets the whole refusal; then the connection closes and runs nothing more', async () => {
  const { ran, open } = await startServer(600_000);
  const socket = open();
  const { responses, closed } = readResponses(socket);
  socket.write(headOf('first', 100_000) + 'x'.repeat(2000));
  await expect.poll(() => statusesOf(responses())).toEqual([503]);
  expect(JSON.parse(responses()[0]![1])).toMatchObject({ statusCode: 503, code: 'UNAVAILABLE' });
  socket.write('x'.repeat(50_000));
  // The end of the first request comes with two further ones.
  socket.write('x'.repeat(48_000) + headOf('second', 2) + 'ab' + headOf('third', 2) + 'ab');
  await closed;
  expect(statusesOf(responses())).toEqual([503]);
  expect(ran).toEqual(['/first']);
});

test('a connection that stops sending closes after a time, even if its client reads nothing', async () => {
  const { open } = await startServer(20);
  const [reading, other] = [open(), open()];
  const { responses, closed } = readResponses(reading);
  other.on('error', () => {});
  const otherClosed = once(other, 'close');
  for (const socket of [reading, other]) socket.write(headOf('first', 100_000) + 'x'.repeat(2000));
  await closed;
  expect(statusesOf(responses())).toEqual([503]);
  // The end of the connection is seen by a client that reads.
  other.resume();
  await otherClosed;
});

test('after a body that is too large the connection goes on', async () => {
  const { ran, open } = await startServer(20);
  const socket = open();
  const { responses } = readResponses(socket);
  socket.write(headOf('first', MAX_BODY_BYTES + 1) + 'x'.repeat(2000));
  await expect.poll(() => statusesOf(responses())).toEqual([413]);
  socket.write('x'.repeat(MAX_BODY_BYTES - 1999) + headOf('second', 2) + 'ab' + headOf('third', 3) + 'abc');
  await expect
    .poll(() => responses().slice(1))
    .toEqual([
      [200, '2 bytes'],
      [200, '3 bytes'],
    ]);
  expect(ran).toEqual(['/first', '/second', '/third']);
  socket.destroy();
});

test('JSON that is too large is refused with the whole response, and the connection closes', async () => {
  const { open } = await startServer(20);
  const socket = open();
  const { responses, closed } = readResponses(socket);
  socket.write(jsonHeadOf(100_000) + 'x'.repeat(2000));
  await expect.poll(() => statusesOf(responses())).toEqual([413]);
  socket.write('x'.repeat(98_000) + jsonHeadOf(2) + '{}');
  await closed;
  expect(statusesOf(responses())).toEqual([413]);
});
