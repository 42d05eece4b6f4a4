import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openMcpClient } from '../../src/adapters/mcp/mcp-client.ts';
import { openOutboundClient } from '../../src/adapters/outbound/outbound-client.ts';
import type { McpServer } from '../../src/core/mcp.ts';
import { VERSION } from '../../src/server/package-root.ts';
import { startListener, type Listener } from '../outbound/listener.ts';
import {
  initializeResult,
  KIND_SERVER,
  sendJson,
  startMcpServer,
  toolNamed,
  type TestMcpServer,
} from '../support/mcp-server.ts';

const TIMEOUT_MS = 1500;
const outbound = openOutboundClient({ allowed: ['127.0.0.1'] });
const mcp = openMcpClient({ outbound, version: VERSION, timeoutMs: TIMEOUT_MS });
/** The time is for those that end by it only. */
const patient = openMcpClient({ outbound, version: VERSION });
let server: TestMcpServer;
/** A host that calls may not reach. */
let secret: Listener;

beforeAll(async () => {
  [server, secret] = await Promise.all([startMcpServer(), startListener('127.0.0.2')]);
});
beforeEach(() => {
  Object.assign(server, { requests: [], ...KIND_SERVER });
});
afterAll(async () => {
  await Promise.all([server.close(), secret.close(), outbound.close()]);
});

/** Returns status, code and message of the error of a discovery. */
async function failure(more: Partial<McpServer> = {}, client = patient): Promise<[number, string, string]> {
  const target: McpServer = { url: server.url, transport: 'http', headers: {}, token: null, ...more };
  const error = await client.discover(target, new AbortController().signal).then(
    () => expect.fail('The discovery has succeeded'),
    (reason: { status: number; code: string; message: string }) => reason,
  );
  return [error.status, error.code, error.message];
}
const upstreamFailure = (message: string | RegExp): unknown => [500, 'UPSTREAM_FAILED', expect.stringMatching(message)];
const unavailable = (message: string | RegExp): unknown => [503, 'UNAVAILABLE', expect.stringMatching(message)];

/** Responds to all requests with this function. */
const respond = (send: (response: ServerResponse) => void): void => {
  server.intercept = (_request, response) => {
    send(response);
    return true;
  };
};
/** Writes parts until the client has left. */
function drip(response: ServerResponse, part: string, pauseMs: number): void {
  const timer = setInterval(() => response.write(part), pauseMs);
  response.on('close', () => clearInterval(timer));
}
/** Writes a part as often as the client takes it. */
function pour(response: ServerResponse, part: string): void {
  const write = () => {
    while (!response.destroyed && response.write(part));
  };
  response.on('drain', write);
  write();
}
const asEvents = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });
const asJson = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'application/json' });

describe('a server that ends by the time', () => {
  test('a silent one is unavailable', async () => {
    respond(() => {});
    expect(await failure({}, mcp)).toEqual(unavailable('did not respond within 1.5 seconds'));
    expect(await failure({ transport: 'sse' }, mcp)).toEqual(unavailable('did not respond within 1.5 seconds'));
  });

  test('one that sends a byte now and then fails', async () => {
    respond((response) => drip(asJson(response), ' ', 50));
    expect(await failure({}, mcp)).toEqual(upstreamFailure('did not send its tools within 1.5 seconds'));
    respond((response) => drip(asEvents(response), ':\n', 50));
    expect(await failure({}, mcp)).toEqual(upstreamFailure('did not send its tools within 1.5 seconds'));
    expect(await failure({ transport: 'sse' }, mcp)).toEqual(upstreamFailure('did not send its tools within'));
  });

  test('one that does not finish the description of its authorization fails', async () => {
    respond((response) => drip(asJson(response), ' ', 50));
    const target: McpServer = { url: server.url, transport: 'http', headers: {}, token: null };
    const known = { configured: null, registered: null, redirectUriOf: () => 'https://service.example/callback' };
    await expect(mcp.createOAuthClient(target, known, new AbortController().signal)).rejects.toMatchObject({
      status: 500,
      message: expect.stringContaining('did not send what an authorization requires within 1.5 seconds'),
    });
  });

  test('one that never finishes its list fails', async () => {
    server.intercept = ({ message }) => message.method === 'tools/list';
    expect(await failure({}, mcp)).toEqual(upstreamFailure('did not send its tools within 1.5 seconds'));
  });
});

