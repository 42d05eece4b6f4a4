import type { Toolkit } from '../../../entities/toolkit.ts';
import type { Context } from '../../core/context.ts';
import { conflict, upstreamFailed } from '../../core/errors.ts';
import type { McpDescription } from '../../core/mcp.ts';
import type { Transaction } from '../../core/platform.ts';
import { checkToolLimits, selectStorable, type ToolDiff } from './tool-list.ts';
import { callServer, checkRemote, loadServer } from './toolkit-client.ts';
import { loadToolkitTarget } from './toolkit-target.ts';
import { storeTools } from './toolkit-tool.ts';

/** The offer of a server, without the parts that are left out, and its changes since the former discovery. */
export type ToolkitDiscovery = McpDescription & { toolkitId: string; diff: ToolDiff };

/**
 * Asks the server of a toolkit for its tools and stores them. Throws BAD_USER_INPUT for a toolkit whose server the
 * service does not call, and CONFLICT if it is disabled or its configuration changes during the call. Throws
 * UPSTREAM_FAILED if no tool can be used or all together exceed the limits, otherwise like `McpClient.discover`.
 */
export async function discoverToolkit(ctx: Context, key: string): Promise<ToolkitDiscovery> {
  const { platform, viewer } = ctx;
  // Not yet the unit of work of the mutation: the call would occupy its connection.
  const { resource, configDigest } = await platform.database.transaction(viewer.tenantId, (tx) =>
    loadToolkitTarget(ctx, tx, key, { ifMatch: ctx.ifMatch }),
  );
  const toolkit = resource as Toolkit;
  checkCallable(toolkit);
  const server = await loadServer(ctx, toolkit);
  const described = await callServer(ctx, (signal) => platform.mcp.discover(server, signal));
  const found = { ...described, tools: selectStorable(described.tools, described.notes) };
  const name = `The MCP server "${new URL(server.url).hostname}"`;
  if (found.tools.length === 0 && found.notes.length > 0)
    throw upstreamFailed(`${name} has no tool that can be used. ${found.notes[0]}`);
  checkToolLimits(found.tools, (path, message) =>
    upstreamFailed(`${name} is not within the limits: ${['tools', ...path].join('.')} ${message}`),
  );
  const diff = await ctx.transaction(async (tx) => {
    const current = await loadToolkitTarget(ctx, tx, toolkit.id);
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
