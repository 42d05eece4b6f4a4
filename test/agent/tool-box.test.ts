import { describe, expect, test } from 'vitest';
import type { Context } from '../../src/core/context.ts';
import { ApiError, conflict } from '../../src/core/errors.ts';
import type { AgentTool } from '../../src/services/agent/tools/agent-tool.ts';
import { MAX_AGENT_TOOLS, openToolBox } from '../../src/services/agent/tools/tool-box.ts';
import { cutResult, excerpt, maskSecrets, MAX_RESULT_BYTES } from '../../src/services/agent/tools/tool-result.ts';

const warnings: unknown[] = [];
const ctx = {
  request: { signal: new AbortController().signal },
  platform: { log: { warn: (entry: unknown) => warnings.push(entry) } },
} as unknown as Context;

const toolOf = (name: string, more: Partial<AgentTool> = {}): AgentTool => ({
  name,
  description: '',
  parameters: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false },
  call: async (_, args) => ({ text: JSON.stringify(args) }),
  ...more,
});
const boxOf = (...tools: AgentTool[]) => openToolBox({ tools, notes: [] });
const call = (tool: AgentTool, args: string, name = tool.name) =>
  boxOf(tool).call(ctx, { id: '1', name, arguments: args });

describe('names of tools', () => {
  test('are valid for providers, and unique', () => {
    const long = 'x'.repeat(100);
    const names = ['a.b c', 'a_b_c', 'Zoë', '…', long, `${long}y`, 'a b c'].map((name) => toolOf(name));
    expect(boxOf(...names).tools.map(({ name }) => name)).toEqual([
      'a_b_c',
      'a_b_c_2',
      'Zo_',
      '_',
      'x'.repeat(64),
      `${'x'.repeat(62)}_2`,
      'a_b_c_3',
    ]);
  });

  test('are at most 128', () => {
    const { tools, notes } = boxOf(...Array.from({ length: MAX_AGENT_TOOLS + 2 }, (_, index) => toolOf(`t${index}`)));
    expect(tools).toHaveLength(MAX_AGENT_TOOLS);
    expect(notes).toEqual(['2 tool(s) are left out: an agent has at most 128']);
  });
});

describe('schemas of tools', () => {
  test.each([
    ['pattern that needs backtracking', { properties: { a: { pattern: '(a)\\1' } } }],
    ['reference to another document', { properties: { a: { $ref: 'https://example.com/a.json' } } }],
    ['reference to itself', { properties: { a: { $ref: '#' } } }],
    ['unknown draft', { $schema: 'http://json-schema.org/draft-03/schema' }],
    [
      'many parts',
      { properties: Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`p${i}`, { type: 'string' }])) },
    ],
    ['no schema', { properties: 7, enum: 3, required: { a: 1 }, pattern: 5 }],
  ])('are left out, or never checked at length: %s', (_, parameters) => {
    const { tools, notes } = boxOf(toolOf('odd', { parameters }), toolOf('good'));
    expect(tools.at(-1)!.name).toBe('good');
    if (tools.length === 1) expect(notes).toEqual([expect.stringMatching(/^The tool "odd" is left out: /)]);
  });

  test('that multiply references are left out immediately', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [
        `d${i}`,
        { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
      ]),
    );
    const startedAt = performance.now();
    const parameters = { $defs: { ...$defs, d40: { type: 'object' } }, $ref: '#/$defs/d0' };
    expect(boxOf(toolOf('bomb', { parameters })).tools).toEqual([]);
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });
});

const fails = (error: Error) => async (): Promise<never> => {
  throw error;
};

describe('a call', () => {
  test('gets arguments that fit the schema', async () => {
    expect(await call(toolOf('t'), '{"n": 1}')).toEqual({ text: '{"n":1}' });
  });

  test.each([
    ['', 'arguments.n is required'],
    ['{"n": "1"}', 'arguments.n must be integer'],
    ['{"n": 1, "x": 2}', 'arguments.x is unknown'],
    ['{"n": 1', 'The arguments are not well-formed JSON'],
    ['[1]', 'The arguments must be an object'],
    ['null', 'The arguments must be an object'],
    [`{"n": 1, "x": ${'['.repeat(5000)}${']'.repeat(5000)}}`, 'The arguments nest deeper than 256 levels'],
    [`{"x": "${'y'.repeat(70_000)}"}`, 'The arguments have more than 64 KiB'],
    ['{"__proto__": {"n": 1}}', 'arguments.n is required'],
  ])('with wrong arguments is an error for the model: %.40s', async (args, message) => {
    let isCalled = false;
    const tool = toolOf('t', {
      call: async () => {
        isCalled = true;
        return { text: '' };
      },
    });
    expect(await call(tool, args)).toEqual({ text: `Error: ${message}`, error: message });
    expect(isCalled).toBe(false);
  });

  test('of an unknown tool is an error for the model', async () => {
    expect(await call(toolOf('t'), '{}', 'constructor')).toMatchObject({ error: 'There is no tool "constructor"' });
  });

  test('that fails is an error for the model, without what is not meant for it', async () => {
    const failing = (error: Error) => toolOf('t', { call: fails(error) });
    expect(await call(failing(conflict('In words')), '{"n": 1}')).toEqual({
      text: 'Error: In words',
      error: 'In words',
    });
    expect(await call(failing(new TypeError('of our code')), '{"n": 1}')).toMatchObject({ error: 'The tool failed' });
    expect(warnings).toHaveLength(1);
    expect(conflict('x')).toBeInstanceOf(ApiError);
  });

  test('has a result of at most 64 KB', async () => {
    const { text } = await call(toolOf('t', { call: async () => ({ text: '€'.repeat(100_000) }) }), '{"n": 1}');
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_RESULT_BYTES);
    expect(text).toMatch(/^€+\n\[The result is longer\. The rest was left out\.\]$/);
  });
});

describe('texts of results', () => {
  test('are cut between characters', () => {
    for (let size = 90; size < 100; size += 1) {
      const text = cutResult('😀'.repeat(100), size);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(size);
      expect(text.isWellFormed() && !text.includes('\uFFFD')).toBe(true);
    }
    expect(cutResult('short\0')).toBe('short');
    expect(excerpt('😀'.repeat(3000)).isWellFormed()).toBe(true);
    expect(excerpt('😀'.repeat(3000)).length).toBeLessThanOrEqual(4096);
  });

  test('contain no secrets, however they are written', () => {
    const secret = 'a"b c';
    expect(maskSecrets(`${secret} ${JSON.stringify({ secret })} ${encodeURIComponent(secret)}`, [secret])).toBe(
      '… {"secret":"…"} …',
    );
  });
});
