const ID = '01980a6e-3f4b-7c21-9d5e-8a1b2c3d4e5f';

/** Examples of the request bodies of toolkits, by operation id. */
export const TOOLKIT_BODIES: Record<string, unknown> = {
  createToolkit: {
    name: 'Issues',
    type: 'mcp-remote',
    config: {
      url: 'https://mcp.example.com/mcp',
      transport: 'http',
      headers: { Authorization: 'Bearer 5f2b8c' },
    },
  },
  updateToolkit: {
    tools: [{ name: 'echo', description: 'Returns its input', inputSchema: { type: 'object' } }],
    serverInfo: { name: 'reference', version: '1.0.0' },
  },
  setToolkitOwner: { ownerId: `team:${ID}` },
  shareToolkit: { accessLevel: 1 },
  approveToolkitTools: { names: ['echo'] },
  parseToolkitConfig: { config: 'npx -y @modelcontextprotocol/server-everything' },
};
