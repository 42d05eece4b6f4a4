import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { parseToolkitConfig } from '../../src/services/toolkit/parse-config.ts';
import { expectBody, expectError, expectGraphqlError, expectInvalid, expectStatus } from '../support/expect.ts';
import { test } from './toolkit-fixture.ts';

const FILES = { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/data'] };
const stdio = (config: object) => ({ type: 'mcp-stdio', config });
const http = (url: string, headers: object = {}) => ({
  type: 'mcp-remote',
  config: { url, transport: 'http', method: 'POST', headers },
});
const sse = (url: string, headers: object = {}) => ({ type: 'mcp-remote', config: { url, transport: 'sse', headers } });

interface Case {
  title: string;
  config: unknown;
  normalized: object;
  /** Names of all servers. */
  names: string[];
}

const CASES: Case[] = [
  {
    title: 'a command',
    config: 'npx -y @modelcontextprotocol/server-filesystem "/my files"',
    normalized: stdio({ command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/my files'] }),
    names: ['@modelcontextprotocol/server-filesystem'],
  },
  {
    title: 'a command with variables',
    config: ` TOKEN='a b' uvx mcp-server-fetch@1.2.0\n`,
    normalized: stdio({ command: 'uvx', args: ['mcp-server-fetch@1.2.0'], env: { TOKEN: 'a b' } }),
    names: ['mcp-server-fetch'],
  },
  {
    title: 'a command without arguments',
    config: '/usr/bin/server',
    normalized: stdio({ command: '/usr/bin/server', args: [] }),
    names: ['server'],
  },
  {
    title: 'a URL',
    config: ' https://mcp.example.com/mcp?a=b ',
    normalized: http('https://mcp.example.com/mcp?a=b'),
    names: ['mcp.example.com'],
  },
  {
    title: 'a URL of SSE',
    config: 'HTTPS://mcp.example.com/sse?a=/x',
    normalized: sse('HTTPS://mcp.example.com/sse?a=/x'),
    names: ['mcp.example.com'],
  },
  {
    title: 'the file of Claude Desktop',
    config: { mcpServers: { files: { ...FILES, env: {} }, other: { command: 'x', env: { A: '1' } } } },
    normalized: stdio(FILES),
    names: ['files', 'other'],
  },
  {
    title: 'the same as JSON',
    config: JSON.stringify({ mcpServers: { files: FILES } }, null, 2),
    normalized: stdio(FILES),
    names: ['files'],
  },
  {
    title: 'the file of VS Code',
    config: {
      inputs: [{ id: 'token' }],
      servers: { github: { type: 'http', url: 'https://g.example/mcp/', headers: { A: 'Bearer ${input:token}' } } },
    },
    normalized: http('https://g.example/mcp/', { A: 'Bearer ${input:token}' }),
    names: ['github'],
  },
  {
    title: 'the file of Cursor, with a URL only',
    config: { mcpServers: { linear: { url: 'https://mcp.linear.app/sse', disabled: true } } },
    normalized: sse('https://mcp.linear.app/sse'),
    names: ['linear'],
  },
  { title: 'one bare server', config: { name: 'mine', ...FILES }, normalized: stdio(FILES), names: ['mine'] },
  {
    title: 'our own form',
    config: { type: 'mcp-stdio', config: { ...FILES, env: { A: '1' } } },
    normalized: stdio({ ...FILES, env: { A: '1' } }),
    names: ['@modelcontextprotocol/server-filesystem'],
  },
  {
    title: 'our own remote form',
    config: { type: 'mcp-remote', config: { url: 'https://a.example/x', transport: 'sse', headers: { A: 'b' } } },
    normalized: sse('https://a.example/x', { A: 'b' }),
    names: ['a.example'],
  },
  {
    title: 'the type sse for another path',
    config: { type: 'sse', url: 'https://a.example/x' },
    normalized: sse('https://a.example/x'),
    names: ['a.example'],
  },
  {
    title: 'the type streamable-http for a path /sse',
    config: { type: 'streamable-http', url: 'https://a.example/sse' },
    normalized: http('https://a.example/sse'),
    names: ['a.example'],
  },
  {
    title: 'a server with command and url by its type',
    config: { type: 'http', command: 'x', url: 'https://a.example/' },
    normalized: http('https://a.example/'),
    names: ['a.example'],
  },
];

describe('a configuration becomes settings of a toolkit:', () => {
  test.for(CASES)('$title', async ({ config, normalized, names }, { ann }) => {
    const { body, status } = await ann.post('/toolkit-parse-config', { config });
    expect({ status, normalized: body.normalized }).toEqual({ status: 200, normalized });
    expect(body.servers.map(({ name }: { name: string }) => name)).toEqual(names);
    const query = `query ($config: JSON!) { parseToolkitConfig(config: $config) {
      normalized { type config } servers { name type config } } }`;
    expect((await ann.data(query, { config })).parseToolkitConfig).toEqual(body);
  });

  test('what is returned can be parsed again, and created', async ({ eve }) => {
    for (const { config } of CASES) {
      const { normalized, servers } = parseToolkitConfig(config);
      expect(parseToolkitConfig(normalized).normalized).toEqual(normalized);
      for (const { name, ...server } of servers)
        await expectBody(eve.post('/toolkits', { name, ...server }), 201, { type: server.type });
    }
  });
});

describe('a configuration is refused', () => {
  const LONG = 'x'.repeat(65_537);
  test.for<[string, unknown, string, string | RegExp]>([
    ['that is empty', ' \n', 'config', 'config must not be empty'],
    ['past 64 KiB as text', LONG, 'config', 'config must have at most 64 KiB'],
    ['past 64 KiB as an object', { command: LONG }, 'config', 'config must have at most 64 KiB as JSON'],
    ['that is a number', 7, 'config', 'config must be a text or an object'],
    ['that is a list', '["npx"]', 'config', 'config must be a text or an object'],
    ['that is broken JSON', '{"mcpServers": ', 'config', /^config is not valid JSON/],
    ['without servers', { mcpServers: {} }, 'config.mcpServers', 'config.mcpServers has no servers'],
    ['whose servers are a text', { servers: 'a' }, 'config.servers', 'config.servers must be an object or a list'],
    ['with an empty list of servers', { servers: [] }, 'config.servers', 'config.servers has no servers'],
    ['without command and url', { foo: 1 }, 'config', 'config must have a command or a url'],
    ['with variables only', 'A=1', 'config', 'config has no command'],
    ['with an operator', 'npx a | sh', 'config', 'config must not contain "|" outside of quotes'],
    [
      'of an unknown type',
      { type: 'ws', url: 'https://a' },
      'config.type',
      /must be one of mcp-stdio, stdio, local, mcp-remote/,
    ],
    ['of the type custom', { type: 'custom', config: { tools: [] } }, 'config.type', /must be one of/],
    [
      'without the command of its type',
      { type: 'stdio', url: 'https://a' },
      'config.command',
      'config.command is required',
    ],
    [
      'with a wrong argument',
      { mcpServers: { a: { command: 'x', args: [1] } } },
      'config.mcpServers.a.args.0',
      /string/,
    ],
    [
      'with a wrong variable',
      { mcpServers: { a: { command: 'x', env: { A: 1 } } } },
      'config.mcpServers.a.env.A',
      /string/,
    ],
    ['with credentials in the URL', 'https://a:b@c.example/', 'config.url', /username or password/],
    [
      'with a URL of another scheme',
      { url: 'ftp://a.example' },
      'config.url',
      'config.url must be an http or https URL, not ftp:',
    ],
    ['with white space in the URL', 'https://a.example/ b', 'config.url', 'config.url must be an http or https URL'],
  ])('%s', async ([, config, path, message], { ann }) => {
    await expectInvalid(ann.post('/toolkit-parse-config', { config }), path, message);
  });

  test('that is missing, or sent without credentials', async ({ ann, anonymous }) => {
    await expectStatus(ann.post('/toolkit-parse-config', {}), 400);
    await expectError(anonymous.post('/toolkit-parse-config', { config: 'npx a' }), 401);
    await expectGraphqlError(
      anonymous.gql(`{ parseToolkitConfig(config: "a") { normalized { type } } }`),
      'UNAUTHENTICATED',
    );
  });
});

test('any JSON is parsed or refused', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.jsonValue(), fc.webUrl(), fc.string()), (config) => {
      try {
        const { normalized } = parseToolkitConfig(config);
        expect(['mcp-stdio', 'mcp-remote']).toContain(normalized.type);
      } catch (error) {
        expect(error).toMatchObject({ status: 400, validation: expect.any(Array) });
      }
    }),
  );
});

test('a token that only reads may parse', async ({ service }) => {
  const reader = await service.user('reader', { scopes: ['read'] });
  await expectStatus(reader.post('/toolkit-parse-config', { config: 'npx a' }), 200);
});
