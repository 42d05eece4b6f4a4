import type { ChatTool, ChatToolCall } from '../../../core/ai.ts';
import type { Context } from '../../../core/context.ts';
import { ApiError, badInput } from '../../../core/errors.ts';
import { isDeeperThan, MAX_JSON_DEPTH } from '../../../core/json-depth.ts';
import { schemaIssue } from '../../resource/schema-validation.ts';
import { draftOf, measureSchema } from '../../template/template-input-complexity.ts';
import { checkSchema } from '../../template/template-input-schema.ts';
import { MAX_WORK } from '../../template/template-input-values.ts';
import type { AgentTool, AgentTools, ToolResult } from './agent-tool.ts';
import { createDatasetTools } from './dataset-tools.ts';
import { cutResult } from './tool-result.ts';
import { createToolkitTools } from './toolkit-tools.ts';

/** Maximum number of tools of a run. OpenAI has the same limit. */
export const MAX_AGENT_TOOLS = 128;
/** Maximum size of the arguments of a call. */
const MAX_ARGUMENT_BYTES = 64 * 1024;
/** Maximum number of characters of a description of a tool. */
const MAX_DESCRIPTION = 1024;
const MAX_NAME = 64;

/** The tools of a run by their names for the model. */
export interface ToolBox {
  tools: readonly ChatTool[];
  notes: readonly string[];
  /** Calls a tool as requested by a model. A call that is invalid or fails gives an error as its result. */
  call(ctx: Context, call: ChatToolCall): Promise<ToolResult>;
}

/**
 * Returns the tools that an agent may call with the rights of the viewer, its owner. `depth` is the depth of the run.
 */
export async function createToolBox(
  ctx: Context,
  { datasetIds, toolkitIds }: { datasetIds: readonly string[]; toolkitIds: readonly string[] },
  depth: number,
): Promise<ToolBox> {
  const parts = [await createDatasetTools(ctx, datasetIds), await createToolkitTools(ctx, toolkitIds, depth)];
  return openToolBox({ tools: parts.flatMap(({ tools }) => tools), notes: parts.flatMap(({ notes }) => notes) });
}

/** Returns tools with unique, valid names, without those whose schema cannot be checked. */
export function openToolBox({ tools: all, notes: former }: AgentTools): ToolBox {
  const notes = [...former];
  const byName = new Map<string, AgentTool>();
  for (const tool of all.slice(0, MAX_AGENT_TOOLS)) {
    const problem = findProblem(tool);
    if (problem) notes.push(`The tool "${tool.name}" is left out: ${problem}`);
    else byName.set(uniqueName(tool.name, byName), tool);
  }
  if (all.length > MAX_AGENT_TOOLS)
    notes.push(`${all.length - MAX_AGENT_TOOLS} tool(s) are left out: an agent has at most ${MAX_AGENT_TOOLS}`);
  return {
    notes,
    tools: [...byName].map(([name, tool]) => ({
      name,
      description: tool.description.slice(0, MAX_DESCRIPTION).toWellFormed(),
      parameters: schemaOf(tool),
    })),
    async call(ctx, { name, arguments: text }) {
      const tool = byName.get(name);
      if (!tool) return failed(`There is no tool ${JSON.stringify(name.slice(0, 100))}`);
      try {
        const { text: result, ...rest } = await tool.call(ctx, parseArguments(text, tool));
        return { text: cutResult(result), ...rest };
      } catch (error) {
        ctx.request.signal.throwIfAborted();
        if (error instanceof ApiError) return failed(error.message);
        ctx.platform.log.warn({ err: error }, 'A tool of an agent failed');
        return failed('The tool failed');
      }
    },
  };
}

const failed = (message: string): ToolResult => ({ text: cutResult(`Error: ${message}`), error: message });

/** The schema of the arguments of a tool. Servers leave out its type. */
const schemaOf = ({ parameters }: AgentTool) => ({ type: 'object', ...parameters });

/** Returns why the arguments of a tool cannot be checked; null if they can. The schema is compiled with the first call. */
function findProblem(tool: AgentTool): string | null {
  try {
    draftOf(schemaOf(tool), 'inputSchema');
    measureSchema(schemaOf(tool), 'inputSchema');
    return null;
  } catch (error) {
    // The schemas of servers are stored unchecked, even if they are not valid.
    return error instanceof ApiError ? error.message : 'its schema is not valid';
  }
}

/** Returns a name of letters, digits, `_` and `-` that no other tool has. */
function uniqueName(name: string, taken: ReadonlyMap<string, unknown>): string {
  const valid = name.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, MAX_NAME) || 'tool';
  if (!taken.has(valid)) return valid;
  for (let number = 2; ; number += 1) {
    const suffix = `_${number}`;
    const candidate = valid.slice(0, MAX_NAME - suffix.length) + suffix;
    if (!taken.has(candidate)) return candidate;
  }
}

/** Returns the arguments of a call. Throws BAD_USER_INPUT naming what does not fit the schema. */
function parseArguments(text: string, tool: AgentTool): Record<string, unknown> {
  if (Buffer.byteLength(text) > MAX_ARGUMENT_BYTES)
    throw badInput(`The arguments have more than ${MAX_ARGUMENT_BYTES / 1024} KiB`);
  const args = parseJson(text.trim() === '' ? '{}' : text);
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    throw badInput('The arguments must be an object');
  if (isDeeperThan(args, MAX_JSON_DEPTH)) throw badInput(`The arguments nest deeper than ${MAX_JSON_DEPTH} levels`);
  const { weight, problemOf } = checkSchema(schemaOf(tool), ['inputSchema']);
  if (weight * text.length > MAX_WORK) throw badInput('The arguments are too large for the schema of the tool');
  const problem = problemOf(args);
  if (problem) throw badInput(schemaIssue(problem, ['arguments']).message);
  return args as Record<string, unknown>;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badInput('The arguments are not well-formed JSON');
  }
}
