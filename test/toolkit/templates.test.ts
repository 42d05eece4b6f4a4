import { expect } from 'vitest';
import { TOOLKIT_TEMPLATES, type ToolkitTemplate } from '../../src/services/toolkit/toolkit-template.ts';
import { expectBody, expectStatus } from '../support/expect.ts';
import { test } from './toolkit-fixture.ts';

/** Returns the config of a template with a value at each of its placeholders. */
function fillIn({ config, placeholders }: ToolkitTemplate): Record<string, unknown> {
  const record = structuredClone({ config }) as Record<string, any>;
  for (const { path } of placeholders) {
    const keys = path.split('.');
    const last = keys.pop()!;
    const parent = keys.reduce((at, key) => at[key], record);
    expect(parent[last], path).toBe('');
    parent[last] = last === 'url' ? 'https://api.example.com/search?q={{query}}' : 'filled in';
  }
  return record['config'];
}

test('the templates are a plain list, in both APIs', async ({ ann, anonymous }) => {
  await expectStatus(anonymous.get('/toolkit-templates'), 401);
  const { body } = await ann.get('/toolkit-templates');
  expect(body).toEqual(TOOLKIT_TEMPLATES);
  const { toolkitTemplates } = await ann.data(
    `{ toolkitTemplates { id name description icon type config placeholders { path label secret } } }`,
  );
  expect(toolkitTemplates).toEqual(body);
  expect(new Set(TOOLKIT_TEMPLATES.map(({ id }) => id)).size).toBe(TOOLKIT_TEMPLATES.length);
});

test.for(TOOLKIT_TEMPLATES)('a toolkit of the template $id can be created', async (template, { eve }) => {
  const { name, type } = template;
  const config = fillIn(template);
  const created = await expectBody(eve.post('/toolkits', { name, type, config }), 201, { name, type });
  for (const { path, secret } of template.placeholders) {
    const shown = path.split('.').reduce((at, key) => at[key], created);
    expect(shown === '••••', path).toBe(secret);
  }
  if (type === 'custom') return;
  const parsed = await parse(eve, { type, config });
  expect(parsed).toEqual({ type, config });
});

const parse = async (client: { post: (path: string, body: object) => Promise<{ body: any }> }, config: object) =>
  (await client.post('/toolkit-parse-config', { config })).body.normalized;
