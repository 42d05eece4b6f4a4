import { describe, expect } from 'vitest';
import { expectStatus } from '../support/expect.ts';
import { systemQuery } from '../support/system-query.ts';
import { callOf, createAgent, createTools, resultsOf, runAgent, test, DONE, ID_SCHEMA } from './agent-fixture.ts';

describe('a custom tool', () => {
  test('sends its request with bound arguments, and its secrets are seen nowhere', async ({
    eve,
    ai,
    target,
    service,
  }) => {
    const toolkitId = await createTools(eve, [
      {
        name: 'lookup',
        description: 'Looks up',
        inputSchema: { type: 'object', properties: { id: { type: 'string' }, name: { type: 'string' } } },
        request: {
          url: `${target.url}/items/{{id}}?q={{name}}`,
          method: 'POST',
          headers: { Authorization: 'Bearer very-secret-key', 'X-Name': 'n {{id}}' },
          body: { id: '{{id}}', text: 'Hello {{name}}' },
        },
      },
    ]);
    target.respond = ({ headers }) => ({ body: `You sent ${headers.authorization}` });
    const agent = await createAgent(eve, { toolkitIds: [toolkitId] });
    const args = { id: 'a/../b', name: '"}&x=1' };
    const run = await runAgent(eve, agent, ai, [callOf('lookup', args), DONE]);
    expect(target.requests).toHaveLength(1);
    expect(target.requests[0]).toMatchObject({
      method: 'POST',
      url: '/items/a%2F..%2Fb?q=%22%7D%26x%3D1',
      headers: { authorization: 'Bearer very-secret-key', 'x-name': 'n a/../b' },
    });
    expect(target.requests[0]!.headers['dws-agent-chain']).toBeUndefined();
    expect(JSON.parse(target.requests[0]!.body)).toEqual({ id: 'a/../b', text: 'Hello "}&x=1' });
    expect(run).toMatchObject({
      status: 'succeeded',
      steps: [
        {
          toolCalls: [
            {
              name: 'lookup',
              arguments: JSON.stringify(args),
              result: '{"status":200,"body":"You sent …"}',
              error: null,
            },
          ],
        },
        { text: 'done' },
      ],
    });
    expect(resultsOf(ai)).toEqual(['{"status":200,"body":"You sent …"}']);
    const stored = await systemQuery(service, 'select row_to_json(r)::text as row from dws.agent_run r');
    expect(JSON.stringify([run, stored, ai.calls])).not.toContain('very-secret-key');
  });

  test('has secrets among its arguments and in its URL, which appear nowhere', async ({ eve, ai, target }) => {
    const toolkitId = await createTools(eve, [
      {
        name: 'lookup',
        inputSchema: ID_SCHEMA,
        request: { url: `${target.url}/?key=secret-in-query&id={{id}}`, headers: { 'X-Key': 'k=secret-key;u={{id}}' } },
      },
    ]);
    target.respond = ({ url, headers }) => ({ body: `${url} ${String(headers['x-key'])}` });
    const agent = await createAgent(eve, { toolkitIds: [toolkitId] });
    const run = await runAgent(eve, agent, ai, [callOf('lookup', { id: 'ann' }), DONE]);
    expect(target.requests[0]!.headers['x-key']).toBe('k=secret-key;u=ann');
    expect(resultsOf(ai)).toEqual(['{"status":200,"body":"/?key=…&id=ann …ann"}']);
    expect(JSON.stringify([run, ai.calls])).not.toMatch(/secret-(?:key|in-query)/);
  });

  test('that fails is a result for the model', async ({ eve, ai, target }) => {
    const toolkitId = await createTools(eve, [
      { name: 'fails', request: { url: target.url } },
      { name: 'unreachable', request: { url: 'http://127.0.0.1:1/' } },
      { name: 'private', request: { url: 'http://dws.invalid/' } },
      { name: 'header', inputSchema: ID_SCHEMA, request: { url: target.url, headers: { 'X-A': '{{id}}' } } },
    ]);
    target.respond = () => ({ status: 404, body: 'nothing here' });
    const agent = await createAgent(eve, { toolkitIds: [toolkitId] });
    const toolCalls = [
      ['fails', {}],
      ['unreachable', {}],
      ['private', {}],
      ['header', { id: 'x\r\nHost: evil' }],
      ['header', { id: 7 }],
      ['nothing', {}],
    ].map(([name, args]) => ({ name: name as string, arguments: args as Record<string, unknown> }));
    const run = await runAgent(eve, agent, ai, [{ content: null, toolCalls }, DONE]);
    expect(run.status).toBe('succeeded');
    expect(run.steps[0].toolCalls.map(({ error }: { error: string }) => error)).toEqual([
      'The host responded with 404',
      expect.stringMatching(/127\.0\.0\.1/),
      expect.stringMatching(/dws\.invalid/),
      expect.stringMatching(/^id must not contain control characters/),
      'arguments.id must be string',
      'There is no tool "nothing"',
    ]);
    expect(resultsOf(ai)[0]).toBe('{"status":404,"body":"nothing here"}');
    expect(target.requests).toHaveLength(1);
  });

  test('has a result of 64 KB at most', async ({ eve, ai, target }) => {
    const toolkitId = await createTools(eve, [{ name: 'large', request: { url: target.url } }]);
    target.respond = () => ({ body: 'ä'.repeat(3_000_000) });
    const agent = await createAgent(eve, { toolkitIds: [toolkitId] });
    const run = await runAgent(eve, agent, ai, [callOf('large'), DONE]);
    expect(run.status).toBe('succeeded');
    expect(Buffer.byteLength(resultsOf(ai)[0]!)).toBeLessThanOrEqual(65_536);
    expect(resultsOf(ai)[0]).toMatch(/ä\n\[The result is longer/);
    expect(run.steps[0].toolCalls[0].result.length).toBeLessThanOrEqual(4096);
  });

  test('that is not approved, or changes during a run, is not called', async ({ eve, ai, target }) => {
    const tools = [
      { name: 'first', request: { url: target.url } },
      { name: 'second', request: { url: target.url } },
    ];
    const toolkitId = await createTools(eve, tools);
    const agent = await createAgent(eve, { toolkitIds: [toolkitId] });
    await eve.put(`/toolkits/${toolkitId}`, {
      config: { tools: [tools[0], { ...tools[1], request: { url: `${target.url}/other` } }] },
    });
    const both = { content: null, toolCalls: ['first', 'second'].map((name) => ({ name, arguments: {} })) };
    const run = await runAgent(eve, agent, ai, [both, DONE]);
    expect(ai.calls[0]!.tools!.map((tool) => tool.function.name)).toEqual(['first']);
    expect(run.steps[0].toolCalls.map(({ error }: { error: string }) => error)).toEqual([
      null,
      'There is no tool "second"',
    ]);
    expect(target.requests).toHaveLength(1);

    ai.onCall = () =>
      void eve.put(`/toolkits/${toolkitId}`, {
        config: { tools: [{ ...tools[0], request: { url: `${target.url}/new` } }] },
      });
    ai.behaviors.push({ delayMs: 500 });
    const changed = await runAgent(eve, agent, ai, [callOf('first'), DONE]);
    expect(changed.steps[0].toolCalls[0].error).toMatch(/^The tool is no longer available/);
    expect(target.requests).toHaveLength(1);
    ai.onCall = () => {};

    await expectStatus(eve.post(`/toolkits/${toolkitId}/tools/_approve`, {}), 200);
    ai.onCall = () => void eve.put(`/toolkits/${toolkitId}`, { enabled: false });
    ai.behaviors.push({ delayMs: 500 });
    const disabled = await runAgent(eve, agent, ai, [callOf('first'), DONE]);
    expect(disabled.steps[0].toolCalls[0].error).toMatch(/^The tool is no longer available/);
    const without = await runAgent(eve, agent, ai, [DONE]);
    expect(without.notes).toEqual([expect.stringMatching(/^The toolkit "Tools .*" is left out: it is disabled$/)]);
  });

  test('is left out if the owner cannot read its toolkit, or no process can be started', async ({
    eve,
    ann,
    ai,
    target,
  }) => {
    const hidden = await createTools(eve, [{ name: 'hidden', request: { url: target.url } }]);
    const stdio = await eve.creates('/toolkits', { name: 'Local', type: 'mcp-stdio', config: { command: 'npx' } });
    const { assistantId } = await createAgent(eve, { toolkitIds: [hidden, stdio.id] });
    await eve.put(`/assistants/${assistantId}/shares/ann`, { accessLevel: 2 });
    await eve.put(`/toolkits/${stdio.id}/shares/ann`, { accessLevel: 1 });
    const { id } = await ann.creates('/agents', { name: 'Of ann', assistantId });
    const run = await runAgent(ann, { path: `/agents/${id}` }, ai, [callOf('hidden'), DONE]);
    expect(run.notes).toEqual([
      '1 toolkit(s) are left out: the owner of the agent cannot read them',
      'The toolkit "Local" is left out: the service starts no processes, which its tools require',
    ]);
    expect(run.steps[0].toolCalls[0].error).toBe('There is no tool "hidden"');
    expect(target.requests).toHaveLength(0);
  });
});
