import { checkJsonBounds, invalid } from '../../core/input-checks.ts';
import { fillFromSchema } from '../resource/schema-validation.ts';
import { splitCommand } from './split-command.ts';
import { findToolkitDriver } from './toolkit-driver.ts';

/** Type and settings of a toolkit. */
export interface NormalizedConfig {
  type: 'mcp-stdio' | 'mcp-remote';
  config: Record<string, unknown>;
}

/** A server that a text or an object describes. */
export interface ParsedServer extends NormalizedConfig {
  name: string;
}

/** What a text or an object describes. `normalized` is the first of `servers`. */
export interface ParsedConfig {
  normalized: NormalizedConfig;
  servers: ParsedServer[];
}

const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 10;
type Json = Record<string, unknown>;

/** The types of servers, as this service and other clients write them. */
const TYPES: ReadonlyMap<unknown, { type: NormalizedConfig['type']; transport?: 'http' | 'sse' }> = new Map([
  ['mcp-stdio', { type: 'mcp-stdio' }],
  ['stdio', { type: 'mcp-stdio' }],
  ['mcp-remote', { type: 'mcp-remote' }],
  ['http', { type: 'mcp-remote', transport: 'http' }],
  ['streamable-http', { type: 'mcp-remote', transport: 'http' }],
  ['sse', { type: 'mcp-remote', transport: 'sse' }],
]);

/**
 * Returns the type and settings of the MCP servers that a text or an object of a client describes: the `mcpServers` or
 * `servers` of other clients, one server, a command or a URL. Throws BAD_USER_INPUT for what describes none.
 */
export function parseToolkitConfig(input: unknown): ParsedConfig {
  const servers = typeof input === 'string' ? parseText(input) : parseObject(input);
  const { type, config } = servers[0]!;
  return { normalized: { type, config }, servers };
}

function parseText(input: string): ParsedServer[] {
  const text = input.trim();
  if (text === '') throw invalid('config', 'is required');
  if (Buffer.byteLength(text) > MAX_BYTES) throw invalid('config', 'must have at most 64 KiB');
  if (text.startsWith('{') || text.startsWith('[')) return parseObject(parseJson(text));
  if (/^https?:\/\//i.test(text)) return [normalizeServer({ url: text }, 'config', null)];
  return [parseCommand(text)];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw invalid('config', `is not valid JSON: ${(error as Error).message}`);
  }
}

function parseCommand(text: string): ParsedServer {
  const { env, words } = splitCommand(text, 'config');
  const [command, ...args] = words;
  if (!command) throw invalid('config', 'has no command');
  return normalizeServer({ command, args, env }, 'config', null);
}

function parseObject(input: unknown): ParsedServer[] {
  if (!isObject(input)) throw invalid('config', 'must be a text or an object');
  checkJsonBounds(input, 'config', { maxBytes: MAX_BYTES, maxDepth: MAX_DEPTH });
  const key = ['mcpServers', 'servers'].find((name) => Object.hasOwn(input, name));
  if (key === undefined) return [normalizeServer(input, 'config', null)];
  const listed = input[key];
  if (!isObject(listed)) throw invalid(`config.${key}`, 'must be an object');
  const servers = Object.entries(listed).map(([name, server]) =>
    normalizeServer(server, `config.${key}.${name}`, name),
  );
  if (servers.length === 0) throw invalid(`config.${key}`, 'has no servers');
  return servers;
}

/** Returns one server. Keys that this service does not use, e.g. `disabled`, are left out. */
function normalizeServer(input: unknown, path: string, name: string | null): ParsedServer {
  if (!isObject(input)) throw invalid(path, 'must be an object');
  const { type: word, config, ...rest } = input;
  const known = word === undefined ? undefined : TYPES.get(word);
  if (word !== undefined && !known) throw invalid(`${path}.type`, `must be one of ${[...TYPES.keys()].join(', ')}`);
  if (config !== undefined && !isObject(config)) throw invalid(`${path}.config`, 'must be an object');
  const server = { ...rest, ...config };
  const place = config === undefined ? path : `${path}.config`;
  const type = known?.type ?? (isGiven(server['command']) ? 'mcp-stdio' : 'mcp-remote');
  if (!known && !isGiven(server['command']) && !isGiven(server['url']))
    throw invalid(place, 'must have a command or a url');
  const picked = type === 'mcp-stdio' ? pickStdio(server) : pickRemote(server, place, known?.transport);
  const filled = fillFromSchema(findToolkitDriver(type).configSchema, picked, place) as Json;
  return { name: name ?? nameOf(server, filled), type, config: filled };
}

const isGiven = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';

function pickStdio({ command, args, env }: Json): Json {
  const hasVariables = env != null && (!isObject(env) || Object.keys(env).length > 0);
  return {
    ...(isGiven(command) && { command: (command as string).trim() }),
    ...(args != null && { args }),
    ...(hasVariables && { env }),
  };
}

function pickRemote(server: Json, path: string, wanted?: 'http' | 'sse'): Json {
  const { headers, method, oauth } = server;
  const url = typeof server['url'] === 'string' ? server['url'].trim() : undefined;
  const parsed = url ? checkUrl(url, `${path}.url`) : undefined;
  const transport = wanted ?? toTransport(server['transport']) ?? (parsed?.pathname.endsWith('/sse') ? 'sse' : 'http');
  return {
    ...(url && { url }),
    transport,
    ...(transport === 'http' && { method: method ?? 'POST' }),
    ...(headers != null && { headers }),
    ...(oauth != null && { oauth }),
  };
}

const toTransport = (value: unknown): unknown => (value === null ? undefined : (TYPES.get(value)?.transport ?? value));

/** Without a look-up: nothing is called. The address is checked when a toolkit is created. */
function checkUrl(text: string, path: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || /\s/.test(text)) throw invalid(path, 'must be an http or https URL');
  if (url.username || url.password) throw invalid(path, 'must not contain a username or password');
  return url;
}

/** Programs that run the package which their first argument names. */
const LAUNCHERS = /^(?:npx|bunx|pnpx|uvx|pipx)(?:\.cmd|\.exe)?$/;

function nameOf({ name }: Json, { url, command, args }: Json): string {
  if (isGiven(name)) return name as string;
  if (typeof url === 'string') return new URL(url).hostname;
  const program = (command as string).split(/[/\\]/).at(-1)!;
  const launched = (args as string[]).find((argument) => !argument.startsWith('-'));
  return LAUNCHERS.test(program) && launched ? launched.replace(/(?<=.)@[^/]*$/, '') : program;
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
