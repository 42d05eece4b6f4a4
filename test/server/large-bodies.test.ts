import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { programOf } from '../../tools/python.ts';
import { HAS_PYTHON } from '../support/engine-presence.ts';
import { test } from '../support/fixture.ts';

const MB = 1_000_000;
const LIMIT = 10 * 1024 * 1024;
const SIZES = [LIMIT + 1, 11 * MB, 50 * MB];

interface Call {
  method: string;
  url: string;
  headers: Record<string, string>;
  bytes: number;
}

/** Sends a body, and returns what the client read of the response as `<status> <body>`. */
type Send = (call: Call) => Promise<string>;

const bodyOf = (bytes: number) => `{"name":"${'x'.repeat(bytes - 11)}"}`;

/** Sends the head and the body: where the call `expects` it, only after the service asks for the body. */
async function sendByNode({ method, url, headers, bytes }: Call, expects: boolean): Promise<string> {
  const sent = request(url, {
    method,
    headers: { ...headers, 'content-length': bytes, ...(expects && { expect: '100-continue' }) },
  });
  const answered = once(sent, 'response');
  let wantsBody = true;
  if (expects) {
    sent.flushHeaders();
    wantsBody = await Promise.race([once(sent, 'continue').then(() => true), answered.then(() => false)]);
  }
  if (wantsBody) sent.end(bodyOf(bytes));
  const [response] = await answered;
  const body = await text(response);
  sent.destroy();
  return `${response.statusCode} ${body}`;
}

/** Sends everything before it reads, as simple clients do. */
async function sendByBlockingSocket({ method, url, headers, bytes }: Call): Promise<string> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  const lines = Object.entries({ ...headers, host: 'dws', 'content-length': bytes, connection: 'close' });
  socket.write(
    `${method} ${pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
  );
  await new Promise<void>((sent, failed) => {
    socket.once('error', failed);
    socket.write(bodyOf(bytes), () => sent());
  });
  const response = (await buffer(socket)).toString();
  return `${response.slice(9, 12)} ${response.slice(response.indexOf('\r\n\r\n') + 4)}`;
}

const PYTHON = {
  urllib: `
from urllib.request import Request, urlopen
from urllib.error import HTTPError
try:
    response = urlopen(Request(url, data=body, headers=headers, method=method))
except HTTPError as error:
    response = error
print(response.status, response.read().decode())`,
  'http.client': `
from http.client import HTTPConnection
from urllib.parse import urlsplit
parts = urlsplit(url)
connection = HTTPConnection(parts.netloc)
connection.request(method, parts.path, body, headers)
response = connection.getresponse()
print(response.status, response.read().decode())`,
};

async function sendByPython(script: string, { method, url, headers, bytes }: Call): Promise<string> {
  const values = JSON.stringify({ method, url, headers, bytes });
  const read = 'import json, sys\nglobals().update(json.loads(sys.argv[1]))\nbody = b"x" * bytes\n';
  const child = spawn(programOf('python3'), ['-c', read + script, values], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return output.trim() || errors.trim().split('\n').at(-1)!;
}

const CLIENTS: Record<string, Send> = {
  'fetch with a text': async ({ url, bytes, ...call }) => {
    const response = await fetch(url, { ...call, body: bodyOf(bytes) });
    return `${response.status} ${await response.text()}`;
  },
  'fetch with bytes': async ({ url, bytes, ...call }) => {
    const response = await fetch(url, { ...call, body: Buffer.from(bodyOf(bytes)) });
    return `${response.status} ${await response.text()}`;
  },
  'http.request': (call) => sendByNode(call, false),
  'http.request that waits for 100 Continue': (call) => sendByNode(call, true),
  'a socket that sends all before it reads': sendByBlockingSocket,
  'urllib of Python': (call) => sendByPython(PYTHON.urllib, call),
  'http.client of Python': (call) => sendByPython(PYTHON['http.client'], call),
};

/** Refusals of JSON bodies: whose, where, and the status. */
const REFUSED = [
  ['ann', 'POST', '/api/folders', 413],
  ['ann', 'PUT', '/api/me', 413],
  ['ann', 'DELETE', '/api/tokens/x', 413],
  ['ann', 'POST', '/graphql', 413],
  ['anonymous', 'POST', '/api/login', 413],
  ['anonymous', 'POST', '/graphql', 413],
  // These are refused before their body is read.
  ['anonymous', 'POST', '/api/folders', 401],
  ['ann', 'DELETE', '/api/folders', 405],
  ['ann', 'POST', '/api/nothing', 404],
] as const;

const isReadable = (response: string, status: number): boolean => {
  const { statusCode, message } = JSON.parse(response.slice(4)) as { statusCode: number; message: string };
  return (
    response.startsWith(`${status} `) && statusCode === status && (status !== 413 || message.includes(`${LIMIT} bytes`))
  );
};

describe('a refused JSON body, whatever its size, has a response that every client reads', () => {
  for (const [name, send] of Object.entries(CLIENTS))
    test.skipIf(name.endsWith('Python') && !HAS_PYTHON)(name, async ({ ann, anonymous }) => {
      for (const [caller, method, path, status] of REFUSED)
        for (const bytes of SIZES) {
          const client = { ann, anonymous }[caller];
          const headers = { ...client.headers, 'content-type': 'application/json' };
          const response = await send({ method, url: client.url + path, headers, bytes });
          expect(response, `${method} ${path} with ${bytes} bytes`).toSatisfy((text: string) =>
            isReadable(text, status),
          );
        }
    });
});

test('twenty concurrent bodies of 11 MB are refused readably, while the service responds to another caller', async ({
  ann,
  bob,
}) => {
  const headers = { ...ann.headers, 'content-type': 'application/json' };
  const call = { method: 'POST', url: `${ann.url}/api/folders`, headers, bytes: 11 * MB };
  const sent = Array.from({ length: 20 }, () => sendByNode(call, false));
  expect((await bob.get('/me')).status).toBe(200);
  for (const response of await Promise.all(sent)) expect(isReadable(response, 413)).toBe(true);
});
