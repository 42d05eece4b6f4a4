import { expect, test } from 'vitest';
import { openSandbox } from '../../src/adapters/sandbox/sandbox.ts';
import { createTemplateEngines } from '../../src/adapters/template-engine/engine-list.ts';
import { takesTemplate } from '../../src/core/template-engine.ts';

// No process starts before the first template.
const engines = createTemplateEngines(openSandbox());

test('the engines are nunjucks and docx, with their output formats', () => {
  const pairs = [...engines].map(([id, { handlers }]) => [id, handlers.map((handler) => handler.id)]);
  expect(pairs).toEqual([
    ['nunjucks', ['html', 'pdf', 'text', 'csv']],
    ['docx', ['docx']],
  ]);
});

test.each([
  ['nunjucks', 'report.csv.njk', true],
  ['nunjucks', 'parts/Page.HTML', true],
  ['nunjucks', 'letter.docx', false],
  ['nunjucks', 'folder.njk/none', false],
  ['nunjucks', 'njk', false],
  ['docx', 'letter.docx', true],
  ['docx', 'letter.doc', false],
])('%s takes %s: %s', (engine, filename, expected) => {
  expect(takesTemplate(engines.get(engine)!, filename)).toBe(expected);
});
