import type { ToolkitDriver } from './toolkit-driver.ts';

/** A value that users fill in before they create a toolkit of a template. */
export interface ToolkitPlaceholder {
  /** Path of the value that it replaces, e.g. `config.headers.Authorization`. */
  path: string;
  label: string;
  secret: boolean;
}

/** Preset settings of a toolkit. */
export interface ToolkitTemplate {
  id: string;
  name: string;
  description: string;
  /** Name of a glyph of Lucide. */
  icon: string;
  type: ToolkitDriver['id'];
  config: Record<string, unknown>;
  placeholders: ToolkitPlaceholder[];
}

type Texts = Pick<ToolkitTemplate, 'id' | 'name' | 'description' | 'icon'>;

const local = (texts: Texts, command: string, args: string[], ...placeholders: ToolkitPlaceholder[]) =>
  ({ ...texts, type: 'mcp-stdio', config: { command, args }, placeholders }) satisfies ToolkitTemplate;

const remote = (
  texts: Texts,
  url: string,
  headers: Record<string, string> = {},
  ...placeholders: ToolkitPlaceholder[]
) =>
  ({
    ...texts,
    type: 'mcp-remote',
    config: { url, transport: 'http', method: 'POST', headers },
    placeholders,
  }) satisfies ToolkitTemplate;

const FORECAST_URL =
  'https://api.open-meteo.com/v1/forecast?latitude={{latitude}}&longitude={{longitude}}&current=temperature_2m,wind_speed_10m';

/** The templates of toolkits. Their servers belong to others. */
export const TOOLKIT_TEMPLATES: readonly ToolkitTemplate[] = [
  local(
    {
      id: 'filesystem',
      name: 'Files of a folder',
      description: 'Reads, searches and writes the files of one folder of a machine.',
      icon: 'folder-open',
    },
    'npx',
    ['-y', '@modelcontextprotocol/server-filesystem', ''],
    { path: 'config.args.2', label: 'Absolute path of the folder', secret: false },
  ),
  local(
    {
      id: 'memory',
      name: 'Memory',
      description: 'Keeps facts about people and things as a graph in a file.',
      icon: 'brain',
    },
    'npx',
    ['-y', '@modelcontextprotocol/server-memory'],
  ),
  local(
    {
      id: 'fetch',
      name: 'Web pages',
      description: 'Reads web pages as Markdown. Requires uv.',
      icon: 'globe',
    },
    'uvx',
    ['mcp-server-fetch'],
  ),
  local(
    {
      id: 'everything',
      name: 'Everything',
      description: 'The reference server of MCP, with a tool for each feature of the protocol. For tests.',
      icon: 'flask-conical',
    },
    'npx',
    ['-y', '@modelcontextprotocol/server-everything'],
  ),
  remote(
    {
      id: 'github',
      name: 'GitHub',
      description: 'Repositories, issues and pull requests of GitHub.',
      icon: 'git-branch',
    },
    'https://api.githubcopilot.com/mcp/',
    { Authorization: '' },
    {
      path: 'config.headers.Authorization',
      label: '`Bearer`, a space and a personal access token of GitHub',
      secret: true,
    },
  ),
  remote(
    {
      id: 'sentry',
      name: 'Sentry',
      description: 'Errors and performance of applications. Requires an authorization.',
      icon: 'bug',
    },
    'https://mcp.sentry.dev/mcp',
  ),
  remote(
    {
      id: 'linear',
      name: 'Linear',
      description: 'Issues, projects and comments of Linear. Requires an authorization.',
      icon: 'list-checks',
    },
    'https://mcp.linear.app/mcp',
  ),
  remote(
    {
      id: 'notion',
      name: 'Notion',
      description: 'Pages and databases of Notion. Requires an authorization.',
      icon: 'notebook',
    },
    'https://mcp.notion.com/mcp',
  ),
  remote(
    {
      id: 'atlassian',
      name: 'Atlassian',
      description: 'Jira and Confluence. Requires an authorization.',
      icon: 'kanban',
    },
    'https://mcp.atlassian.com/v1/mcp/authv2',
  ),
  {
    id: 'weather',
    name: 'Weather',
    description: 'A custom tool that sends an HTTP request: the current weather at a place, by Open-Meteo.',
    icon: 'cloud-sun',
    type: 'custom',
    config: {
      tools: [
        {
          name: 'current_weather',
          description: 'Returns temperature and wind at a place.',
          inputSchema: {
            type: 'object',
            properties: {
              latitude: { type: 'number', minimum: -90, maximum: 90 },
              longitude: { type: 'number', minimum: -180, maximum: 180 },
            },
            required: ['latitude', 'longitude'],
          },
          request: { url: FORECAST_URL, method: 'GET', headers: {} },
        },
      ],
    },
    placeholders: [],
  },
  {
    id: 'http-api',
    name: 'HTTP API with a key',
    description: 'A custom tool that searches by an HTTP API which takes a key in a header.',
    icon: 'plug',
    type: 'custom',
    config: {
      tools: [
        {
          name: 'search',
          description: 'Searches the service.',
          inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
          request: { url: '', method: 'GET', headers: { Authorization: '' } },
        },
      ],
    },
    placeholders: [
      {
        path: 'config.tools.0.request.url',
        label: 'URL, in which {{query}} stands for the words to search for',
        secret: false,
      },
      {
        path: 'config.tools.0.request.headers.Authorization',
        label: 'Value of the header Authorization',
        secret: true,
      },
    ],
  },
];
