import { MASK } from '../../core/mask.ts';
import type { McpDescription, McpTool } from '../../core/mcp.ts';
import { quoteUpstream } from '../../core/outbound.ts';
import { readVariable } from '../../core/process-environment.ts';
import {
  applyDiscovery,
  selectStorable,
  type ApprovableTool,
  type ToolDiff,
} from '../../services/toolkit/tool-list.ts';
import { describeProcess, type ServerCommand } from './stdio-server.ts';

interface DiscoveryOptions {
  id: string;
  /** Base URL of the service. */
  url: string;
  token: string;
  /** Variables of the server, which override the variables of this process. */
  env: Readonly<Record<string, string>>;
}

interface DiscoveryReport {
  serverInfo: McpDescription['serverInfo'];
  /** Number of the tools. */
  tools: number;
  diff: ToolDiff;
  /** Which tools are left out, and why. */
  notes: string[];
  /** Names of the tools that wait for approval. */
  waiting: string[];
}

interface ToolkitRecord {
  name: string;
  type: string;
  config: { command: string; args: string[]; env?: Record<string, string> };
  discoveredAt: string | null;
  permissions: { write: boolean };
}

/**
 * Starts the server of a toolkit on this machine, asks it for its tools and stores them by the API. Throws an error of
 * one line.
 */
export async function discoverStdioToolkit({ id, url, token, env }: DiscoveryOptions): Promise<DiscoveryReport> {
  const path = `/api/toolkits/${encodeURIComponent(id)}`;
  const call = createCaller(url, token);
  const { body, etag } = await call('GET', path);
  const toolkit = body as ToolkitRecord;
  if (toolkit.type !== 'mcp-stdio')
    throw new Error(
      toolkit.type === 'mcp-remote'
        ? `The service itself discovers "${toolkit.name}": POST ${path}/discover`
        : `The tools of "${toolkit.name}" are in its configuration: it has no server`,
    );
  // Nor could they be stored: and it would be another command, whose arguments are masked.
  if (!toolkit.permissions.write) throw new Error(`You lack the permission toolkit:write on "${toolkit.name}"`);
  const former = await listTools(call, path);
  const { serverInfo, tools: described, notes } = await describeProcess(commandOf(toolkit, env));
  const tools = selectStorable(described, notes);
  if (tools.length === 0 && notes.length > 0)
    throw new Error(`The MCP server has no tool that can be used. ${notes[0]}`);
  await call('PUT', path, { tools, serverInfo }, { 'if-match': etag });
  const { diff } = applyDiscovery(former, tools, toolkit.discoveredAt === null);
  const waiting = (await listTools(call, path)).filter(({ approved }) => !approved).map(({ name }) => name);
  return { serverInfo, tools: tools.length, diff, notes, waiting };
}

/**
 * Returns the command of a toolkit, with variables in place of masks. Variables of this service, such as the API token,
 * are not taken from the shell, because other users may have named them in the toolkit. Throws an error that names
 * missing variables.
 */
function commandOf({ name, config }: ToolkitRecord, given: Readonly<Record<string, string>>): ServerCommand {
  const { command, args, env = {} } = config;
  const variables: Record<string, string> = {};
  const missing: string[] = [];
  for (const [variable, stored] of Object.entries(env)) {
    const value = given[variable] ?? (stored === MASK ? readShell(variable) : stored);
    if (value === undefined) missing.push(variable);
    else variables[variable] = value;
  }
  if (missing.length > 0)
    throw new Error(
      `The service does not return the variables of "${name}". Set them: ${missing.map((each) => `--env ${each}=…`).join(' ')}`,
    );
  return { command, args, env: { ...variables, ...given } };
}

const readShell = (variable: string): string | undefined =>
  /^DWS_/i.test(variable) ? undefined : readVariable(variable);

type Caller = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<{ body: unknown; etag: string }>;

/** Returns the function that calls the API. It throws the message of the API for an error. */
function createCaller(base: string, token: string): Caller {
  return async (method, path, body, headers) => {
    const address = URL.parse(path, base)?.href;
    if (!address || !/^https?:/.test(address)) throw new Error(`${base} is not the URL of a service`);
    const response = await fetch(address, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
      redirect: 'error',
    }).catch((error: Error) => {
      throw new Error(`${base} does not respond: ${(error.cause as Error | undefined)?.message ?? error.message}`);
    });
    const text = await response.text();
    const received = parseJson(text);
    if (!response.ok || received === undefined) {
      const { message } = (received ?? {}) as { message?: string };
      throw new Error(`${method} ${path} responded with ${response.status}: ${message ?? quoteUpstream(text)}`);
    }
    return { body: received, etag: response.headers.get('etag') ?? '*' };
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns all tools of a toolkit. */
async function listTools(call: Caller, path: string): Promise<ApprovableTool[]> {
  const tools: ApprovableTool[] = [];
  for (;;) {
    const { body } = await call('GET', `${path}/tools?limit=100&start=${tools.length}`);
    const { total, _embedded } = body as {
      total: number;
      _embedded: Record<string, (McpTool & { approved: boolean })[]>;
    };
    const page = _embedded['svc:toolkit-tool']!;
    tools.push(...page);
    if (page.length === 0 || tools.length >= total) return tools;
  }
}
