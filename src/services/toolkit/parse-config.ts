import { isObject } from '../../core/criteria/value.ts';
import { checkJsonBounds, invalid } from '../../core/input-checks.ts';
import { fillFromSchema } from '../resource/schema-validation.ts';
import { readAddCommand } from './add-command.ts';
import { findServers, readConfigJson, renameKeys } from './config-json.ts';
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

/** The servers that a text or an object describes. `normalized` is the first of `servers`. */
export interface ParsedConfig {
  normalized: NormalizedConfig;
  servers: ParsedServer[];
}

const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 10;
type Json = Record<string, unknown>;

/** The types of servers, as this service and other clients write them, in lower case and without hyphens. */
const TYPES: ReadonlyMap<string, { type: NormalizedConfig['type']; transport?: 'http' | 'sse' }> = new Map([
  ['mcpstdio', { type: 'mcp-stdio' }],
  ['stdio', { type: 'mcp-stdio' }],
  ['local', { type: 'mcp-stdio' }],
  ['mcpremote', { type: 'mcp-remote' }],
  ['remote', { type: 'mcp-remote' }],
  ['http', { type: 'mcp-remote', transport: 'http' }],
  ['streamablehttp', { type: 'mcp-remote', transport: 'http' }],
  ['sse', { type: 'mcp-remote', transport: 'sse' }],
]);
const TYPE_NAMES = 'mcp-stdio, stdio, local, mcp-remote, remote, http, streamable-http, sse';

const findType = (word: unknown) =>
  typeof word === 'string' ? TYPES.get(word.toLowerCase().replaceAll(/[-_]/g, '')) : undefined;

/**
 * Returns the type and settings of the MCP servers that a text or an object of a client describes: the files of other
 * clients, one server, a command or a URL. Throws BAD_USER_INPUT for input that describes no server.
 */
export function parseToolkitConfig(input: unknown): ParsedConfig {
  const servers = typeof input === 'string' ? parseText(input) : parseObject(input);
  const { type, config } = servers[0]!;
  return { normalized: { type, config }, servers };
}

function parseText(input: string): ParsedServer[] {
  if (Buffer.byteLength(input) > MAX_BYTES) throw invalid('config', 'must have at most 64 KiB');
  const text = withoutFence(input.replace(/^\uFEFF/, '').trim());
  if (text === '') throw invalid('config', 'must not be empty');
  const json = readConfigJson(text);
  if (json !== undefined) return parseObject(json);
  if (/^https?:/i.test(text)) return [normalizeServer({ url: text }, 'config', null)];
  return [parseCommand(text)];
}

/** Removes the fence of a text that is copied from a page. */
function withoutFence(text: string): string {
  const [opening = ''] = /^```[\w-]*\s/.exec(text) ?? [];
  if (opening === '' || !text.endsWith('```') || text.length < opening.length + 3) return text;
  return text.slice(opening.length, -3).trim();
}

