import type { Client } from '../support/client.ts';
import { startMcpServer, type TestMcpServer } from '../support/mcp-server.ts';
import { startService, type Service } from '../support/service.ts';
import { createToolkit, test as base, type TestToolkit } from './toolkit-fixture.ts';

/** A service that may call this machine, and an MCP server on it. */
export const test = base.extend<{
  service: Service;
  server: TestMcpServer;
  remote: (more?: object) => Promise<TestToolkit>;
}>({
  service: [
    async ({}, use) => {
      const service = await startService({ OUTBOUND_ALLOW: '127.0.0.1' });
      service.platform.publicUrl = service.url;
      await use(service);
      await service.close();
    },
    { scope: 'file' },
  ],
  server: async ({}, use) => {
    const server = await startMcpServer();
    await use(server);
    await server.close();
  },
  remote: async ({ eve, server }, use) => use((more) => createRemote(eve, server.url, more)),
});

/** Creates a toolkit of the type `mcp-remote`. */
export const createRemote = (client: Client, url: string, more: object = {}): Promise<TestToolkit> =>
  createToolkit(client, { name: 'Remote tools', type: 'mcp-remote', config: { url, transport: 'http' }, ...more });
