import { expect } from 'vitest';
import { openSandbox } from '../../src/adapters/sandbox/sandbox.ts';
import { createNunjucksEngine } from '../../src/adapters/template-engine/nunjucks-engine.ts';
import { ENGINE_LIMITS } from '../../src/adapters/template-engine/sandboxed-engine.ts';
import type { TemplateEngine } from '../../src/core/template-engine.ts';
import { createRenderable, render, test as base } from './render-fixture.ts';

/** Lets templates run for 3 seconds instead of 30. All other limits are the limits of the product. */
const test = base.extend<{ limitTime: () => void }>({
  limitTime: async ({ service }, use) => {
    const engines = service.platform.templateEngines as Map<string, TemplateEngine>;
    const unlimited = engines.get('nunjucks')!;
    const sandbox = openSandbox();
    await use(() => engines.set('nunjucks', createNunjucksEngine(sandbox, { ...ENGINE_LIMITS, timeoutMs: 3000 })));
    engines.set('nunjucks', unlimited);
    await sandbox.close();
  },
});

/** A loop over a billion numbers, written without a list of them. */
const ENDLESS = ['i', 'j', 'k'].reduceRight(
  (body, name) => `{% for ${name} in range(0, 1000) %}${body}{% endfor %}`,
  '',
);
const DOUBLED = (times: number) => `{% set x = '0123456789abcdef' %}${'{% set x = x + x %}'.repeat(times)}`;

const HOSTILE: readonly [string, string, object, { status: number; code: string; message: RegExp }][] = [
  ['loops', ENDLESS, {}, { status: 504, code: 'TIMEOUT', message: /longer than 3 seconds/ }],
  [
    'takes memory',
    `${DOUBLED(20)}{% set list = [] %}{% for i in range(0, 60) %}{{ list.push((x + i) | upper) }}{% endfor %}`,
    {},
    { status: 500, code: 'UPSTREAM_FAILED', message: /memory/ },
  ],
  [
    'writes 60 MB',
    `${DOUBLED(16)}{% for i in range(0, 60) %}{{ x }}{% endfor %}`,
    { handler: 'text' },
    { status: 413, code: 'PAYLOAD_TOO_LARGE', message: /more than 50/ },
  ],
  [
    'writes 6 MB of HTML for a PDF',
    `${DOUBLED(16)}{% for i in range(0, 6) %}{{ x }}{% endfor %}`,
    { handler: 'pdf' },
    { status: 413, code: 'PAYLOAD_TOO_LARGE', message: /HTML of the PDF has more than 5/ },
  ],
  ['includes itself', `{% include 'hostile.njk' %}`, {}, { status: 400, code: 'BAD_USER_INPUT', message: /./ }],
  [
    'looks for the process',
    `{{ ''.constructor.constructor('return process.env')() }}`,
    {},
    { status: 400, code: 'BAD_USER_INPUT', message: /./ },
  ],
];

test.for(HOSTILE)(
  'a template that %s is refused, and the next one is right',

  async ([, content, body, expected], { ann, limitTime, service }) => {
    if (expected.code === 'TIMEOUT') limitTime();
    const hostile = await createRenderable(ann, { files: { 'hostile.njk': content } });
    const good = await createRenderable(ann, { files: { 'good.njk': '{{ 6 * 7 }}' } }, { handler: 'text' });
    const { status, error, text } = await render(ann, hostile.path, body);
    expect({ status, code: error?.code }, text.slice(0, 300)).toEqual({ status: expected.status, code: expected.code });
    expect(error.message).toMatch(expected.message);
    expect(JSON.stringify(error)).not.toMatch(/node_modules|\/src\/|at .*:\d+:\d+\)/);
    expect((await render(ann, good.path)).text).toBe('42');
    expect((await ann.get(`${hostile.path}/renditions`)).body.total).toBe(0);
    expect((await fetch(`${service.url}/healthz`)).status).not.toBe(500);
  },
);

test('DATA files that do not parse are mistakes with their file and line', async ({ ann }) => {
  const { path } = await createRenderable(
    ann,
    {
      files: { 'data.njk': `{{ data['bad.json'].a }}` },
      data: { 'bad.json': '{\n  "a": 1,\n  "b": }\n' },
    },
    { handler: 'text' },
  );
  const { status, error } = await render(ann, path);
  expect(status).toBe(400);
  expect(error.validation).toMatchObject([{ path: ['bad.json'], code: 'TEMPLATE', line: 3 }]);
  expect((await ann.post(`${path}/_check`)).body).toMatchObject({
    ok: false,
    problems: [{ path: ['bad.json'], line: 3 }],
  });
});

test('assets, data and other files of the template are found by their names', async ({ ann }) => {
  const { path } = await createRenderable(
    ann,
    {
      files: {
        'main.njk': `{% include "parts/line.njk" %}`,
        'parts/line.njk': `{{ data['prices.csv'][1].price }} {{ asset('a.svg') }}`,
      },
      assets: { 'a.svg': '<svg/>' },
      data: { 'prices.csv': 'name,price\nA,1\nB,2.50\n' },
    },
    { handler: 'text' },
  );
  expect((await render(ann, path)).text).toBe(
    `2.50 data:image/svg+xml;base64,${Buffer.from('<svg/>').toString('base64')}`,
  );
});
