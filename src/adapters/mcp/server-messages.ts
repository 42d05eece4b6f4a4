import { specTypeSchemas, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { isObject } from '../../core/criteria/value.ts';
import { addToolNote } from '../../core/mcp.ts';

/** A tool as the SDK gets it. The SDK checks whole lists, and refuses them for a key that this service does not use. */
interface RawTool {
  name?: unknown;
  description?: unknown;
  inputSchema?: unknown;
}

/**
 * Reads each message of a server before the SDK does, which refuses a whole result for one value. A null in the place
 * of an optional value counts as absent. Tools that do not follow the protocol are left out. Returns the notes about
 * them, which grow with the messages. `check` runs on each message before.
 */
export function readServerMessages(
  transport: Transport,
  check: (message: JSONRPCMessage) => void = () => {},
): string[] {
  const notes: string[] = [];
  let handler = transport.onmessage;
  Object.defineProperty(transport, 'onmessage', {
    get: () => handler,
    set(next: typeof handler) {
      handler =
        next &&
        ((message, extra) => {
          check(message);
          if ('result' in message) readResult(message.result, notes);
          next(message, extra);
        });
    },
  });
  return notes;
}

function readResult(result: Record<string, unknown>, notes: string[]): void {
  removeNulls(result);
  const { serverInfo, capabilities, content, tools } = result;
  removeNulls(serverInfo);
  removeNulls(capabilities);
  if (isObject(capabilities)) Object.values(capabilities).forEach(removeNulls);
  if (Array.isArray(content)) content.forEach(removeNulls);
  if (Array.isArray(tools)) result.tools = readTools(tools, notes);
}

/** Removes the keys of an object whose value is null. */
function removeNulls(value: unknown): void {
  if (!isObject(value)) return;
  for (const key of Object.keys(value)) if (value[key] === null) delete value[key];
}

/** Returns the tools of a list that are of the protocol, with the keys that this service uses. */
function readTools(tools: readonly unknown[], notes: string[]): RawTool[] {
  const found: RawTool[] = [];
  for (const [index, tool] of tools.entries()) {
    removeNulls(tool);
    const { name, description, inputSchema } = (isObject(tool) ? tool : {}) as RawTool;
    const read = { name, ...(description !== undefined && { description }), inputSchema };
    const problem = findProblem(read);
    if (problem === undefined) found.push(read);
    else addToolNote(notes, { name, index }, problem);
  }
  return found;
}

/** Returns why a tool is not of the protocol. */
function findProblem(tool: RawTool): string | undefined {
  try {
    const outcome = specTypeSchemas.Tool['~standard'].validate(tool);
    if (outcome instanceof Promise || !outcome.issues) return undefined;
    const [{ message, path = [] } = { message: 'it is not of the protocol' }] = outcome.issues;
    const place = path.map((key) => String(typeof key === 'object' ? key.key : key)).join('.');
    return `${place || 'it'}: ${message}`;
  } catch {
    // A schema with more levels than the stack takes.
    return 'inputSchema: it nests too many levels';
  }
}
