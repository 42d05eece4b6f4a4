import { isDeepStrictEqual } from 'node:util';
import { TOOLKIT } from '../../../entities/owned-kinds.ts';
import { ToolkitTool } from '../../../entities/toolkit-tool.ts';
import type { Toolkit } from '../../../entities/toolkit.ts';
import type { Context } from '../../core/context.ts';
import { checkJsonBounds, invalid } from '../../core/input-checks.ts';
import type { McpTool } from '../../core/mcp.ts';
import { newRow } from '../../core/new-row.ts';
import type { Transaction } from '../../core/platform.ts';
import { loadResource } from '../resource/load-resource.ts';
import { applyDiscovery, checkToolLimits, type ToolDiff } from './tool-list.ts';

const LIST_BOUNDS = { maxBytes: 4 * 1024 * 1024, maxDepth: 110 };

/** Returns the tools that a client has found, in their stored form. Throws BAD_USER_INPUT for those past a limit. */
export function checkReportedTools(
  tools: readonly { name: string; description?: string | null; inputSchema?: Record<string, unknown> | null }[],
): McpTool[] {
  const checked = tools.map(({ name, description, inputSchema }) => ({
    name,
    description: description ?? null,
    inputSchema: inputSchema ?? {},
  }));
  checkToolLimits(checked, (path, message) => invalid(['tools', ...path].join('.'), message));
  return checkJsonBounds(checked, 'tools', LIST_BOUNDS);
}

/**
 * Stores the tools of a toolkit that is locked, and decides about their approval. `queryIds` has the saved queries that
 * custom tools run, by the names of the tools. `altered` is the parameter of `applyDiscovery`. Returns the changes.
 */
export async function storeTools(
  tx: Transaction,
  { id: toolkitId, tenantId }: Toolkit,
  found: readonly McpTool[],
  {
    isFirst,
    queryIds = new Map(),
    altered,
  }: { isFirst: boolean; queryIds?: ReadonlyMap<string, string>; altered?: ReadonlySet<string> },
): Promise<ToolDiff> {
  const former = await tx.find(ToolkitTool, { toolkitId }, { orderBy: ['position'] });
  const rows = new Map(former.map((row) => [row.name, row]));
  const { tools, diff } = applyDiscovery(
    former.map(({ name, description = null, inputSchema, approved }) => ({ name, description, inputSchema, approved })),
    found,
    isFirst,
    altered,
  );
  for (const [position, { inputSchema, ...tool }] of tools.entries()) {
    const values = { ...tool, position, queryId: queryIds.get(tool.name) ?? null };
    const row = rows.get(tool.name);
    rows.delete(tool.name);
    if (!row) tx.insert(newRow(ToolkitTool, { tenantId, toolkitId, ...values, inputSchema }));
    else {
      Object.assign(row, values);
      if (!isDeepStrictEqual(row.inputSchema, inputSchema)) row.inputSchema = inputSchema;
    }
  }
  for (const removed of rows.values()) tx.remove(removed);
  return diff;
}

/** Approves tools of a toolkit, all of them by default. Returns the id of the toolkit. */
export function approveTools(ctx: Context, id: string, names: readonly string[] | null): Promise<string> {
  return ctx.transaction(async (tx) => {
    const toolkit = await loadResource(ctx, tx, TOOLKIT, id, 'toolkit:write', { ifMatch: ctx.ifMatch });
    const tools = await tx.find(ToolkitTool, { toolkitId: toolkit.id });
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    for (const [index, name] of (names ?? [...byName.keys()]).entries()) {
      const tool = byName.get(name);
      if (!tool) throw invalid(`names.${index}`, `is not the name of a tool: ${JSON.stringify(name)}`);
      tool.approved = true;
    }
    return toolkit.id;
  });
}
