import { isDeepStrictEqual } from 'node:util';
import type { ApiError } from '../../core/errors.ts';
import { lengthOf } from '../../core/input-rules.ts';
import { isDeeperThan } from '../../core/json-depth.ts';
import { addToolNote, MAX_TOOLS, type McpTool } from '../../core/mcp.ts';
import { isStorable, isStorableJson } from '../../core/storable-text.ts';

/** Maximum number of characters of the name of a tool. */
const MAX_TOOL_NAME = 128;
/** Maximum size of the description of a tool. */
const MAX_TOOL_DESCRIPTION_BYTES = 8 * 1024;
/** Maximum size of the JSON Schema of the arguments of a tool. */
const MAX_TOOL_SCHEMA_BYTES = 64 * 1024;
/** Maximum number of nested objects and lists in this schema. */
const MAX_TOOL_SCHEMA_DEPTH = 100;

/** A tool of a toolkit, with its approval. */
export interface ApprovableTool extends McpTool {
  approved: boolean;
}

/** Names of the tools that differ from the former discovery, in order. */
export interface ToolDiff {
  added: string[];
  removed: string[];
  changed: string[];
}

/**
 * Returns the tools after a discovery, in the order of `found`, and the changes. At first discovery all are approved.
 * Later, added and changed tools wait for approval; the others keep their approval. `altered` has the names of tools
 * that behave differently from before with the same description and schema.
 */
export function applyDiscovery(
  former: readonly ApprovableTool[],
  found: readonly McpTool[],
  isFirst: boolean,
  altered: ReadonlySet<string> = new Set(),
): { tools: ApprovableTool[]; diff: ToolDiff } {
  const formerByName = new Map(former.map((tool) => [tool.name, tool]));
  const names = new Set(found.map(({ name }) => name));
  const diff: ToolDiff = {
    added: [],
    removed: former.map(({ name }) => name).filter((name) => !names.has(name)),
    changed: [],
  };
  const tools = found.map(({ name, description, inputSchema }) => {
    const before = formerByName.get(name);
    const tool = { name, description: description || null, inputSchema };
    if (before && !altered.has(name) && isSameTool(before, tool))
      return { ...tool, approved: isFirst || before.approved };
    diff[before ? 'changed' : 'added'].push(name);
    return { ...tool, approved: isFirst };
  });
  return { tools, diff };
}

/** The order of keys does not count, because the database does not keep it. */
const isSameTool = (a: McpTool, b: McpTool): boolean =>
  (a.description || null) === b.description && isDeepStrictEqual(asStored(a.inputSchema), asStored(b.inputSchema));

/** Returns JSON as the database returns it: -0 is 0 there. */
export const asStored = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;

/**
 * Throws the error that `createError` returns for the first tool past a limit. `createError` takes the path of the
 * value below the list, e.g. `[3, 'name']`, and the issue, e.g. `must be unique`.
 */
export function checkToolLimits(
  tools: readonly McpTool[],
  createError: (path: (string | number)[], message: string) => ApiError,
): void {
  if (tools.length > MAX_TOOLS) throw createError([], `must have at most ${MAX_TOOLS} tools`);
  const names = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    const problem = findProblem(tool);
    if (problem) throw createError([index, problem.key], problem.message);
    if (names.has(tool.name)) throw createError([index, 'name'], `must be unique: ${JSON.stringify(tool.name)} is not`);
    names.add(tool.name);
  }
}

/** Returns the tools within the limits of a single tool. The others get a note. */
export const selectStorable = (tools: readonly McpTool[], notes: string[]): McpTool[] =>
  tools.filter((tool, index) => {
    const problem = findProblem(tool);
    if (problem) addToolNote(notes, { name: tool.name, index }, `${problem.key} ${problem.message}`);
    return !problem;
  });

function findProblem({ name, description, inputSchema }: McpTool): { key: keyof McpTool; message: string } | undefined {
  if (name.trim() === '') return { key: 'name', message: 'must not be empty' };
  if (lengthOf(name) > MAX_TOOL_NAME) return { key: 'name', message: `must have at most ${MAX_TOOL_NAME} characters` };
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name) || !name.isWellFormed())
    return { key: 'name', message: 'must not contain control characters' };
  if (Buffer.byteLength(description ?? '') > MAX_TOOL_DESCRIPTION_BYTES)
    return { key: 'description', message: `must have at most ${MAX_TOOL_DESCRIPTION_BYTES / 1024} KiB` };
  if (!isStorable(description ?? '')) return { key: 'description', message: 'must be Unicode without NUL' };
  if (isDeeperThan(inputSchema, MAX_TOOL_SCHEMA_DEPTH))
    return { key: 'inputSchema', message: `must nest at most ${MAX_TOOL_SCHEMA_DEPTH} levels` };
  if (Buffer.byteLength(JSON.stringify(inputSchema)) > MAX_TOOL_SCHEMA_BYTES)
    return { key: 'inputSchema', message: `must have at most ${MAX_TOOL_SCHEMA_BYTES / 1024} KiB as JSON` };
  if (!isStorableJson(inputSchema)) return { key: 'inputSchema', message: 'must be Unicode without NUL' };
  return undefined;
}
