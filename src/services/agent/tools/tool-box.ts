import type { ChatTool, ChatToolCall } from '../../../core/ai.ts';
import type { Context } from '../../../core/context.ts';
import { ApiError, badInput } from '../../../core/errors.ts';
import { isDeeperThan, MAX_JSON_DEPTH } from '../../../core/json-depth.ts';
import { schemaIssue } from '../../resource/schema-validation.ts';
import { checkSchema, type InputValidator } from '../../template/template-input-schema.ts';
import type { AgentTool, AgentTools, ToolResult } from './agent-tool.ts';
import { createDatasetTools } from './dataset-tools.ts';
import { cutResult } from './tool-result.ts';
import { createToolkitTools } from './toolkit-tools.ts';

/** Maximum number of tools of a run: that of OpenAI. */
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
  /** Calls a tool as a model asks for it. What is wrong with the call, or fails, is a result. */
  call(ctx: Context, call: ChatToolCall): Promise<ToolResult>;
}

/** Returns the tools that an agent may call with the rights of the viewer, its owner. `depth` is that of the run. */
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
  const byName = new Map<string, { tool: AgentTool; validator: InputValidator }>();
  for (const tool of all.slice(0, MAX_AGENT_TOOLS)) {
    const validator = compile(tool);
    if (typeof validator === 'string') notes.push(`The tool "${tool.name}" is left out: ${validator}`);
    else byName.set(uniqueName(tool.name, byName), { tool, validator });
  }
  if (all.length > MAX_AGENT_TOOLS)
    notes.push(`${all.length - MAX_AGENT_TOOLS} tool(s) are left out: an agent has at most ${MAX_AGENT_TOOLS}`);
  return {
    notes,
    tools: [...byName].map(([name, { tool }]) => ({
      name,
      description: tool.description.slice(0, MAX_DESCRIPTION).toWellFormed(),
      parameters: { type: 'object', ...tool.parameters },
    })),
    async call(ctx, { name, arguments: text }) {
      const known = byName.get(name);
      if (!known) return failed(`There is no tool ${JSON.stringify(name.slice(0, 100))}`);
      try {
        const { text: result, ...rest } = await known.tool.call(ctx, parseArguments(text, known.validator));
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

/** Returns the validator of the arguments of a tool, or why its schema cannot be checked. */
function compile({ parameters }: AgentTool): InputValidator | string {
  try {
    return checkSchema({ type: 'object', ...parameters }, ['inputSchema']);
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
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
function parseArguments(text: string, validator: InputValidator): Record<string, unknown> {
  if (Buffer.byteLength(text) > MAX_ARGUMENT_BYTES)
    throw badInput(`The arguments have more than ${MAX_ARGUMENT_BYTES / 1024} KiB`);
  const args = parseJson(text.trim() === '' ? '{}' : text);
  if (typeof args !== 'object' || args === null || Array.isArray(args)) throw badInput('The arguments must be an object');
  if (isDeeperThan(args, MAX_JSON_DEPTH)) throw badInput(`The arguments nest deeper than ${MAX_JSON_DEPTH} levels`);
  const problem = validator.problemOf(args);
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
