import type { Toolkit } from '../../../entities/toolkit.ts';
import type { Context } from '../../core/context.ts';
import { conflict, upstreamFailed } from '../../core/errors.ts';
import type { McpDescription } from '../../core/mcp.ts';
import type { Transaction } from '../../core/platform.ts';
import { loadToolkit } from '../connection/connection-target.ts';
import { checkToolLimits, type ToolDiff } from './tool-list.ts';
import { callServer, checkRemote, loadServer } from './toolkit-client.ts';
import { storeTools } from './toolkit-tool.ts';

/** What a server offers, and what has changed since the discovery before. */
export type ToolkitDiscovery = McpDescription & { toolkitId: string; diff: ToolDiff };

/**
 * Asks the server of a toolkit for its tools and stores them. Throws BAD_USER_INPUT for a toolkit whose server the
 * service does not call, CONFLICT if it is disabled or its configuration changes meanwhile, UPSTREAM_FAILED for what is
 * not within the limits, otherwise like `McpClient.discover`.
 */
export async function discoverToolkit(ctx: Context, key: string): Promise<ToolkitDiscovery> {
  const { platform, viewer } = ctx;
  // Not yet the unit of work of the mutation: the call would occupy its connection.
  const { resource, configDigest } = await platform.database.transaction(viewer.tenantId, (tx) =>
    loadToolkit(ctx, tx, key, { ifMatch: ctx.ifMatch }),
  );
  const toolkit = resource as Toolkit;
  checkCallable(toolkit);
  const server = await loadServer(ctx, toolkit);
  const found = await callServer(ctx, (signal) => platform.mcp.discover(server, signal));
  checkToolLimits(found.tools, (path, message) =>
    upstreamFailed(
      `The MCP server "${new URL(server.url).hostname}" is not within the limits: ${['tools', ...path].join('.')} ${message}`,
    ),
  );
  const diff = await ctx.transaction(async (tx) => {
    const current = await loadToolkit(ctx, tx, toolkit.id);
    if (current.configDigest !== configDigest)
      throw conflict('The configuration has changed since the discovery started. Start it again');
    checkCallable(current.resource as Toolkit);
    return storeDiscovery(tx, current.resource as Toolkit, found);
  });
  return { toolkitId: toolkit.id, ...found, diff };
}

/** Throws BAD_USER_INPUT for a toolkit whose server the service does not call, CONFLICT if it is disabled. */
function checkCallable(toolkit: Toolkit): void {
  checkRemote(toolkit);
  if (!toolkit.enabled) throw conflict(`The toolkit "${toolkit.name}" is disabled`);
}

async function storeDiscovery(
  tx: Transaction,
  toolkit: Toolkit,
  { tools, serverInfo }: McpDescription,
): Promise<ToolDiff> {
  const diff = await storeTools(tx, toolkit, tools, { isFirst: !toolkit.discoveredAt });
  Object.assign(toolkit, { discoveredAt: new Date(), serverInfo } satisfies Partial<Toolkit>);
  return diff;
}
