import { afterAll, describe, expect, test } from 'vitest';
import { openSandbox } from '../../src/adapters/sandbox/sandbox.ts';
import { createNunjucksEngine } from '../../src/adapters/template-engine/nunjucks-engine.ts';
import { mistakesOf, renderTaskOf, renderText } from './engine-fixture.ts';

const sandbox = openSandbox();
const engine = createNunjucksEngine(sandbox);
afterAll(() => sandbox.close());

/** Returns a template whose code replaces what the engine returns by a value. */
const forging = (value: string): string =>
  `{{ range.constructor("Object.prototype.then=function(resolve){delete Object.prototype.then;resolve(${value})};return ''")() }}`;

const NO_DOCUMENT = [{ path: 'main.njk', message: 'The template returns no document', line: null, column: null }];
const TOO_MANY_KEYS = `(function(){var o={content:'x'};for(var i=0;i<300000;i++)o['k'+i]='';return o})()`;

describe('what code of a template returns in place of the document', () => {
  test.each([
    '5',
    'null',
    '[1, 2]',
    '({content: 5})',
    '({content: {length: 4e9}})',
    '({content: {buffer: {length: 4e9}}})',
    '({content: {byteLength: -1e15}})',
  ])('%s is a mistake', async (value) => {
    expect(await mistakesOf(engine, forging(value))).toEqual(NO_DOCUMENT);
  });

  test('a header that is not a text is left out', async () => {
    const task = renderTaskOf(
      { 'main.njk': forging(`({content: 'x', 'settings.header': {length: 4e9}, 'settings.footer': 7})`) },
      { handler: 'pdf' },
    );
    expect(await engine.render(task)).toEqual({ content: Buffer.from('x'), header: null, footer: null });
  });

  test('mistakes have the form of mistakes, and bounded texts', async () => {
    const [first, second, ...more] = await mistakesOf(
      engine,
      forging(`({mistakes: [null, {path: {a: 1}, message: 'm'.repeat(1e6), line: 'q', column: -1}]})`),
    );
    expect(first).toEqual({ path: 'main.njk', message: 'The template has a mistake', line: null, column: null });
    expect(second).toEqual({ path: 'main.njk', message: 'm'.repeat(500), line: null, column: null });
    expect(more).toEqual([]);
  });

  test('more properties than a document has are refused, and the next template renders', async () => {
    await expect(renderText(engine, forging(TOO_MANY_KEYS))).rejects.toMatchObject({
      status: 413,
    });
    expect(await renderText(engine, '{{ 6 * 7 }}')).toBe('42');
  });
});
