import { existsSync, readFileSync } from 'node:fs';
import { basename, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anchorsOf, listFiles } from '../support/documents.ts';

const files = listFiles();
const documents = listFiles('*.md').map((name) => ({ name, text: readFileSync(name, 'utf8') }));

/** The text of a document without its blocks of code. */
const proseOf = (text: string): string => text.replaceAll(/^```[^]*?^```$/gm, '');

describe('documents', () => {
  test('link files and headings that exist', () => {
    const broken = documents.flatMap(({ name, text }) =>
      [...proseOf(text).matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(([link, path, anchor]) => {
        const file = path ? posix.normalize(posix.join(posix.dirname(name), path)) : name;
        if (!existsSync(file)) return [`${name}: ${link}`];
        const isFound = !anchor || !file.endsWith('.md') || anchorsOf(readFileSync(file, 'utf8')).includes(anchor);
        return isFound ? [] : [`${name}: ${link}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  test('name files that exist', () => {
    const names = new Set(files.map((file) => basename(file)));
    const isFile = (path: string) => files.some((file) => file === path || file.endsWith(`/${path}`));
    const absent = documents
      .filter(({ name }) => name.startsWith('docs/') || name === 'AGENTS.md')
      .flatMap(({ name, text }) =>
        [...proseOf(text).matchAll(/`((?:[\w.-]+\/)*[\w.-]+\.(?:ts|mjs|cjs|graphql|yaml))`/g)]
          .map(([, path]) => path!)
          .filter((path) => (path.includes('/') ? !isFile(path) : !names.has(path)))
          .map((path) => `${name}: ${path}`),
      );
    expect(absent).toEqual([]);
  });

  test('for the first look are short', () => {
    const textOf = (name: string) => readFileSync(name, 'utf8');
    expect(Buffer.byteLength(textOf('README.md'))).toBeLessThanOrEqual(8192);
    expect(textOf('AGENTS.md').trimEnd().split('\n').length).toBeLessThanOrEqual(80);
  });
});
