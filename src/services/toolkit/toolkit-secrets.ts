import type { ValidationIssue } from '../../core/errors.ts';
import { throwIssues } from '../../core/input-checks.ts';
import { MASK } from '../../core/mask.ts';
import { digest } from '../../core/secret.ts';
import type {
  CustomConfig,
  CustomTool,
  RemoteConfig,
  StdioConfig,
  ToolkitDriver,
  ToolRequest,
} from './toolkit-driver.ts';

type Config = Record<string, unknown>;
type Type = ToolkitDriver['id'];

/** A secret of a config. */
interface SecretPlace {
  /** Where it is, e.g. `['headers', 'Authorization']`. */
  path: (string | number)[];
  /** The key by which a later config finds it. Custom tools are known by their names. */
  key: string;
  /**
   * The target that the secret is sent to: a digest of a command with its arguments, a URL without its query, or its
   * origin; for the secret of a client, also the id of the client.
   */
  target: string;
  /** Paths of the values that determine `target`, for error messages. */
  targetPath: string;
}

/** A stored secret. */
export interface StoredSecret {
  key: string;
  target: string;
  value: string;
}

type Replace = (place: SecretPlace, value: string) => string;

/** Returns a checked config in which `replace` replaces each secret. */
function mapSecrets(type: Type, config: Config, replace: Replace): Config {
  if (type === 'mcp-stdio') return mapStdio(config as StdioConfig, replace);
  if (type === 'mcp-remote') return mapRemote(config as RemoteConfig, replace);
  const { tools } = config as CustomConfig;
  return { ...config, tools: tools.map((tool, index) => mapTool(tool, index, replace)) };
}

function mapStdio(config: StdioConfig, replace: Replace): Config {
  const { command, args, env } = config;
  if (!env) return config;
  const target = { target: digest(JSON.stringify([command, ...args])), targetPath: 'config.command or config.args' };
  const place = (name: string) => ({ key: keyOf('env', name), ...target });
  return { ...config, env: mapValues(env, (name, value) => replace({ path: ['env', name], ...place(name) }, value)) };
}

function mapRemote(config: RemoteConfig, replace: Replace): Config {
  const { url, headers, oauth } = config;
  const { pathname = '' } = URL.parse(url) ?? {};
  const target = { target: originOf(url) + pathname, targetPath: 'config.url' };
  const header = (name: string, value: string): string =>
    replace({ path: ['headers', name], key: keyOf('headers', name.toLowerCase()), ...target }, value);
  const path = ['oauth', 'clientSecret'];
  const client = {
    target: JSON.stringify([target.target, oauth?.clientId]),
    targetPath: 'config.url or config.oauth.clientId',
  };
  return {
    ...config,
    headers: mapValues(headers, header),
    ...(oauth?.clientSecret !== undefined && {
      oauth: { ...oauth, clientSecret: replace({ path, key: keyOf(...path), ...client }, oauth.clientSecret) },
    }),
  };
}

function mapTool(tool: CustomTool, index: number, replace: Replace): CustomTool {
  const { name, request } = tool;
  if (!request) return tool;
  const path = ['tools', index, 'request'];
  const target = { target: originOf(request.url), targetPath: `config.${path.join('.')}.url` };
  const header = (header: string, value: string): string =>
    replace({ path: [...path, 'headers', header], key: keyOf('tools', name, header.toLowerCase()), ...target }, value);
  return { ...tool, request: { ...request, headers: mapValues(request.headers, header) } };
}

/** Keys such as `__proto__` stay keys. */
const mapValues = (
  values: Record<string, string>,
  map: (key: string, value: string) => string,
): Record<string, string> => Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(key, value)]));

const keyOf = (...parts: string[]): string => JSON.stringify(parts);

const originOf = (url: string): string => URL.parse(url)?.origin ?? '';

/**
 * Returns a config with the stored secrets in place of masks. Throws BAD_USER_INPUT naming secrets that are not stored,
 * and secrets that would be sent to another server or command than they were stored for.
 */
export function restoreSecrets(type: Type, config: Config, stored: readonly StoredSecret[]): Config {
  const former = new Map(stored.map((secret) => [secret.key, secret]));
  const issues: ValidationIssue[] = [];
  const restored = mapSecrets(type, config, ({ path, key, target, targetPath }, value) => {
    if (value !== MASK) return value;
    const secret = former.get(key);
    if (secret && secret.target === target) return secret.value;
    const problem = secret ? `is required when ${targetPath} changes` : 'has no stored value';
    const place = ['config', ...path];
    issues.push({ path: place, message: `${place.join('.')} ${problem}`, code: 'invalid' });
    return value;
  });
  throwIssues(issues);
  return restored;
}

/** Returns a config with masks in place of its secrets, and the secrets. */
export function separateSecrets(type: Type, config: Config): { masked: Config; secrets: StoredSecret[] } {
  const secrets: StoredSecret[] = [];
  const masked = mapSecrets(type, config, ({ key, target }, value) => {
    secrets.push({ key, target, value });
    return MASK;
  });
  return { masked, secrets };
}

/**
 * Returns a config for users who may not write it, without the parts that often contain secrets: arguments and the
 * texts of bodies are masked, and URLs have no query.
 */
export function redactConfig(type: string, config: Config): Config {
  if (type === 'mcp-stdio') return { ...config, args: (config as StdioConfig).args.map(() => MASK) };
  if (type === 'mcp-remote') return { ...config, url: withoutQuery((config as RemoteConfig).url) };
  const { tools } = config as CustomConfig;
  return {
    ...config,
    tools: tools.map((tool) => (tool.request ? { ...tool, request: redactRequest(tool.request) } : tool)),
  };
}

function redactRequest(request: ToolRequest): ToolRequest {
  const { url, body } = request;
  return { ...request, url: withoutQuery(url), ...(body !== undefined && { body: maskTexts(body) }) };
}

/** Returns a JSON value with a mask in place of each text. */
function maskTexts(value: unknown): unknown {
  if (typeof value === 'string') return MASK;
  if (Array.isArray(value)) return value.map(maskTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskTexts(inner)]));
}

/** Returns a URL without its query and fragment. */
export const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '');
