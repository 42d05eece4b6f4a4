import { isDeepStrictEqual } from 'node:util';
import { SAVED_QUERY } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { isUuid } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';
import { MASK } from '../../core/mask.ts';
import type { McpTool } from '../../core/mcp.ts';
import type { Transaction } from '../../core/platform.ts';
import { loadUsedResource } from '../resource/load-resource.ts';
import { checkIsSchema } from '../resource/schema-validation.ts';
import { asStored, checkToolLimits } from './tool-list.ts';
import type { CustomConfig, CustomTool, ToolRequest } from './toolkit-driver.ts';

/** Needs no backtracking: texts are long. */
const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

/** Throws BAD_USER_INPUT naming the issue of a custom tool. Masked headers are not checked. */
export function checkCustomTools(tools: readonly CustomTool[]): void {
  checkToolLimits(tools, (path, message) => invalid(['config', 'tools', ...path].join('.'), message));
  for (const [index, tool] of tools.entries()) checkTool(tool, `config.tools.${index}`);
}

function checkTool({ inputSchema, queryId, request }: CustomTool, path: string): void {
  if ((queryId === undefined) === (request === undefined)) throw invalid(path, 'must have either queryId or request');
  checkIsSchema(inputSchema, `${path}.inputSchema`);
  const { type = 'object', properties = {} } = inputSchema as { type?: unknown; properties?: Record<string, unknown> };
  if (type !== 'object') throw invalid(`${path}.inputSchema.type`, 'must be object');
  if (request) checkRequest(request, new Set(Object.keys(properties)), `${path}.request`);
}

function checkRequest({ url, method, headers, body }: ToolRequest, declared: Set<string>, path: string): void {
  if (method === 'GET' && body !== undefined) throw invalid(`${path}.body`, 'must be absent with the method GET');
  checkPlaceholders(url, declared, `${path}.url`);
  for (const [name, value] of Object.entries(headers)) {
    if (value !== MASK) checkPlaceholders(value, declared, `${path}.headers.${name}`);
  }
  for (const text of textsIn(body)) checkPlaceholders(text, declared, `${path}.body`);
}

/** The message contains no text of a header except the name between the braces. */
function checkPlaceholders(text: string, declared: Set<string>, path: string): void {
  for (const [, inner] of text.matchAll(PLACEHOLDER)) {
    const name = inner!.trim();
    if (!declared.has(name))
      throw invalid(
        path,
        `contains the argument ${JSON.stringify(name)}, which inputSchema.properties does not declare`,
      );
  }
}

/** Returns all texts within a JSON value, keys included. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [...(Array.isArray(value) ? [] : [key]), ...textsIn(inner)]);
}

/**
 * Returns a URL with an example in place of each argument. Throws BAD_USER_INPUT if an argument could change the host,
 * and thereby the recipient of headers.
 */
export function toExampleUrl(url: string, path: string): string {
  const placeholder = url.search(/\{\{/);
  const origin = /^https?:\/\/[^/?#\\{}]+(?=[/?#]|$)/i.exec(url)?.[0];
  if (placeholder >= 0 && (origin === undefined || placeholder < origin.length))
    throw invalid(path, 'must begin with a scheme and a host without arguments');
  return url.replace(PLACEHOLDER, 'x');
}

/** Returns the tools that a config of the driver `custom` defines. */
export const toolsOf = ({ tools }: CustomConfig): McpTool[] =>
  tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));

/** Returns the names of the tools that run another query or send another request than before. */
export function findAltered(former: CustomConfig, { tools }: CustomConfig): Set<string> {
  const before = new Map(former.tools.map(({ name, queryId, request }) => [name, asStored([queryId, request])]));
  const isAltered = ({ name, queryId, request }: CustomTool) =>
    before.has(name) && !isDeepStrictEqual(before.get(name), asStored([queryId, request]));
  return new Set(tools.filter(isAltered).map(({ name }) => name));
}

/**
 * Returns a config with the ids of the saved queries that it names. Throws NOT_FOUND for a query that the caller cannot
 * read, unless the former config names it too.
 */
export async function resolveQueries(
  ctx: Context,
  tx: Transaction,
  config: CustomConfig,
  former: CustomConfig | null,
): Promise<CustomConfig> {
  const known = new Map((former?.tools ?? []).flatMap(({ queryId }) => (queryId ? [[queryId, queryId]] : [])));
  const tools: CustomTool[] = [];
  for (const tool of config.tools) {
    if (tool.queryId === undefined) {
      tools.push(tool);
      continue;
    }
    const key = isUuid(tool.queryId) ? tool.queryId.toLowerCase() : tool.queryId;
    let id = known.get(key);
    if (id === undefined) {
      id = (await loadUsedResource(ctx, tx, SAVED_QUERY, key, 'query:read')).id;
      known.set(key, id);
    }
    tools.push({ ...tool, queryId: id });
  }
  return { ...config, tools };
}
