import { afterAll, describe, expect, test } from 'vitest';
import { openSandbox } from '../../src/adapters/sandbox/sandbox.ts';
import { createDocxEngine } from '../../src/adapters/template-engine/docx-engine.ts';
import { ENGINE_LIMITS } from '../../src/adapters/template-engine/sandboxed-engine.ts';
import { zipArchiveOf } from '../support/zip-archive.ts';
import { docxOf, entriesOf, paragraphsOf } from './docx-fixture.ts';
import { checkTaskOf, mistakesOf, renderTaskOf, type TaskOptions } from './engine-fixture.ts';

const sandbox = openSandbox();
const engine = createDocxEngine(sandbox);
afterAll(() => sandbox.close());

const taskOf = (content: Uint8Array, options: TaskOptions = {}) =>
  renderTaskOf({ 'main.docx': content }, { handler: 'docx', ...options });
const render = async (texts: readonly string[], options?: TaskOptions): Promise<string[]> =>
  paragraphsOf((await engine.render(taskOf(docxOf(texts), options))).content);
const mistakes = async (content: Uint8Array, options?: TaskOptions) =>
  (await mistakesOf(engine, { 'main.docx': content }, { handler: 'docx', ...options })).map(({ message }) => message);

describe('a document', () => {
  const data = {
    inputs: { x: 'A & <b>' },
    orders: {
      rows: [
        { name: 'one', total: 1234.5 },
        { name: 'two', total: null },
      ],
      total: 2,
    },
    now: '2024-03-09T23:30:00Z',
    list: ['a', 'b'],
    none: [],
  };

  test.each<[string, string[], string[]]>([
    ['names', ['[{inputs.x}] {orders.total} {orders.rows[0].name}'], ['[A & <b>] 2 one']],
    ['names that are unknown', ['[{a}{b.c}{inputs.constructor}{inputs.toString}]'], ['[]']],
    [
      'loops over paragraphs',
      ['{#orders.rows}', '{name}: {total} of {orders.total}', '{/}'],
      ['one: 1234.5 of 2', 'two:  of 2'],
    ],
    ['loops in a paragraph', ['{#list}<{.}>{/list}'.replaceAll('<', '(').replaceAll('>', ')')], ['(a)(b)']],
    ['empty lists', ['{#none}x{/}{^none}nothing{/}'], ['nothing']],
    [
      'filters',
      ['{orders.rows[0].total | number(2)} {orders.rows[0].total | currency(“EUR”)} {now | date(‘dd.MM.yyyy’)}'],
      ['1,234.50 €1,234.50 10.03.2024'],
    ],
    ['filters of unknown names', ['{a | default("none")}{b | upper}{list[0] | upper}'], ['noneA']],
    ['tags in several runs', ['{inp</w:t></w:r><w:r><w:t>uts.x}'], ['A & <b>']],
    ['DATA files', ['{#data["prices.csv"]}{name}={price};{/}'], ['a=1;b=2;']],
  ])('has %s', async (_, texts, expected) => {
    expect(await render(texts, { data, dataFiles: { 'prices.csv': 'name,price\na,1\nb,2' } })).toEqual(expected);
  });

  test('has line breaks where values have them', async () => {
    expect(await render(['{x}'], { data: { x: 'a\nb' } })).toEqual(['a|b']);
  });

  test('keeps its other parts', async () => {
    const { content } = await engine.render(
      taskOf(docxOf(['{x}'], { 'word/media/a.png': 'picture' }), { data: { x: 1 } }),
    );
    expect(entriesOf(content)).toMatchObject({ 'word/media/a.png': 'picture' });
    const files = Object.keys(entriesOf(content)).filter((name) => !name.endsWith('/'));
    expect(files.sort()).toEqual(['[Content_Types].xml', '_rels/.rels', 'word/document.xml', 'word/media/a.png']);
  });

  test('has 5,000 rows', async () => {
    const rows = Array.from({ length: 5000 }, (_, n) => ({ n }));
    const paragraphs = await render(['{#rows}', '{n}', '{/}'], { data: { rows } });
    expect(paragraphs).toHaveLength(5000);
    expect(paragraphs[4999]).toBe('4999');
  });
});

