import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

/** The words of the left column of docs/glossary.md, "Words that are not used". */
const REJECTED_WORDS = new RegExp(
  `\\b(${[
    'tongues?',
    'answer(s|ed|ing)?',
    'makes?(?! sure)',
    'made',
    'making',
    'complaints?',
    'complain(s|ed)?',
    'misfits?',
    'errands?',
    'happenings?',
    'lanes?',
    'keepers?',
    'carr(y|ies|ied)',
    'brood',
    'wish(es)?',
    'whoever',
    'somebody',
    'nobody',
    'everybody',
    'shall',
    'mend(s|ed)?',
    'tells?',
    'told',
    'speaks?',
    'spoke',
    'hears?',
    'heard',
    'giv(e|es|ing|en) up',
    'gave up',
  ].join('|')})\\b`,
  'i',
);

/** Returns whether a text has a rejected word outside of code in backquotes. */
const hasRejectedWord = (text: string): boolean => REJECTED_WORDS.test(text.replaceAll(/`[^`]*`/g, ''));

const MAX_LINE = 140;
const MAX_PRODUCT_LINES = 250;
const PRODUCT = /^(src|entities|resolvers|rest-bridge)\//;

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.(ts|mjs|cjs)$/.test(file) && !file.startsWith('schema/'))
  .map((name) => ({ name, lines: readFileSync(name, 'utf8').split('\n') }));
const product = files.filter(({ name }) => PRODUCT.test(name));
const documents = execFileSync('git', ['ls-files', '*.md'], { encoding: 'utf8' }).split('\n').filter(Boolean);

/** The comment of a line; undefined for a line of code. */
const commentOf = (line: string): string | undefined =>
  /^\s*(?:\/\*\*?|\*|\/\/)\s?(.*)/.exec(line)?.[1] ?? / \/\/ (.*)/.exec(line)?.[1];

/** The anchors of a Markdown file's headings, as GitHub names them. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

const findings = (where: typeof files, rule: (line: string, name: string) => boolean): string[] =>
  where.flatMap(({ name, lines }) =>
    lines.flatMap((line, i) => (rule(line, name) ? [`${name}:${i + 1}: ${line.trim()}`] : [])),
  );

describe('code', () => {
  test('has no line past 140 columns', () => {
    expect(findings(files, (line) => line.length > MAX_LINE && !/https?:\/\/\S{80}/.test(line))).toEqual([]);
  });

  test('has product files of at most 250 lines', () => {
    const long = product.filter(({ lines }) => lines.length > MAX_PRODUCT_LINES + 1).map(({ name }) => name);
    expect(long).toEqual([]);
  });
});

describe('language', () => {
  test('of comments uses no rejected word', () => {
    const checked = files.filter(({ name }) => name !== 'test/style.test.ts');
    expect(findings(checked, (line) => hasRejectedWord(commentOf(line) ?? ''))).toEqual([]);
  });

  test('of the schema’s descriptions uses no rejected word', () => {
    const lines = readFileSync('schema/schema.graphql', 'utf8').split('\n');
    const described = descriptionLines(lines).filter(({ text }) => hasRejectedWord(text));
    expect(described.map(({ text, line }) => `${line}: ${text.trim()}`)).toEqual([]);
  });

  test('of test titles uses no rejected word', () => {
    const tests = files.filter(({ name }) => name.endsWith('.test.ts'));
    const title = /\b(?:test|describe|it)(?:\.\w+)*(?:\([^()]*\))?\(\s*(['`])(.*?)\1/;
    expect(findings(tests, (line) => hasRejectedWord(title.exec(line)?.[2] ?? ''))).toEqual([]);
  });
});

describe('citations', () => {
  test('name documents that the repository has', () => {
    const absent = /\b(contract|architecture|quality|specification|findings)(, (section |")| \d)/i;
    expect(findings(files, (line) => absent.test(commentOf(line) ?? ''))).toEqual([]);
  });

  test('name headings that exist', () => {
    const anchors = new Map(documents.map((file) => [file, new Set(anchorsOf(readFileSync(file, 'utf8')))]));
    const isBroken = (citation: string) => {
      const [file, anchor] = citation.split('#') as [string, string | undefined];
      return !anchors.has(file) || (anchor !== undefined && !anchors.get(file)!.has(anchor));
    };
    const cited = /\b(?:docs\/[\w-]+|README|CONTRIBUTING|CHANGES)\.md(?:#[\w-]+)?/g;
    expect(findings(files, (line) => (line.match(cited) ?? []).some(isBroken))).toEqual([]);
  });
});

/** The lines of an SDL that are descriptions, with their numbers. */
function descriptionLines(lines: readonly string[]): { text: string; line: number }[] {
  let isInside = false;
  return lines.flatMap((text, i) => {
    const quotes = text.split('"""').length - 1;
    const isDescription = isInside || quotes > 0;
    if (quotes % 2 === 1) isInside = !isInside;
    return isDescription ? [{ text, line: i + 1 }] : [];
  });
}
