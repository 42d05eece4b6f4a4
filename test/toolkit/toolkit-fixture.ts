import type { Client } from '../support/client.ts';
import { test as base } from '../support/fixture.ts';

/** A toolkit with its path. */
export interface TestToolkit {
  id: string;
  path: string;
}

export const STDIO = { command: 'npx', args: ['-y', '@modelcontextprotocol/server-everything'] };
export const REMOTE = {
  url: 'https://mcp.example.com/mcp?key=query-secret',
  transport: 'http',
  method: 'POST',
  headers: { Authorization: 'Bearer header-secret' },
};

/** Creates a toolkit of the caller. */
export async function createToolkit(client: Client, more: object = {}): Promise<TestToolkit> {
  const { id } = await client.creates('/toolkits', { name: 'Tools', type: 'mcp-stdio', config: STDIO, ...more });
  return { id, path: `/toolkits/${id}` };
}

export const test = base.extend<{ eve: Client }>({
  eve: [
    async ({ service }, use) =>
      use(await service.user('eve', { permissions: ['toolkits:create', 'queries:create', 'datasources:create'] })),
    { scope: 'file' },
  ],
});
