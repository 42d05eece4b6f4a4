import { describe, expect, test } from 'vitest';
import { badInput } from '../../src/core/errors.ts';
import type { McpTool } from '../../src/core/mcp.ts';
import { applyDiscovery, checkToolLimits, type ApprovableTool } from '../../src/services/toolkit/tool-list.ts';

const SCHEMA = { type: 'object', properties: { a: { type: 'number', default: 0 }, b: { type: 'string' } } };
const tool = (name: string, more: Partial<McpTool> = {}): McpTool => ({
  name,
  description: null,
  inputSchema: SCHEMA,
  ...more,
});
const approved = (...tools: McpTool[]): ApprovableTool[] => tools.map((one) => ({ ...one, approved: true }));
const waiting = (...tools: McpTool[]): ApprovableTool[] => tools.map((one) => ({ ...one, approved: false }));

interface Case {
  title: string;
  former: ApprovableTool[];
  found: McpTool[];
  isFirst?: boolean;
  tools: ApprovableTool[];
  diff?: Partial<ReturnType<typeof applyDiscovery>['diff']>;
}

const REORDERED = { properties: { b: { type: 'string' }, a: { default: -0, type: 'number' } }, type: 'object' };
const CASES: Case[] = [
  {
    title: 'the first discovery approves all tools',
    former: [],
    found: [tool('a'), tool('b')],
    isFirst: true,
    tools: approved(tool('a'), tool('b')),
    diff: { added: ['a', 'b'] },
  },
  {
    title: 'an equal list changes nothing, approved or not',
    former: [...approved(tool('a')), ...waiting(tool('b'))],
    found: [tool('a'), tool('b')],
    tools: [...approved(tool('a')), ...waiting(tool('b'))],
  },
  {
    title: 'an added tool waits',
    former: approved(tool('a')),
    found: [tool('b'), tool('a')],
    tools: [...waiting(tool('b')), ...approved(tool('a'))],
    diff: { added: ['b'] },
  },
  {
    title: 'a tool with another description waits',
    former: approved(tool('a')),
    found: [tool('a', { description: 'Now different' })],
    tools: waiting(tool('a', { description: 'Now different' })),
    diff: { changed: ['a'] },
  },
  {
    title: 'a tool with another schema waits',
    former: approved(tool('a')),
    found: [tool('a', { inputSchema: { type: 'object' } })],
    tools: waiting(tool('a', { inputSchema: { type: 'object' } })),
    diff: { changed: ['a'] },
  },
  {
    title: 'the order of keys and an empty description are not a change',
    former: approved(tool('a')),
    found: [tool('a', { description: '', inputSchema: REORDERED })],
    tools: approved(tool('a', { inputSchema: REORDERED })),
  },
  {
    title: 'a removed tool that returns waits',
    former: approved(tool('a')),
    found: [tool('a'), tool('b')],
    tools: [...approved(tool('a')), ...waiting(tool('b'))],
    diff: { added: ['b'] },
  },
  {
    title: 'tools are removed',
    former: approved(tool('a'), tool('b'), tool('c')),
    found: [tool('b')],
    tools: approved(tool('b')),
    diff: { removed: ['a', 'c'] },
  },
];

describe('a discovery', () => {
  test.each(CASES)('$title', ({ former, found, isFirst = false, tools, diff }) => {
    const result = applyDiscovery(former, found, isFirst);
    expect(result.tools).toEqual(tools);
    expect(result.diff).toEqual({ added: [], removed: [], changed: [], ...diff });
  });
});

describe('limits of tools', () => {
  const problemOf = (tools: McpTool[]): string | null => {
    try {
      checkToolLimits(tools, (path, message) => badInput(`${path.join('.')} ${message}`));
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const nested = (depth: number): Record<string, unknown> =>
    Array.from({ length: depth - 1 }).reduce<Record<string, unknown>>((inner) => ({ inner }), {});

  test.each([
    ['500 tools', Array.from({ length: 500 }, (_, index) => tool(`t${index}`))],
    ['a name of 128 characters', [tool('😀'.repeat(128))]],
    ['a description of 8 KiB', [tool('a', { description: 'x'.repeat(8192) })]],
    ['a schema of 64 KiB', [tool('a', { inputSchema: { x: 'x'.repeat(65536 - 8) } })]],
    ['a schema with 100 levels', [tool('a', { inputSchema: nested(100) })]],
  ])('%s are allowed', (_, tools) => {
    expect(problemOf(tools)).toBeNull();
  });

  test.each<[string, McpTool[]]>([
    [' must have at most 500 tools', Array.from({ length: 501 }, (_, index) => tool(`t${index}`))],
    ['0.name must not be empty', [tool(' ')]],
    ['0.name must have at most 128 characters', [tool('😀'.repeat(129))]],
    ['0.name must have at most 128 characters', [tool('x'.repeat(100_000))]],
    ['0.name must not contain control characters', [tool('a\u001b[31mb')]],
    ['0.name must not contain control characters', [tool('a\u0085b')]],
    ['0.name must not contain control characters', [tool('a\ud800b')]],
    ['1.name must be unique: "a" is not', [tool('a'), tool('a')]],
    ['0.description must have at most 8 KiB', [tool('a', { description: 'x'.repeat(8193) })]],
    ['0.description must be Unicode without NUL', [tool('a', { description: 'a\u0000' })]],
    ['0.inputSchema must have at most 64 KiB as JSON', [tool('a', { inputSchema: { x: 'x'.repeat(65536 - 7) } })]],
    ['0.inputSchema must nest at most 100 levels', [tool('a', { inputSchema: nested(101) })]],
    ['0.inputSchema must be Unicode without NUL', [tool('a', { inputSchema: { properties: { 'a\u0000': {} } } })]],
    ['0.inputSchema must be Unicode without NUL', [tool('a', { inputSchema: { default: ['\udc00'] } })]],
  ])('%s', (message, tools) => {
    expect(problemOf(tools)).toBe(message);
  });
});
