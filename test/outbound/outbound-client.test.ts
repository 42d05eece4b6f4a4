import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createGuardedFetch } from '../../src/adapters/outbound/guarded-fetch.ts';
import { quoteUpstream, type OutboundClient, type OutboundRequest } from '../../src/core/outbound.ts';
import { startListener, type Listener } from './listener.ts';

const TIMEOUTS = { connect: 1000, firstByte: 700, idle: 700, total: 2500 };

let client: OutboundClient;
/** A host that is allowed, one that is not, and one of another origin that is. */
let allowed: Listener;
let forbidden: Listener;
let other: Listener;

beforeAll(async () => {
  client = createGuardedFetch({ allowed: ['127.0.0.1', '127.0.0.3'], timeouts: TIMEOUTS });
  [allowed, forbidden, other] = await Promise.all([
    startListener('127.0.0.1'),
    startListener('127.0.0.2'),
    startListener('127.0.0.3'),
  ]);
});
beforeEach(() => {
  for (const listener of [allowed, forbidden, other])
    Object.assign(listener, {
      connections: 0,
      requests: [],
      respond: (_: unknown, to: { end(text: string): void }) => to.end('ok'),
    });
});
afterAll(async () => {
  await client.close();
  await Promise.all([allowed, forbidden, other].map((listener) => listener.close()));
});

const send = (path = '/', more: Partial<OutboundRequest> = {}): Promise<Response> =>
  client.fetch(`http://127.0.0.1:${allowed.port}${path}`, {
    signal: new AbortController().signal,
    maxBytes: 1000,
    ...more,
  });
/** Sends a request to a server that responds with these bytes, whatever they are, and closes the connection. */
async function fetchFrom(bytes: string, protocol = 'http'): Promise<Response> {
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.end(bytes));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await client.fetch(`${protocol}://127.0.0.1:${port}/`, {
      signal: new AbortController().signal,
      maxBytes: 1000,
    });
  } finally {
    server.close();
  }
}
const redirectTo = (location: string, status = 302): void => {
  allowed.respond = (_request, response) => void response.writeHead(status, { location }).end();
};

test('an outgoing call sends method, headers and body, and returns status, headers and body', async () => {
  allowed.respond = (_request, response) => void response.writeHead(404, { 'x-kind': 'test' }).end('nothing');
  const response = await send('/path?q=1', { method: 'POST', headers: { 'x-api-key': 'k' }, body: 'text' });
  expect([response.status, response.headers.get('x-kind'), await response.text()]).toEqual([404, 'test', 'nothing']);
  expect(allowed.requests).toMatchObject([
    { method: 'POST', url: '/path?q=1', body: 'text', headers: { 'x-api-key': 'k' } },
  ]);
});

describe('a redirect', () => {
  test('of a GET is followed within an origin with all headers', async () => {
    allowed.respond = ({ url }, response) =>
      void (url === '/' ? response.writeHead(307, { location: '/there' }).end() : response.end('there'));
    expect(await (await send('/', { headers: { 'x-api-key': 'k' } })).text()).toBe('there');
    expect(allowed.requests.map(({ url, headers }) => [url, headers['x-api-key']])).toEqual([
      ['/', 'k'],
      ['/there', 'k'],
    ]);
  });

  test('of a GET is returned to a caller that follows none', async () => {
    redirectTo(`http://127.0.0.3:${other.port}/`);
    expect((await send('/', { followsRedirects: false })).status).toBe(302);
    expect(other.connections).toBe(0);
  });

  test('to another origin loses the headers of the caller, also on the way back', async () => {
    allowed.respond = ({ url }, response) =>
      void (url === '/'
        ? response.writeHead(302, { location: `http://127.0.0.3:${other.port}/` }).end()
        : response.end('back'));
    other.respond = (_request, response) =>
      void response.writeHead(302, { location: `http://127.0.0.1:${allowed.port}/back` }).end();
    const headers = { authorization: 'Bearer secret', cookie: 'a=secret', 'x-api-key': 'secret', 'x-other': 'secret' };
    expect(await (await send('/', { headers })).text()).toBe('back');
    expect(JSON.stringify(other.requests)).not.toContain('secret');
    expect(JSON.stringify(allowed.requests[1])).not.toContain('secret');
    expect(allowed.requests[0]!.headers).toMatchObject(headers);
  });

  test.each(['http://127.0.0.2:PORT/', '//127.0.0.2:PORT/', 'https://127.0.0.2:PORT/'])(
    'to %s, which is not allowed, is refused, and the host does not receive a connection',
    async (location) => {
      redirectTo(location.replace('PORT', String(forbidden.port)));
      await expect(send()).rejects.toMatchObject({ status: 400, code: 'BAD_USER_INPUT' });
      expect(forbidden.connections).toBe(0);
    },
  );

  test.each(['file:///etc/passwd', 'javascript:1', 'http://ann:secret@127.0.0.1/'])(
    'to %s is refused',
    async (location) => {
      redirectTo(location);
      await expect(send()).rejects.toMatchObject({ status: 400 });
      expect(allowed.requests).toHaveLength(1);
    },
  );

  test('is followed five times, and not a sixth time', async () => {
    allowed.respond = ({ url }, response) => {
      const left = Number(url!.slice(1));
      if (left === 0) response.end('end');
      else response.writeHead(301, { location: `/${left - 1}` }).end();
    };
    expect(await (await send('/5')).text()).toBe('end');
    await expect(send('/6')).rejects.toMatchObject({ status: 500, code: 'UPSTREAM_FAILED' });
    expect(allowed.requests).toHaveLength(12);
  });

  test('of any other method is returned as it is', async () => {
    redirectTo(`http://127.0.0.3:${other.port}/`, 307);
    expect((await send('/', { method: 'POST', body: 'secret' })).status).toBe(307);
    expect(other.connections).toBe(0);
  });
});