describe('mistakes', () => {
  test.each<[string, string[], string[]]>([
    ['an unclosed tag', ['{inputs.x'], ['The tag beginning with "{inputs.x" is unclosed']],
    ['an unclosed loop', ['{#rows}a'], ['The loop with tag "rows" is unclosed']],
    ['a loop that is closed twice', ['{#rows}{/rows}{/rows}'], ['The loop with tag "rows" is unopened']],
    [
      'no name',
      ['{1 + 2}'],
      ['The scope parser for the tag "1 + 2" failed to compile: "1 + 2" is not the name of a value'],
    ],
    [
      'an unknown filter',
      ['{x | nofilter}'],
      ['The scope parser for the tag "x | nofilter" failed to compile: unknown filter: nofilter'],
    ],
    ['several', ['{#a}{/b}', '{c'], ['a', 'b']],
  ])('of %s are found, by a check too', async (_, texts, messages) => {
    const content = docxOf(texts);
    const found = await mistakes(content);
    if (messages.length === 1) expect(found).toEqual(messages);
    else expect(found.length).toBeGreaterThan(1);
    const checked = await engine.check(checkTaskOf({ 'main.docx': content }, { handler: 'docx' }));
    expect(checked.map(({ path, message, line, column }) => [path, message, line, column])).toEqual(
      found.map((message) => ['main.docx', message, null, null]),
    );
  });

  test('are unknown names, if they are', async () => {
    const options = { data: { a: { b: null }, rows: [{ c: 1 }] }, settings: { strict: true } };
    const found = await mistakes(docxOf(['{a.b}{a.x}{y}{#rows}{c}{a.b}{d}{/}']), options);
    expect(found).toEqual(['Unknown name a.x', 'Unknown name y', 'Unknown name d']);
  });

  test('of DATA files name the line', async () => {
    const dataFiles = { 'a.csv': 'a\n1\n2,3' };
    const expected = [{ path: 'a.csv', message: 'The line has 2 fields, but the header has 1', line: 3, column: null }];
    const files = { 'main.docx': docxOf(['{#data["a.csv"]}{a}{/}']) };
    expect(await mistakesOf(engine, files, { handler: 'docx', dataFiles })).toEqual(expected);
    expect(await engine.check(checkTaskOf(files, { handler: 'docx', dataFiles }))).toEqual(expected);
  });

  test('do not occur in good files', async () => {
    expect(await engine.check(checkTaskOf({ 'main.docx': docxOf(['{x}{#y}{/}']) }, { handler: 'docx' }))).toEqual([]);
  });
});

describe('a file that is not a document has a mistake:', () => {
  const docx = docxOf(['{x}']);
  const lying = Buffer.from(docxOf(['x'.repeat(5_000_000)]));
  const directory = lying.lastIndexOf('PK\x01\x02', undefined, 'latin1');
  lying.writeUInt32LE(1000, directory + 24);
  const manyFiles = Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`${n}.xml`, '']));
  const encrypted = Buffer.from(docx);
  encrypted.writeUInt16LE(1, encrypted.lastIndexOf('PK\x01\x02', undefined, 'latin1') + 8);

  test.each<[string, Uint8Array, string]>([
    ['no content', Buffer.alloc(0), 'The file is not a docx file'],
    ['a text', Buffer.from('Dear {name}'.repeat(100)), 'The file is not a docx file'],
    ['a part of a document', docx.subarray(0, docx.length / 2), 'The file is not a docx file'],
    ['the end of a document', docx.subarray(docx.length / 2), 'The file is damaged'],
    [
      'another archive',
      zipArchiveOf({ a: 'a' }),
      'The filetype for this file could not be identified, is this file corrupted ? Zip file contains : a',
    ],
    ['a bomb', docxOf(['x'.repeat(101_000_000)]), 'The file unpacks to more than 100 MB'],
    ['a bomb that declares another size', lying, 'The file is damaged'],
    ['too many files', docxOf([], manyFiles), 'The file contains more than 1000 files'],
    ['encryption', encrypted, 'The file is encrypted'],
    ['another document', docxOf([], { '[Content_Types].xml': '<Types/>' }), ''],
    [
      'broken XML',
      docxOf([], { 'word/document.xml': '<w:document><w:body>{x}' }),
      'The file is damaged: the element w:body is not closed',
    ],
  ])('%s', async (_, content, message) => {
    const [found] = await mistakes(content);
    if (message) expect(found).toBe(message);
    else expect(found).toEqual(expect.any(String));
    expect(found).not.toMatch(/node_modules|\.js:\d|sandbox/);
    const [checked] = await engine.check(checkTaskOf({ 'main.docx': content }, { handler: 'docx' }));
    expect(checked).toEqual({ path: 'main.docx', message: found, line: null, column: null });
  });
});

describe('limits', () => {
  const rows = (length: number, size = 1) => ({
    data: { rows: Array.from({ length }, () => ({ a: 'x'.repeat(size) })) },
  });

  test('of time end a document with TIMEOUT, and the next one renders', async () => {
    const quick = createDocxEngine(sandbox, { ...ENGINE_LIMITS, timeoutMs: 100 });
    const content = docxOf(['{#rows}{#rows}{a}{/}{/}']);
    await expect(quick.render(taskOf(content, rows(1000)))).rejects.toMatchObject({ status: 504, code: 'TIMEOUT' });
    expect(await render(['{x}'], { data: { x: 1 } })).toEqual(['1']);
  });

  test('of memory end a document with UPSTREAM_FAILED, and the next one renders', async () => {
    const content = docxOf(['{#rows}{#rows}{a}{/}{/}']);
    const rendering = engine.render(taskOf(content, rows(120, 20_000)));
    await expect(rendering).rejects.toMatchObject({ status: 500, code: 'UPSTREAM_FAILED' });
    expect(await render(['{x}'], { data: { x: 1 } })).toEqual(['1']);
  });

  test('of the output end a document with 413', async () => {
    const small = createDocxEngine(sandbox, { ...ENGINE_LIMITS, outputBytes: 100 });
    await expect(small.render(taskOf(docxOf(['{x}'])))).rejects.toMatchObject({ status: 413 });
  });

  test('of nesting: entities of XML are not expanded', async () => {
    const entities = Array.from({ length: 20 }, (_, n) => `<!ENTITY e${n + 1} "&e${n};&e${n};">`).join('');
    const types = `<?xml version="1.0"?><!DOCTYPE Types [<!ENTITY e0 "x">${entities}]><Types>&e20;</Types>`;
    expect(await mistakes(docxOf(['{x}'], { '[Content_Types].xml': types }))).toHaveLength(1);
  });
});
