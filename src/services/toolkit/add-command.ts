import { invalid } from '../../core/input-checks.ts';

/** Commands of other clients that add a server. */
const ADD = /^(?:claude|gemini|codex|qwen) mcp add$/;
const ENTRY = /^[A-Za-z_][A-Za-z0-9_]*=/;

/** The options before a server in a command. */
interface Options {
  type?: string;
  env: Record<string, string>;
  headers: Record<string, string>;
}

/**
 * Returns the server that a command like `claude mcp add --transport http name https://…` adds, as JSON of that client
 * with its name; undefined for another command. Throws BAD_USER_INPUT naming `config` for missing parts of the command.
 */
export function readAddCommand(words: readonly string[]): Record<string, unknown> | undefined {
  const command = words.slice(0, 3).join(' ');
  if (!ADD.test(command)) return undefined;
  const options: Options = { env: {}, headers: {} };
  const rest = words.slice(3);
  const found: string[] = [];
  while (rest.length > 0 && found.length < 2) {
    const word = rest.shift()!;
    if (word === '--') found.push(...rest.splice(0));
    else if (word.startsWith('-')) readOption(command, word, rest, options);
    else found.push(word);
  }
  // Options of the client may come after the URL, but not after a command, whose arguments they are.
  const [name, target, ...args] = found;
  if (name === undefined || target === undefined) throw invalid('config', `has no name and server after ${command}`);
  const { type, env, headers } = options;
  const isUrl = type === undefined ? /^https?:\/\//i.test(target) : type !== 'stdio';
  if (!isUrl) return { name, type: 'stdio', command: target, args: [...args, ...rest], env };
  while (rest.length > 0) readOption(command, rest.shift()!, rest, options);
  return { name, type: options.type, url: target, headers };
}

function readOption(command: string, word: string, rest: string[], options: Options): void {
  const [option, value] = /^--[^=]+=/.test(word) ? splitAt(word, '=') : [word];
  if (value !== undefined) rest.unshift(value);
  const readValue = (): string => {
    const next = rest.shift();
    if (next === undefined) throw invalid('config', `has no value for ${option}`);
    return next;
  };
  if (['-t', '--transport'].includes(option)) options.type = readValue();
  else if (['-s', '--scope'].includes(option)) readValue();
  else if (option === '--url') rest.unshift(readValue());
  else if (['-e', '--env'].includes(option))
    do addPair(options.env, readValue(), '=', option);
    while (ENTRY.test(rest[0] ?? ''));
  else if (['-H', '--header'].includes(option))
    do addPair(options.headers, readValue(), ':', option);
    while (/^[\w-]+: /.test(rest[0] ?? ''));
  else if (option !== '--trust')
    throw invalid('config', `has the option ${option}, which ${command} does not have here`);
}

function addPair(target: Record<string, string>, text: string, separator: string, option: string): void {
  const [name, value] = splitAt(text, separator);
  if (name === '' || value === undefined) throw invalid('config', `must have NAME${separator}value after ${option}`);
  Object.defineProperty(target, name, { value: value.trim(), enumerable: true, writable: true, configurable: true });
}

function splitAt(text: string, separator: string): [string, string?] {
  const end = text.indexOf(separator);
  return end < 0 ? [text] : [text.slice(0, end), text.slice(end + 1)];
}
