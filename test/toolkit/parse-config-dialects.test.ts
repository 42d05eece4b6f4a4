import { describe, expect, test } from 'vitest';
import { parseToolkitConfig } from '../../src/services/toolkit/parse-config.ts';

const NPX = { command: 'npx', args: ['-y', 'x'] };
const URL = 'https://example.org/mcp';
const stdio = (config: object) => ({ type: 'mcp-stdio', config });
const remote = (url: string, more: object = {}) => ({
  type: 'mcp-remote',
  config: { url, transport: 'http', method: 'POST', headers: {}, ...more },
});
const sse = (url: string) => ({ type: 'mcp-remote', config: { url, transport: 'sse', headers: {} } });
const servers = (all: object): string => JSON.stringify({ mcpServers: all });

/** Configurations of other clients, as their documentation and public reports show them. */
const DIALECTS: [title: string, config: unknown, name: string, normalized: object][] = [
  ['members without braces', '"files": { "command": "npx", "args": ["-y", "x"] }', 'files', stdio(NPX)],
  [
    'members without braces of a file',
    '"mcpServers": { "files": { "command": "npx", "args": ["-y", "x"] } },',
    'files',
    stdio(NPX),
  ],
  ['servers by their names alone', { files: NPX }, 'files', stdio(NPX)],
  ['the settings of VS Code', { mcp: { servers: { a: { type: 'stdio', ...NPX } } } }, 'a', stdio(NPX)],
  ['Windsurf', servers({ x: { serverUrl: URL } }), 'x', remote(URL)],
  ['Gemini', servers({ x: { httpUrl: 'https://example.org/sse' } }), 'x', remote('https://example.org/sse')],
  ['Zed', { context_servers: { x: { source: 'custom', ...NPX } } }, 'x', stdio(NPX)],
  [
    'Zed with an object as command',
    { context_servers: { x: { command: { path: 'npx', args: ['-y', 'x'] } } } },
    'x',
    stdio(NPX),
  ],
  ['Cline', servers({ x: { type: 'streamableHttp', url: URL } }), 'x', remote(URL)],
  ['streamable_http', servers({ x: { type: 'streamable_http', url: URL } }), 'x', remote(URL)],
  [
    'opencode, local',
    { mcp: { x: { type: 'local', command: ['npx', '-y', 'x'], environment: { A: '1' } } } },
    'x',
    stdio({ ...NPX, env: { A: '1' } }),
  ],
  ['opencode, remote', { mcp: { x: { type: 'remote', url: URL, enabled: true } } }, 'x', remote(URL)],
  ['a list of Continue', { mcpServers: [{ name: 'x', ...NPX }] }, 'x', stdio(NPX)],
  ['a transport of Continue', { mcpServers: [{ name: 'x', transport: { type: 'stdio', ...NPX } }] }, 'x', stdio(NPX)],
  [
    'comments and trailing commas',
    '{\n // "mine"\n "mcpServers": { /* , } */ "x": { "command": "npx", "args": ["-y", "x",], }, },\n}',
    'x',
    stdio(NPX),
  ],
  [
    'comments before the braces',
    '// mcp.json\n{"servers": {"x": {"url": "https://example.org/mcp"}}}',
    'x',
    remote(URL),
  ],
  [
    'texts that look like comments',
    '{"command": "npx", "args": ["//x", "/* ,] */",],}',
    '//x',
    stdio({ command: 'npx', args: ['//x', '/* ,] */'] }),
  ],
  ['a fenced block', '```json\n{"mcpServers": {"x": {"command": "npx", "args": ["-y", "x"]}}}\n```', 'x', stdio(NPX)],
  ['a fenced command', '```\nnpx -y x\n```', 'x', stdio(NPX)],
  ['a byte order mark', `\uFEFF${servers({ x: NPX })}`, 'x', stdio(NPX)],
  [
    'a path of Windows',
    'C:\\Users\\me\\node.exe C:\\srv\\x.js',
    'node.exe',
    stdio({ command: 'C:\\Users\\me\\node.exe', args: ['C:\\srv\\x.js'] }),
  ],
  [
    'a quoted path of Windows',
    '"C:\\Program Files\\node.exe" "D:\\a b\\x.js" -v',
    'node.exe',
    stdio({ command: 'C:\\Program Files\\node.exe', args: ['D:\\a b\\x.js', '-v'] }),
  ],
  ['a relative path of Windows', '.\\bin\\x.cmd --a', 'x.cmd', stdio({ command: '.\\bin\\x.cmd', args: ['--a'] })],
  ['a share of Windows', 'node \\\\host\\srv\\x.js', 'node', stdio({ command: 'node', args: ['\\\\host\\srv\\x.js'] })],
  [
    'a path of Windows in JSON',
    { command: 'C:\\tools\\my x.exe' },
    'my x.exe',
    stdio({ command: 'C:\\tools\\my x.exe', args: [] }),
  ],
  [
    'a command line as command',
    servers({ x: { command: 'npx -y @a/b --flag "a b"' } }),
    'x',
    stdio({ command: 'npx', args: ['-y', '@a/b', '--flag', 'a b'] }),
  ],
  ['a command line with arguments', { command: 'npx -y', args: ['x'] }, 'x', stdio(NPX)],
  [
    'a path with spaces and arguments',
    { command: '/My Apps/run', args: ['x'] },
    'run',
    stdio({ command: '/My Apps/run', args: ['x'] }),
  ],
  [
    'our own form with spaces',
    { type: 'mcp-stdio', config: { command: 'my program', args: [] } },
    'my program',
    stdio({ command: 'my program', args: [] }),
  ],
  ['a path that ends in /sse/', 'https://example.org/sse/', 'example.org', sse('https://example.org/sse/')],
  [
    'claude mcp add with a URL',
    'claude mcp add --transport http notion https://example.org/mcp',
    'notion',
    remote(URL),
  ],
  ['claude mcp add with options after it', `claude mcp add -s user notion ${URL} --transport sse`, 'notion', sse(URL)],
  [
    'claude mcp add with headers',
    `claude mcp add -t http n ${URL} -H "Authorization: Bearer a b" -H 'X-A: 1'`,
    'n',
    remote(URL, { headers: { Authorization: 'Bearer a b', 'X-A': '1' } }),
  ],
  [
    'claude mcp add with a command',
    'claude mcp add --scope user files --env A=1 B=2 -- npx -y x',
    'files',
    stdio({ ...NPX, env: { A: '1', B: '2' } }),
  ],
  ['claude mcp add without hyphens', 'claude mcp add files npx -y x', 'files', stdio(NPX)],
  ['codex mcp add with a URL', `codex mcp add x --url ${URL}`, 'x', remote(URL)],
  ['gemini mcp add', `gemini mcp add --transport=http x ${URL}`, 'x', remote(URL)],
];

