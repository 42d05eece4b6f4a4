import { kind } from '../kind.ts';
import { collection, resource, value } from '../present.ts';
import { get, plain, post, type Json } from '../route.ts';

interface Toolkit {
  id: string;
}

const FIELDS = `id tenant slug naturalId name description type serverInfo { name version } discoveredAt enabled
  ownerId owner { id name type } folderId tags createdAt updatedAt
  permissions { read write edit run share delete assignTags changeOwner }`;

const links = ({ id }: Toolkit) => ({
  self: `/toolkits/${id}`,
  'svc:permissions': `/toolkits/${id}/permissions`,
  'svc:toolkit-driver': '/toolkit-drivers',
});
const IDENTITY = { identity: ['type'] };

const toolkit = resource<Toolkit>(`${FIELDS} config tools { name description inputSchema approved }`, links, IDENTITY);

const tool = resource<{ toolkitId: string }>('name description inputSchema approved queryId', ({ toolkitId }) => ({
  'svc:toolkit': `/toolkits/${toolkitId}`,
}));
const tools = collection('toolkit-tool', tool);

/** Clients may send back the tools of a response, with fields that only the service sets. */
const withoutApproval = (body: Json): Json =>
  Array.isArray(body['tools']) ? { ...body, tools: body['tools'].map(toInput) } : body;

function toInput(tool: unknown): unknown {
  if (typeof tool !== 'object' || tool === null || Array.isArray(tool)) return tool;
  const { approved: _approved, queryId: _queryId, _links, ...input } = tool as Json;
  return input;
}

const driver = value('id name description configSchema');

export default [
  ...kind('toolkits', 'toolkit', toolkit, {
    // Config and tools can have megabytes.
    item: resource<Toolkit>(FIELDS, links, IDENTITY),
    rows: {
      create: {
        map: withoutApproval,
        example: {
          name: 'Issues',
          type: 'mcp-remote',
          config: {
            url: 'https://mcp.example.com/mcp',
            transport: 'http',
            headers: { Authorization: 'Bearer 5f2b8c' },
          },
        },
      },
      update: {
        map: withoutApproval,
        example: {
          tools: [{ name: 'echo', description: 'Returns its input', inputSchema: { type: 'object' } }],
          serverInfo: { name: 'reference', version: '1.0.0' },
        },
      },
    },
  }),
  get('/toolkits/:id/tools', 'toolkit.tools', tools),
  post('/toolkits/:toolkitId/tools/_approve', 'approveToolkitTools', tools, {
    query: ['limit', 'start'],
    example: { names: ['echo'] },
  }),
  plain('GET', '/toolkit-templates', 'toolkitTemplates', { id: 'listToolkitTemplates' }),
  post(
    '/toolkit-parse-config',
    'parseToolkitConfig',
    value('normalized { type config } servers { name type config }'),
    {
      id: 'parseToolkitConfig',
      summary: 'Returns the toolkits that a configuration of another client describes',
      example: { config: 'npx -y @modelcontextprotocol/server-everything' },
    },
  ),
  get('/toolkit-drivers', 'toolkitDrivers', collection('toolkit-driver', driver)),
];