describe('a server that sends too much', () => {
  test('an endless body fails past 4 MB', async () => {
    respond((response) => pour(asJson(response), ' '.repeat(65_536)));
    expect(await failure()).toEqual(upstreamFailure('(?:sends more than 4 MB|has more than 4194304 bytes)'));
  });

  test('endless events fail', async () => {
    respond((response) => pour(asEvents(response), `data: ${'x'.repeat(65_536)}\n\n`));
    expect(await failure()).toEqual(upstreamFailure('(?:sends more than 4 MB|has more than 4194304 bytes)'));
    expect(await failure({ transport: 'sse' })).toEqual(upstreamFailure('(?:more than 4 MB|more than 4194304 bytes)'));
  });

  test('many short events fail', async () => {
    respond((response) => pour(asEvents(response), 'data:1\n\n'.repeat(1000)));
    expect(await failure()).toEqual(upstreamFailure('sends too many events'));
    expect(await failure({ transport: 'sse' })).toEqual(upstreamFailure('sends too many events'));
  });

  test('many short events with other ends of lines fail', async () => {
    respond((response) => pour(asEvents(response), 'data:1\r\r'.repeat(1000)));
    expect(await failure()).toEqual(upstreamFailure('sends too many events'));
  });

  test('a batch of messages fails', async () => {
    const ping = { jsonrpc: '2.0', method: 'ping' };
    respond((response) =>
      sendJson(
        response,
        Array.from({ length: 50_000 }, (_, id) => ({ ...ping, id })),
      ),
    );
    expect(await failure()).toEqual(upstreamFailure('sends a batch of messages'));
  });

  test('4 MB is the limit of all responses together', async () => {
    const description = 'x'.repeat(1_000_000);
    server.list = ({ cursor = '0' }) => ({
      tools: [toolNamed(`tool-${cursor}`, { description })],
      nextCursor: String(Number(cursor) + 1),
    });
    expect(await failure()).toEqual(upstreamFailure('sends more than 4 MB'));
    expect(server.requests.length).toBeLessThan(10);
  });

  test('10,000 tools fail', async () => {
    server.list = () => ({ tools: Array.from({ length: 10_000 }, (_, place) => toolNamed(`tool-${place}`)) });
    expect(await failure()).toEqual(upstreamFailure('has more than 500 tools'));
  });

  test('500 tools are found, 501 on many pages fail', async () => {
    const pages = (last: number) => (params: Record<string, unknown>) => {
      const page = Number(params.cursor ?? 0);
      return { tools: [toolNamed(`tool-${page}`)], ...(page < last && { nextCursor: String(page + 1) }) };
    };
    server.list = pages(499);
    const target: McpServer = { url: server.url, transport: 'http', headers: {}, token: null };
    expect((await patient.discover(target, new AbortController().signal)).tools).toHaveLength(500);
    server.list = pages(500);
    expect(await failure()).toEqual(upstreamFailure('has more than 500 tools'));
  });

  test('cyclic cursors fail', async () => {
    server.list = ({ cursor }) => ({ tools: [], nextCursor: cursor === 'a' ? 'b' : 'a' });
    expect(await failure()).toEqual(upstreamFailure('repeats a page of its tools'));
  });

  test('endless empty pages fail', async () => {
    let page = 0;
    server.list = () => ({ tools: [], nextCursor: String((page += 1)) });
    expect(await failure()).toEqual(upstreamFailure('takes more than 600 requests'));
  });

  test('requests of the server to the client fail when there are too many', async () => {
    server.intercept = ({ message }, response) => {
      if (message.method !== 'tools/list') return false;
      const ping = (id: number) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n\n`;
      asEvents(response).write(Array.from({ length: 5000 }, (_, id) => ping(id)).join(''));
      return true;
    };
    expect(await failure()).toEqual(upstreamFailure('takes more than 600 requests'));
  });
});

describe('a server that does not follow the protocol', () => {
  test('a page of HTML fails and is quoted', async () => {
    respond((response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>'));
    expect(await failure()).toEqual(upstreamFailure('does not follow the protocol: .*content type: text/html'));
    expect(await failure({ transport: 'sse' })).toEqual(upstreamFailure('does not follow the protocol'));
  });

  test('a response other than JSON, or than JSON-RPC, fails', async () => {
    respond((response) => void asJson(response).end('nothing'));
    expect(await failure()).toEqual(upstreamFailure('does not follow the protocol'));
    respond((response) => sendJson(response, { hello: 'world' }));
    expect(await failure()).toEqual(upstreamFailure('does not follow the protocol'));
    respond((response) => sendJson(response, null));
    expect(await failure()).toEqual(upstreamFailure('does not follow the protocol'));
  });

  test('neither transport: both are named', async () => {
    respond((response) => void response.writeHead(404).end('nothing here'));
    expect(await failure()).toEqual(upstreamFailure('responded with 404 to streamable HTTP, and does not support SSE'));
  });

  test('a failure is quoted in at most 300 characters, without headers, tokens and parameters', async () => {
    const secrets = { header: 'key-1234567890', token: 'token-1234567890', parameter: 'parameter-1234567890' };
    server.intercept = ({ headers, url }, response) => {
      const text = `${headers['x-key']} ${headers.authorization} ${url} ${'y'.repeat(5000)}`;
      response.writeHead(500, { 'content-type': 'text/plain' }).end(text);
      return true;
    };
    const target = { url: `${server.url}?key=${secrets.parameter}`, headers: { 'x-key': `Key ${secrets.header}` } };
    const [status, code, message] = await failure({ ...target, token: async () => secrets.token });
    expect([status, code]).toEqual([500, 'UPSTREAM_FAILED']);
    for (const value of Object.values(secrets)) expect(message).not.toContain(value);
    expect(message.length).toBeLessThan(450);
    server.intercept = ({ message: sent }, response) => {
      if (sent.method !== 'tools/list') return false;
      const error = { code: -1, message: `Refused ${secrets.token} and ${secrets.header}` };
      sendJson(response, { jsonrpc: '2.0', id: sent.id, error });
      return true;
    };
    const refused = await failure({ ...target, token: async () => secrets.token });
    expect(refused).toEqual(upstreamFailure('does not follow the protocol: .*Refused … and …'));
  });

  test('a schema of half a million levels does not exhaust the stack', async () => {
    const levels = 500_000;
    server.intercept = ({ message }, response) => {
      if (message.method !== 'tools/list') return false;
      const schema = `{"type":"object","a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
      const result = `{"tools":[{"name":"deep","inputSchema":${schema}}]}`;
      asJson(response).end(`{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${result}}`);
      return true;
    };
    const outcome = await patient
      .discover({ url: server.url, transport: 'http', headers: {}, token: null }, new AbortController().signal)
      .then(({ tools }) => tools.map(({ name }) => name))
      .catch((error: { code: string }) => error.code);
    expect([['deep'], 'UPSTREAM_FAILED']).toContainEqual(outcome);
  });
});

describe('a server that leads elsewhere', () => {
  test('redirects are not followed', async () => {
    const location = `http://127.0.0.2:${secret.port}/private?token=1`;
    for (const status of [301, 302, 303, 307, 308]) {
      respond((response) => void response.writeHead(status, { location }).end());
      const message = `redirects to "http://127.0.0.2:${secret.port}/private". Redirects are not followed`;
      expect(await failure()).toEqual(upstreamFailure(message));
      expect(await failure({ transport: 'sse' })).toEqual(upstreamFailure(message));
    }
    expect(secret.connections).toBe(0);
  });

  test('an endpoint of SSE at another origin is not called', async () => {
    const endpoint = `event: endpoint\ndata: http://127.0.0.2:${secret.port}/messages\n\n`;
    respond((response) => void asEvents(response).write(endpoint));
    expect(await failure({ transport: 'sse' })).toEqual(upstreamFailure('Endpoint origin does not match'));
    expect(secret.connections).toBe(0);
  });

  test('an address that is not allowed is not called', async () => {
    const url = `http://127.0.0.2:${secret.port}/mcp`;
    const message =
      'Outgoing calls over http: to the host "127.0.0.2" are not allowed: OUTBOUND_ALLOW does not name it';
    for (const transport of ['http', 'sse'] as const)
      expect(await failure({ url, transport })).toEqual([400, 'BAD_USER_INPUT', message]);
    expect(secret.connections).toBe(0);
  });

  test('one that is not there, or responds with 503, is unavailable', async () => {
    const gone = await startListener('127.0.0.1');
    await gone.close();
    const url = `http://127.0.0.1:${gone.port}/mcp`;
    for (const transport of ['http', 'sse'] as const)
      expect(await failure({ url, transport })).toEqual(unavailable('The host "127.0.0.1" does not respond'));
    respond((response) => void response.writeHead(503).end());
    expect(await failure()).toEqual(unavailable('responded with 503'));
    expect(await failure({ transport: 'sse' })).toEqual(unavailable('responded with 503'));
  });
});

test('a server that wants authorization is named, and where to give it', async () => {
  respond((response) => void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end());
  const message = /"127\.0\.0\.1" requires authorization.*POST \/api\/toolkits\/\{id\}\/connection\/_authorize/;
  expect(await failure()).toEqual(upstreamFailure(message));
  expect(await failure({ transport: 'sse' })).toEqual(upstreamFailure(message));
  const refused = await failure({ token: async () => 'a refused token' });
  expect(refused).toEqual(upstreamFailure(/refuses the access token.*connection\/_authorize/));
});

test('a caller who leaves ends the request', async () => {
  const left = new AbortController();
  const closed = Promise.withResolvers<void>();
  server.intercept = ({ message }, response) => {
    if (message.method !== 'initialize') return false;
    response.on('close', closed.resolve);
    left.abort(new Error('The caller has left'));
    return true;
  };
  const target: McpServer = { url: server.url, transport: 'http', headers: {}, token: null };
  await expect(patient.discover(target, left.signal)).rejects.toThrow('The caller has left');
  await closed.promise;
});

test('the version of the protocol that the server requests must be known', async () => {
  server.intercept = ({ message }, response) => {
    if (message.method !== 'initialize') return false;
    sendJson(response, {
      jsonrpc: '2.0',
      id: message.id,
      result: { ...(initializeResult({}) as object), protocolVersion: '1999-01-01' },
    });
    return true;
  };
  expect(await failure()).toEqual(upstreamFailure('protocol version is not supported: 1999-01-01'));
});