/** A path of Windows, whose backslashes do not escape. */
const WINDOWS_PATH = /(?:^|[\s"=])(?:[A-Za-z]:|\\|\.{1,2})\\/;

function parseCommand(text: string): ParsedServer {
  const escaped = WINDOWS_PATH.test(text)
    ? text.replaceAll(/'[^']*'|\\/g, (part) => (part === '\\' ? '\\\\' : part))
    : text;
  const { env, words } = splitCommand(escaped, 'config');
  const added = readAddCommand(words);
  if (added) return normalizeServer(added, 'config', null);
  const [command, ...args] = words;
  if (!command) throw invalid('config', 'has no command');
  checkProgram(command, 'config');
  return normalizeServer({ command: [command, ...args], env }, 'config', null);
}

function parseObject(input: unknown): ParsedServer[] {
  if (!isObject(input)) throw invalid('config', 'must be a text or an object');
  checkJsonBounds(input, 'config', { maxBytes: MAX_BYTES, maxDepth: MAX_DEPTH });
  return findServers(input).map(({ name, path, server }) => normalizeServer(server, path, name));
}

/** Returns one server. Keys that this service does not use, e.g. `disabled`, are left out. */
function normalizeServer(input: unknown, path: string, name: string | null): ParsedServer {
  if (!isObject(input)) throw invalid(path, 'must be an object');
  const { type: word, config, ...rest } = input;
  if (config !== undefined && !isObject(config)) throw invalid(`${path}.config`, 'must be an object');
  // Responses of this service are taken as they are.
  const { type: inner, ...server } = config === undefined ? renameKeys(rest, path) : { ...rest, ...config };
  const written = word ?? (config === undefined ? inner : undefined);
  const known = findType(written);
  if (written !== undefined && !known) throw invalid(`${path}.type`, `must be one of ${TYPE_NAMES}`);
  const place = config === undefined ? path : `${path}.config`;
  const type = known?.type ?? (isGiven(server['command']) ? 'mcp-stdio' : 'mcp-remote');
  if (!known && !isGiven(server['command']) && !isGiven(server['url']))
    throw invalid(place, 'must have a command or a url');
  const picked = type === 'mcp-stdio' ? pickStdio(server, place) : pickRemote(server, place, known?.transport);
  const filled = fillFromSchema(findToolkitDriver(type).configSchema, picked, place) as Json;
  return { name: name ?? nameOf(server, filled), type, config: filled };
}

const isGiven = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';

function pickStdio({ command, args, env }: Json, path: string): Json {
  const hasVariables = env != null && (!isObject(env) || Object.keys(env).length > 0);
  const program = isGiven(command) ? (command as string).trim() : undefined;
  if (program !== undefined) checkProgram(program, `${path}.command`);
  return {
    ...(program !== undefined && { command: program }),
    ...(args != null && { args }),
    ...(hasVariables && { env }),
  };
}

/** Throws BAD_USER_INPUT for a program that is a URL, or looks like one. One letter is a drive of Windows. */
function checkProgram(program: string, path: string): void {
  if (/^https?:\/\//i.test(program)) throw invalid(path, 'must be a program: a URL belongs into url');
  if (/^\/\/|^[a-z][a-z\d+.-]+:\/|^https?:/i.test(program)) checkScheme(program, path);
}

/** Throws BAD_USER_INPUT unless a text begins with `http://` or `https://`. */
function checkScheme(text: string, path: string): void {
  const [, scheme, slashes] = /^(?:([a-z][a-z\d+.-]*):)?(\/\/)?/i.exec(text)!;
  const isHttp = /^https?$/i.test(scheme ?? '');
  if (isHttp && slashes) return;
  const found = isHttp ? `: ${scheme}: is followed by //` : scheme === undefined ? '' : `, not ${scheme}:`;
  throw invalid(path, `must be an http or https URL${found}`);
}

function pickRemote(server: Json, path: string, wanted?: 'http' | 'sse'): Json {
  const { headers, method, oauth } = server;
  const url = typeof server['url'] === 'string' ? server['url'].trim() : undefined;
  const parsed = url ? checkUrl(url, `${path}.url`) : undefined;
  const transport =
    wanted ?? toTransport(server['transport']) ?? (parsed && /\/sse\/?$/.test(parsed.pathname) ? 'sse' : 'http');
  return {
    ...(url && { url }),
    transport,
    ...(transport === 'http' && { method: method ?? 'POST' }),
    ...(headers != null && { headers }),
    ...(oauth != null && { oauth }),
  };
}

const toTransport = (value: unknown): unknown => (value === null ? undefined : (findType(value)?.transport ?? value));

/** Without a look-up: nothing is called. The address is checked when a toolkit is created. */
function checkUrl(text: string, path: string): URL {
  checkScheme(text, path);
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
  return LAUNCHERS.test(program) && launched ? withoutVersion(launched) : program;
}

/** Returns the name of a package: `@scope/name` for `@scope/name@1.2`. */
function withoutVersion(argument: string): string {
  const at = argument.indexOf('@', Math.max(argument.lastIndexOf('/'), 0) + 1);
  return at < 0 ? argument : argument.slice(0, at);
}