describe('a host that does not respond is 503:', () => {
  const UNAVAILABLE = { status: 503, code: 'UNAVAILABLE', message: expect.stringContaining('"127.0.0.1"') };

  test('nothing listens', async () => {
    const closed = await startListener('127.0.0.1');
    await closed.close();
    await expect(
      client.fetch(`http://127.0.0.1:${closed.port}/`, { signal: new AbortController().signal, maxBytes: 1 }),
    ).rejects.toMatchObject(UNAVAILABLE);
  });

  test('its name does not exist', async () => {
    await expect(
      client.fetch('https://does-not-exist.invalid/', { signal: new AbortController().signal, maxBytes: 1 }),
    ).rejects.toMatchObject({ status: 503, message: expect.stringContaining('"does-not-exist.invalid"') });
  });

  test('it does not use TLS', async () => {
    await expect(fetchFrom('hello\n', 'https')).rejects.toMatchObject(UNAVAILABLE);
  });

  test('it closes the connection before the response, or in the middle of one', async () => {
    await expect(fetchFrom('')).rejects.toMatchObject(UNAVAILABLE);
    await expect(fetchFrom('HTTP/1.1 200 OK\r\ncontent-')).rejects.toMatchObject(UNAVAILABLE);
    const response = await fetchFrom('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart');
    await expect(response.text()).rejects.toMatchObject(UNAVAILABLE);
  });

  test('it accepts the connection and sends nothing', async () => {
    allowed.respond = () => {};
    await expect(send()).rejects.toMatchObject(UNAVAILABLE);
  });

  test('it stops in the middle of the body', async () => {
    allowed.respond = (_request, response) => void response.writeHead(200).write('part');
    await expect((await send()).text()).rejects.toMatchObject(UNAVAILABLE);
  });

  test('its body never ends', async () => {
    allowed.respond = (_request, response) => {
      const timer = setInterval(() => response.write('x'), 100);
      response.on('close', () => clearInterval(timer));
    };
    await expect((await send('/', { maxBytes: 1e6 })).text()).rejects.toMatchObject(UNAVAILABLE);
  });

  test.each([429, 502, 503, 504])('it responds with %i', async (status) => {
    allowed.respond = (_request, response) => void response.writeHead(status).end('secret');
    await expect(send()).rejects.toMatchObject({
      ...UNAVAILABLE,
      message: expect.stringMatching(`"127.0.0.1".*${status}`),
    });
  });
});

test.each([429, 502, 503, 504])(
  '%i is returned with its headers to a caller that tries again by itself',
  async (status) => {
    allowed.respond = (_request, response) => void response.writeHead(status, { 'retry-after': '7' }).end('later');
    const response = await send('/', { returnsAnyStatus: true });
    expect([response.status, response.headers.get('retry-after'), await response.text()]).toEqual([
      status,
      '7',
      'later',
    ]);
  },
);

test('a download may take longer than other calls, as long as parts of it arrive', async () => {
  allowed.respond = (_request, response) => {
    let left = 30;
    const timer = setInterval(() => {
      if (left-- > 0) return response.write('x');
      clearInterval(timer);
      response.end();
    }, TIMEOUTS.total / 25);
  };
  expect(await (await send('/', { isDownload: true })).text()).toBe('x'.repeat(30));
});

