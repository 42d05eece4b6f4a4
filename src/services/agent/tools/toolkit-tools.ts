import { isDeepStrictEqual } from 'node:util';
import { TOOLKIT } from '../../../../entities/owned-kinds.ts';
import type { Toolkit } from '../../../../entities/toolkit.ts';
import type { Context } from '../../../core/context.ts';
import { conflict } from '../../../core/errors.ts';
import { LEVEL } from '../../../core/permissions.ts';
import * as savedQueries from '../../datasource/saved-query.ts';
import { accessLevel } from '../../resource/access-level.ts';
import { callServer, loadServer } from '../../toolkit/toolkit-client.ts';
import { openConfig } from '../../toolkit/toolkit-config.ts';
import type { CustomConfig } from '../../toolkit/toolkit-driver.ts';
import { chainHeaders } from '../agent-chain.ts';
import type { AgentTool, AgentTools, ToolResult } from './agent-tool.ts';
import { callHttp } from './http-call.ts';
import { openSentSecrets } from './sent-secrets.ts';
import { maskSecrets } from './tool-result.ts';

/** Rows of the result of a saved query. */
const MAX_ROWS = 200;

/** A toolkit with its approved tools, read in one statement. */
interface LoadedToolkit extends Pick<Toolkit, 'id' | 'tenantId' | 'name' | 'type' | 'enabled' | 'config' | 'ownerId'> {
  sealedSecrets: string | null;
  tools: LoadedTool[];
}

interface LoadedTool {
  name: string;
  description: string | null;
  inputSchema: Record<string, unknown>;
}

/** Loads the toolkits of an assistant, in its order; null for one that the viewer may not read. */
async function loadToolkits(ctx: Context, ids: readonly string[]): Promise<(LoadedToolkit | null)[]> {
  const rows = await ctx.query<LoadedToolkit & Record<string, unknown>>({
    text: `
      select t.id, t.tenant_id as "tenantId", t.name, t.type, t.enabled, t.config, t.owner_id as "ownerId",
        t.sealed_secrets as "sealedSecrets",
        coalesce((
          select jsonb_agg(
            jsonb_build_object('name', x.name, 'description', x.description, 'inputSchema', x.input_schema)
            order by x.position
          )
          from dws.${TOOLKIT.table}_tool x
          where x.tenant_id = $1 and x.toolkit_id = t.id and x.approved
        ), '[]') as tools
      from dws.${TOOLKIT.table} t
      where t.tenant_id = $1 and t.id = any($2)`,
    values: [ctx.viewer.tenantId, ids],
  });
  const byId = new Map(rows.map((row) => [row.id, row]));
  return Promise.all(
    ids.map(async (id) => {
      const toolkit = byId.get(id);
      return toolkit && (await accessLevel(ctx, toolkit)) >= LEVEL.view ? toolkit : null;
    }),
  );
}

/**
 * Returns the approved tools of an assistant's toolkits that the service can call: custom tools, and tools of remote
 * MCP servers. `depth` is the depth of the run.
 */
export async function createToolkitTools(ctx: Context, ids: readonly string[], depth: number): Promise<AgentTools> {
  const tools: AgentTool[] = [];
  const notes: string[] = [];
  const loaded = await loadToolkits(ctx, ids);
  const unreadable = loaded.filter((toolkit) => toolkit === null).length;
  if (unreadable > 0) notes.push(`${unreadable} toolkit(s) are left out: the owner of the agent cannot read them`);
  for (const toolkit of loaded) {
    if (!toolkit) continue;
    const reason = whyLeftOut(toolkit);
    if (reason) notes.push(`The toolkit "${toolkit.name}" is left out: ${reason}`);
    else tools.push(...toolkit.tools.map((tool) => createTool(toolkit, tool, depth)));
  }
  return { tools, notes };
}

function whyLeftOut({ type, enabled, tools }: LoadedToolkit): string | null {
  if (!enabled) return 'it is disabled';
  if (type === 'mcp-stdio') return 'the service starts no processes, which its tools require';
  return tools.length === 0 ? 'none of its tools is approved' : null;
}

function createTool(toolkit: LoadedToolkit, tool: LoadedTool, depth: number): AgentTool {
  const { name, description, inputSchema } = tool;
  return {
    name,
    description: description ?? '',
    parameters: inputSchema,
    async call(ctx, args) {
      const current = await loadCurrent(ctx, toolkit, tool);
      const secrets = openSentSecrets(ctx, current);
      try {
        const result = await callTool(ctx, current, name, args, depth);
        return {
          text: maskSecrets(result.text, secrets),
          ...(result.error !== undefined && { error: maskSecrets(result.error, secrets) }),
        };
      } catch (error) {
        if (error instanceof Error) error.message = maskSecrets(error.message, secrets);
        throw error;
      }
    },
  };
}

/**
 * Loads the toolkit of a tool again, right before the tool is called. Throws CONFLICT if the owner of the agent can no
 * longer read it, it was disabled, the tool is no longer approved, or it differs from the tool that the model knows.
 */
async function loadCurrent(ctx: Context, { id }: LoadedToolkit, known: LoadedTool): Promise<LoadedToolkit> {
  const [toolkit] = await loadToolkits(ctx, [id]);
  const tool = toolkit?.enabled ? toolkit.tools.find(({ name }) => name === known.name) : undefined;
  if (!toolkit || !isDeepStrictEqual(tool, known))
    throw conflict('The tool is no longer available: it was changed, disabled or not approved');
  return toolkit;
}

async function callTool(
  ctx: Context,
  toolkit: LoadedToolkit,
  name: string,
  args: Record<string, unknown>,
  depth: number,
): Promise<ToolResult> {
  if (toolkit.type === 'mcp-remote') {
    const loaded = await loadServer(ctx, toolkit as unknown as Toolkit);
    // The server may be an app of this service.
    const server = { ...loaded, headers: { ...loaded.headers, ...chainHeaders(ctx.platform, loaded.url, depth) } };
    const { text, isError } = await callServer(ctx, (signal) =>
      ctx.platform.mcp.callTool(server, { name, arguments: args }, signal),
    );
    return isError ? { text, error: 'The tool reports an error' } : { text };
  }
  const { tools } = openConfig(ctx.platform, toolkit.type, toolkit) as CustomConfig;
  const custom = tools.find((one) => one.name === name);
  if (custom?.request) return callHttp(ctx, custom.request, args, depth);
  if (custom?.queryId === undefined) throw conflict('The tool is no longer available');
  const { rows, truncated } = await savedQueries.run(ctx, custom.queryId, args, MAX_ROWS);
  return { text: JSON.stringify({ rows, truncated }) };
}
