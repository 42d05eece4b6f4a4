import { invalid } from '../../core/input-checks.ts';
import { MAX_TOOLS } from '../../core/mcp.ts';

/** A driver of toolkits. */
export interface ToolkitDriver {
  id: 'mcp-stdio' | 'mcp-remote' | 'custom';
  name: string;
  description: string;
  /** JSON Schema of the `config` of its toolkits. */
  configSchema: Record<string, unknown>;
}

/** Settings of a toolkit of the driver `mcp-stdio`. */
export interface StdioConfig extends Record<string, unknown> {
  command: string;
  args: string[];
  env?: Record<string, string>;
}

/** Settings of a toolkit of the driver `mcp-remote`. */
export interface RemoteConfig extends Record<string, unknown> {
  url: string;
  transport: 'http' | 'sse';
  method?: string;
  headers: Record<string, string>;
  /** The client that identifies the service at the authorization server. Without it, the service registers one. */
  oauth?: { clientId: string; clientSecret?: string; scope?: string };
}

/** The HTTP request of a custom tool. Its texts may contain `{{argument}}`. */
export interface ToolRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: unknown;
}

/** A tool that users define: a saved query or an HTTP request. */
export interface CustomTool {
  name: string;
  description: string | null;
  inputSchema: Record<string, unknown>;
  queryId?: string;
  request?: ToolRequest;
}

/** Settings of a toolkit of the driver `custom`. */
export interface CustomConfig extends Record<string, unknown> {
  tools: CustomTool[];
}

const object = (properties: Record<string, unknown>, required: readonly string[] = []): Record<string, unknown> => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const url = { type: 'string', minLength: 1, maxLength: 2000 };
const headers = {
  type: 'object',
  maxProperties: 50,
  // The characters of HTTP headers, or the mask of a stored value.
  additionalProperties: { type: 'string', maxLength: 8000, pattern: '^(?:[\\t -~\\u0080-\\u00ff]*|••••)$' },
  default: {},
  description: 'Headers. Their values are secrets.',
};
const noNul = { pattern: '^[^\\u0000]*$' };

const stdioSchema = object(
  {
    command: { type: 'string', minLength: 1, maxLength: 4096, ...noNul, description: 'Program to start.' },
    args: {
      type: 'array',
      maxItems: 200,
      items: { type: 'string', maxLength: 8192, ...noNul },
      default: [],
      description: 'Arguments of the program.',
    },
    env: {
      type: 'object',
      maxProperties: 100,
      propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]*$', maxLength: 255 },
      additionalProperties: { type: 'string', maxLength: 10_000, ...noNul },
      description: 'Environment variables of the program. Their values are secrets.',
    },
  },
  ['command'],
);

const remoteSchema = object(
  {
    url: { ...url, description: 'URL of the server, with `https` or `http`.' },
    transport: { enum: ['http', 'sse'], default: 'http', description: 'Streamable HTTP, or HTTP with SSE.' },
    method: { enum: ['POST', 'GET'], description: 'Method of the transport `http`. MCP uses POST.' },
    headers,
    oauth: {
      ...object(
        {
          clientId: { type: 'string', minLength: 1, maxLength: 1000 },
          clientSecret: { type: 'string', minLength: 1, maxLength: 1000, description: 'A secret.' },
          scope: { type: 'string', maxLength: 2000 },
        },
        ['clientId'],
      ),
      description: 'OAuth client of the authorization server. Without it, the service registers one.',
    },
  },
  ['url'],
);

const customSchema = object(
  {
    tools: {
      type: 'array',
      maxItems: MAX_TOOLS,
      items: {
        ...object(
          {
            name: { type: 'string' },
            description: { type: ['string', 'null'], default: null },
            inputSchema: {
              type: 'object',
              default: { type: 'object', properties: {} },
              description: 'JSON Schema of the arguments.',
            },
            queryId: { type: 'string', minLength: 1, maxLength: 300, description: 'Saved query that it runs.' },
            request: {
              ...object(
                {
                  url: { ...url, description: 'URL. Scheme and host must not contain `{{argument}}`.' },
                  method: { enum: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], default: 'GET' },
                  headers,
                  body: { description: 'Body: a text as it is, any other value as JSON.' },
                },
                ['url'],
              ),
              description: 'HTTP request that it sends. `{{argument}}` stands for the value of an argument.',
            },
          },
          ['name'],
        ),
      },
      description: 'The tools. Each has either `queryId` or `request`.',
    },
  },
  ['tools'],
);

/** The drivers of toolkits. */
export const TOOLKIT_DRIVERS: readonly ToolkitDriver[] = [
  {
    id: 'mcp-stdio',
    name: 'MCP server on a machine',
    description: 'A local process that speaks MCP. Clients start it and report its tools; the service never does.',
    configSchema: stdioSchema,
  },
  {
    id: 'mcp-remote',
    name: 'Remote MCP server',
    description: 'An MCP server over streamable HTTP or SSE.',
    configSchema: remoteSchema,
  },
  {
    id: 'custom',
    name: 'Custom tools',
    description: 'Tools that run a saved query or send an HTTP request.',
    configSchema: customSchema,
  },
];

/** Returns the driver of a type of toolkits. Throws BAD_USER_INPUT for an unknown type. */
export function findToolkitDriver(type: string): ToolkitDriver {
  const driver = TOOLKIT_DRIVERS.find(({ id }) => id === type);
  if (!driver) throw invalid('type', `must be one of ${TOOLKIT_DRIVERS.map(({ id }) => id).join(', ')}`);
  return driver;
}