test('a download that stops in the middle is 503', async () => {
  allowed.respond = (_request, response) => void response.writeHead(200).write('part');
  const response = await send('/', { isDownload: true });
  await expect(response.text()).rejects.toMatchObject({ status: 503, code: 'UNAVAILABLE' });
});

/** Returns a client whose downloads may be slow for a tenth of a second. */
const impatient = () => createGuardedFetch({ allowed: ['127.0.0.1'], timeouts: { ...TIMEOUTS, unpacedDownload: 100 } });

const download = (from: OutboundClient) =>
  from.fetch(`http://127.0.0.1:${allowed.port}/`, {
    signal: new AbortController().signal,
    maxBytes: 1_000_000,
    isDownload: true,
  });

test('a download that drips is 503', async () => {
  allowed.respond = (_request, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('x'), 20);
    response.once('close', () => clearInterval(timer));
  };
  const slow = impatient();
  await expect((await download(slow)).text()).rejects.toMatchObject({
    status: 503,
    code: 'UNAVAILABLE',
    message: 'The host "127.0.0.1" sends less than 16000 bytes a second',
  });
  await slow.close();
});

test('a download that is read slowly does not count as slow', async () => {
  allowed.respond = (_request, response) => void response.end('x'.repeat(1_000_000));
  const slow = impatient();
  let size = 0;
  for await (const part of (await download(slow)).body!) {
    if (size < 100_000) await new Promise((resolve) => setTimeout(resolve, 150));
    size += part.length;
  }
  expect(size).toBe(1_000_000);
  await slow.close();
});

describe('a response that is not valid HTTP is 500, with the reason:', () => {
  const invalid = (reason: RegExp) => ({
    status: 500,
    code: 'UPSTREAM_FAILED',
    message: expect.stringMatching(
      new RegExp(`^The response of the host "127.0.0.1" is not valid HTTP: .*${reason.source}`),
    ),
  });

  test('another protocol', async () => {
    await expect(fetchFrom('220 mail.example ESMTP\r\n')).rejects.toMatchObject(invalid(/Expected HTTP/));
  });

  test('a malformed length', async () => {
    const sent = fetchFrom('HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\nbody');
    await expect(sent).rejects.toMatchObject(invalid(/Content-Length/));
  });

  test('a body in another encoding than it names', async () => {
    allowed.respond = (_request, response) => void response.setHeader('content-encoding', 'gzip').end('no gzip');
    const reading = send().then((response) => response.text());
    await expect(reading).rejects.toMatchObject(invalid(/incorrect header check/));
  });
});

describe('a body', () => {
  test('past the limit fails, whether its length was announced or not, or it is compressed', async () => {
    const bodies = [
      (response: any) => response.end('x'.repeat(1001)),
      (response: any) => (response.write('x'.repeat(1000)), response.end('x')),
      (response: any) => response.setHeader('content-encoding', 'gzip').end(gzipSync('x'.repeat(1001))),
    ];
    for (const body of bodies) {
      allowed.respond = (_request, response) => body(response);
      await expect((await send()).text()).rejects.toMatchObject({ status: 500, code: 'UPSTREAM_FAILED' });
    }
    allowed.respond = (_request, response) =>
      void response.setHeader('content-encoding', 'gzip').end(gzipSync('x'.repeat(1000)));
    expect(await (await send()).text()).toHaveLength(1000);
  });

  test('is no longer received once it is past the limit', async () => {
    const closed = Promise.withResolvers<void>();
    allowed.respond = (_request, response) => {
      response.on('close', closed.resolve);
      const part = Buffer.alloc(65_536);
      const write = () => {
        while (!response.destroyed && response.write(part));
      };
      response.on('drain', write);
      write();
    };
    await expect((await send()).text()).rejects.toMatchObject({ status: 500 });
    await closed.promise;
  });
});

test('the signal of the caller ends a call with its reason', async () => {
  allowed.respond = () => {};
  const controller = new AbortController();
  const sent = send('/', { signal: controller.signal });
  controller.abort(new Error('The caller is gone'));
  await expect(sent).rejects.toThrow('The caller is gone');
});

describe('a quotation of an outside text', () => {
  test('has at most 300 characters, one line and no secret', () => {
    expect(quoteUpstream('x'.repeat(301))).toBe(`${'x'.repeat(300)}…`);
    expect(quoteUpstream('x'.repeat(300))).toHaveLength(300);
    expect(quoteUpstream(' a\r\n\u0000b\tc ')).toBe('a b c');
    expect(quoteUpstream('Wrong secret s3cret, not s3cret', ['s3cret', ''])).toBe('Wrong secret …, not …');
  });
});
