import { isObject } from '../../core/criteria/value.ts';
import { invalid } from '../../core/input-checks.ts';
import { splitCommand } from './split-command.ts';

type Json = Record<string, unknown>;

/** A server as a client writes it, with its place in the configuration. */
export interface WrittenServer {
  /** Null if the configuration does not name it. */
  name: string | null;
  path: string;
  server: unknown;
}

const STRING = String.raw`"(?:[^"\\]|\\.)*"`;
/** A string or comment that is not closed reaches to the end, so that its rest is not searched again and again. */
const OPEN_STRING = String.raw`"(?:[^"\\]|\\[^])*(?:"|\\?$)`;
const COMMENT = new RegExp(String.raw`${OPEN_STRING}|//[^\n]*|/\*[^]*?(?:\*/|$)`, 'g');
const TRAILING_COMMA = new RegExp(String.raw`${OPEN_STRING}|,(?=\s*[}\]])`, 'g');
const MEMBERS = new RegExp(`^${STRING}\\s*:`);

/**
 * Returns the value of a text that is JSON; undefined if it is not meant as JSON. As in the files of VS Code and Zed,
 * comments and trailing commas are allowed, and so are members without enclosing braces. Throws BAD_USER_INPUT.
 */
export function readConfigJson(text: string): unknown {
  const isValue = text.startsWith('{') || text.startsWith('[') || (/^\/[/*]/.test(text) && /[{[]/.test(text));
  if (isValue) return parseJson(text);
  return MEMBERS.test(text) ? parseJson(`{${text}}`) : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    const keepString = (part: string, other: string) => (part.startsWith('"') ? part : other);
    const plain = text
      .replace(COMMENT, (part) => keepString(part, ' '))
      .replace(TRAILING_COMMA, (part) => keepString(part, ''));
    try {
      return JSON.parse(plain) as unknown;
    } catch (error) {
      throw invalid('config', `is not valid JSON: ${(error as Error).message}`);
    }
  }
}

/**
 * Keys whose value contains the servers by their names, as clients write them: Claude and others, VS Code, Zed,
 * opencode.
 */
const CONTAINERS = ['mcpServers', 'servers', 'context_servers', 'mcp'];

/** Keys that mark an object as a server. */
const SERVER_KEYS = ['command', 'url', 'serverUrl', 'httpUrl', 'type', 'config', 'transport'];

/**
 * Returns the servers of a configuration, disabled ones last. It may have an object or a list of servers below one of
 * the keys of other clients, be an object of servers by their names, or be one server. Throws BAD_USER_INPUT for an
 * empty list.
 */
export function findServers(input: Json): WrittenServer[] {
  const key = CONTAINERS.find((name) => Object.hasOwn(input, name));
  if (key === undefined)
    return isServerMap(input) ? listServers(input, 'config') : [{ name: null, path: 'config', server: input }];
  const value = input[key];
  // The settings of VS Code.
  if (key === 'mcp' && isObject(value) && Object.hasOwn(value, 'servers'))
    return listServers(value['servers'], 'config.mcp.servers');
  return listServers(value, `config.${key}`);
}

/** Returns whether an object contains servers by their names. */
const isServerMap = (input: Json): boolean =>
  !SERVER_KEYS.some((key) => Object.hasOwn(input, key)) &&
  Object.keys(input).length > 0 &&
  Object.values(input).every((value) => isObject(value) && SERVER_KEYS.some((key) => Object.hasOwn(value, key)));

function listServers(value: unknown, path: string): WrittenServer[] {
  if (!isObject(value) && !Array.isArray(value)) throw invalid(path, 'must be an object or a list');
  const servers = Object.entries(value).map(([name, server]) => ({
    name: Array.isArray(value) ? null : name,
    path: `${path}.${name}`,
    server: server as unknown,
  }));
  if (servers.length === 0) throw invalid(path, 'has no servers');
  return servers.toSorted((a, b) => Number(isDisabled(a.server)) - Number(isDisabled(b.server)));
}

const isDisabled = (server: unknown): boolean =>
  isObject(server) && (server['disabled'] === true || server['enabled'] === false);

/**
 * Returns a server with the keys of this service in place of the keys of other clients. Throws BAD_USER_INPUT below
 * `path`.
 */
export function renameKeys(server: Json, path: string): Json {
  const { transport, command, args, env, environment, serverUrl, httpUrl, ...rest } = server;
  return {
    ...rest,
    ...((env ?? environment) != null && { env: env ?? environment }),
    ...(serverUrl !== undefined && { url: serverUrl }),
    ...(httpUrl !== undefined && { url: httpUrl, transport: 'http' }),
    // Continue has one object with the type and the settings.
    ...(isObject(transport) ? renameKeys(transport, `${path}.transport`) : transport !== undefined && { transport }),
    ...readCommand(command, args, `${path}.command`),
  };
}

/** Reads a command: a program, the command line of a shell, the object of Zed, or the list of opencode with the arguments. */
function readCommand(command: unknown, args: unknown, path: string): Json {
  const given = args != null && { args };
  if (isObject(command)) return { ...given, ...command, command: command['path'] };
  if (Array.isArray(command)) return { ...given, command: command[0] as unknown, args: command.slice(1) };
  if (typeof command !== 'string') return { ...given, ...(command !== undefined && { command }) };
  const [, first = ''] = /^(\S+)\s/.exec(command.trim()) ?? [];
  const hasArguments = Array.isArray(args) && args.length > 0;
  // The name of a program may have spaces within a path.
  if (/[/\\]/.test(first) && !hasArguments && !/\.(?:exe|cmd|bat)$/i.test(command.trim()))
    throw invalid(path, 'has spaces: put the arguments into args');
  if (first === '' || /[/\\]/.test(first)) return { ...given, command };
  const { words } = splitCommand(command, path);
  return {
    command: words[0],
    args: args == null || Array.isArray(args) ? [...words.slice(1), ...((args as unknown[]) ?? [])] : args,
  };
}