describe('what other clients write is read:', () => {
  test.each(DIALECTS)('%s', (_, config, name, normalized) => {
    const parsed = parseToolkitConfig(config);
    expect(parsed.normalized).toEqual(normalized);
    expect(parsed.servers.map((server) => server.name)).toEqual([name]);
    expect(parseToolkitConfig(parsed.normalized).normalized).toEqual(normalized);
  });

  test('servers that are disabled come last', () => {
    const all = {
      a: { disabled: true, command: 'a' },
      b: { enabled: false, command: 'b' },
      c: NPX,
      d: { disabled: false, ...NPX },
    };
    const parsed = parseToolkitConfig(servers(all));
    expect(parsed.servers.map(({ name }) => name)).toEqual(['c', 'd', 'a', 'b']);
    expect(parsed.normalized).toEqual(stdio(NPX));
  });
});

describe('an address that is not an http or https URL is refused:', () => {
  const NOT_FTP = 'must be an http or https URL, not ftp:';
  test.each<[config: unknown, message: string]>([
    ['ftp://x.example/', `config ${NOT_FTP}`],
    ['FTP://x.example/', 'config must be an http or https URL, not FTP:'],
    ['A=1 ftp://x.example/ b', `config ${NOT_FTP}`],
    ['ws://x.example/mcp', 'config must be an http or https URL, not ws:'],
    ['wss://x.example/mcp', 'config must be an http or https URL, not wss:'],
    ['file:///etc/passwd', 'config must be an http or https URL, not file:'],
    ['javascript:/x', 'config must be an http or https URL, not javascript:'],
    ['http:/x', 'config.url must be an http or https URL: http: is followed by //'],
    ['https:x.example', 'config.url must be an http or https URL: https: is followed by //'],
    ['//x.example/mcp', 'config must be an http or https URL'],
    [{ command: 'ftp://x.example/' }, `config.command ${NOT_FTP}`],
    [{ command: '//x.example/' }, 'config.command must be an http or https URL'],
    [{ command: URL }, 'config.command must be a program: a URL belongs into url'],
    [{ type: 'stdio', command: ['https://x.example'] }, 'config.command must be a program: a URL belongs into url'],
    [{ type: 'mcp-stdio', config: { command: 'ftp://x', args: [] } }, `config.config.command ${NOT_FTP}`],
    [{ url: 'ftp://x.example/' }, `config.url ${NOT_FTP}`],
    [{ url: '//x.example/' }, 'config.url must be an http or https URL'],
    [{ url: 'http:/x' }, 'config.url must be an http or https URL: http: is followed by //'],
    [{ url: 'x.example' }, 'config.url must be an http or https URL'],
    [servers({ a: { serverUrl: 'ws://x' } }), 'config.mcpServers.a.url must be an http or https URL, not ws:'],
  ])('%j', (config, message) => {
    expect(() => parseToolkitConfig(config)).toThrow(expect.objectContaining({ status: 400, message }) as Error);
  });
});

test.each<[config: unknown, message: string]>([
  [{ command: '/usr/bin/node server.js' }, 'config.command has spaces: put the arguments into args'],
  [{ command: 'npx a | sh' }, 'config.command must not contain "|" outside of quotes'],
  ['claude mcp add', 'config has no name and server after claude mcp add'],
  ['claude mcp add x', 'config has no name and server after claude mcp add'],
  ['claude mcp add --transport', 'config has no value for --transport'],
  [`claude mcp add --oauth x ${URL}`, 'config has the option --oauth, which claude mcp add does not have here'],
  [
    `claude mcp add -t ws x ${URL}`,
    'config.type must be one of mcp-stdio, stdio, local, mcp-remote, remote, http, streamable-http, sse',
  ],
  ['claude mcp add -e A x npx', 'config must have NAME=value after -e'],
  ['{"a": 1,, }', 'config is not valid JSON'],
])('%j is refused', (config, message) => {
  expect(() => parseToolkitConfig(config)).toThrow(
    expect.objectContaining({ status: 400, message: expect.stringContaining(message) }) as Error,
  );
});
