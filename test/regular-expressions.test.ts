import { readFileSync } from 'node:fs';
import { parseSync } from '@swc/core';
import { check } from 'recheck';
import { describe, expect, test } from 'vitest';
import { listFiles } from './support/documents.ts';

/** Returns reasons by the texts of regular expressions. */
const byText = (reasons: [RegExp | string, string][]) =>
  new Map(reasons.map(([pattern, reason]) => [String(pattern), reason]));

/** Regular expressions whose time grows faster than the text, with the bound of their texts. */
const BOUNDED_TIME = byText([
  [/<style ><!\[CDATA\[[^]*?\]\]>\s*<\/style>\s*/g, 'ECharts writes one such element and escapes texts'],
  [/^import \{([^}]*)\} from '\.\/([\w-]+)\.(?:js|ts)';$/gm, 'modules of the service'],
  [/^export (?:async )?(?:function|class|const|let) (?:(\w+)|\{([^}]*)\})/gm, 'modules of the service'],
  [/^type (\w+)( implements [^{]+)? \{$/gm, 'the schema of the service'],
  [/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g, 'pages of the service'],
  [String.raw`/^(?:[!#-\[\]-~]+ )*openid(?: [!#-\[\]-~]+)*$/u`, 'scopes of 500 characters'],
]);

/**
 * Regular expressions that repeat a group of variable length, with the bound of their texts. Each repetition takes memory of the
 * engine, which throws a RangeError from about two million on.
 */
const BOUNDED_REPETITIONS = byText([
  [
    /^<[a-z]+(?:[\t\n\f\r ]+[a-z-]+(?:="[^"<>]*"|='[^'<>]*'|=[^\t\n\f\r "'<=>`]+)?)*[\t\n\f\r ]*\/?>$/i,
    'MAX_PLAIN_TAG',
  ],
  [/^[-+]?[$€£¥]?\s?\d{1,3}(?:,\d{3})+(?:\.\d*)?\s?[$€£¥%]?$/, 'the first MiB of a file'],
  [/[\x01-\x08\x0e-\x1f^~¦§¬¤¶]+|([!#$%&*+:;<>?@\\|])(?:\1|[^\w\s"']\1)+/g, 'the first MiB of a file'],
  [
    /<(\/?)([^\s/<>!?"']+)(?=[\s/>])[^<>"']*(?:(?:"[^"<]*"|'[^'<]*')[^<>"']*)*>/g,
    'attributes of one element, in the sandbox',
  ],
  [/^"((?:[ !#-[\]-~]|\\["\\])*)"$/, 'headers of 16 KiB'],
  [/^(?!-)[\w-]+(\.[\w-]+)*$/, 'configuration'],
  [/^(?!-)(?:[\w-]+\.)*(?!\d+$|0x[\da-f]*$)[\w-]+$/i, 'configuration'],
  [/'((?:[^']|'')*)'|"((?:[^"]|"")*)"/y, 'expressions of 4,000 characters'],
  [/`((?:[^`]|``)+)`/y, 'expressions of 4,000 characters'],
  [/(?:[^'\\]|''|\\[^])*'/y, 'queries of 200,000 characters'],
  [/(?:[^"]|"")*"/y, 'queries of 200,000 characters'],
  [/(?:[^`]|``)*`/y, 'queries of 200,000 characters'],
  [/(?:[^']|'')*'/y, 'queries of 200,000 characters'],
  [/(?:[^"\\]|""|\\[^])*"/y, 'queries of 200,000 characters'],
  [
    /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*(?::[1-9]\d{0,4})?$/,
    'names of hosts of 253 characters',
  ],
  [/^Line (\d+) of the file(?:, column ("(?:[^"\\]|\\.)*"))?:? (.*)$/s, 'a name in the first MiB of a file'],
  [String.raw`/^(?:[!#-\[\]-~]+ )*openid(?: [!#-\[\]-~]+)*$/u`, 'scopes of 500 characters'],
  [String.raw`/^[!#-\[\]-~]+(?: [!#-\[\]-~]+)*$/u`, 'scopes of 2,000 characters'],
]);

/** Regular expressions whose time is in proportion to the text. Finding that out takes more than five seconds each. */
const CHECKED = new Set(
  [
    /<style\b[^>]*(?:>([^]*?)(?:<\/style\b|$)|$)|\sstyle\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/gi,
    /\brel\s*=\s*(?:"[^"]*\bstylesheet\b|'[^']*\bstylesheet\b|stylesheet\b)/i,
    /^SyntaxError: The requested module '([^']+)' does not provide an export named '([^']+)'/,
  ].map(String),
);

const CHECK_TIMEOUT_MS = 120_000;

interface Pattern {
  source: string;
  flags: string;
}

/** The regular expressions in the sources of the service by their text, and the patterns of its inputs. */
const patterns = new Map<string, Pattern>();
const add = (pattern: Pattern) => patterns.set(`/${pattern.source}/${pattern.flags}`, pattern);

function collect(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  const { type, pattern, flags } = node as { type?: unknown; pattern: string; flags: string };
  if (type === 'RegExpLiteral') add({ source: pattern, flags });
  for (const child of Object.values(node)) collect(child);
}
for (const file of listFiles('src/*.ts', 'entities/*.ts', 'resolvers/*.ts', 'rest-bridge/*.ts'))
  collect(parseSync(readFileSync(file, 'utf8'), { syntax: 'typescript', decorators: true }));
for (const [, source] of readFileSync('schema/openapi.json', 'utf8').matchAll(/"pattern": (".*")/g))
  add({ source: JSON.parse(source!) as string, flags: 'u' });

/** Returns a regular expression without escapes and classes, so that only its operators are left. */
const operatorsOf = (source: string): string => source.replaceAll(/\\./g, '_').replaceAll(/\[[^\]]*\]/g, '_');

describe('regular expressions of the service', () => {
  test('take time in proportion to the text, or their texts are short', { timeout: 600_000 }, async () => {
    const slow: Record<string, string> = {};
    for (const [text, { source, flags }] of patterns) {
      if (BOUNDED_TIME.has(text) || CHECKED.has(text) || !/[*+]|,\}/.test(operatorsOf(source))) continue;
      const found = await check(source, flags, { timeout: CHECK_TIMEOUT_MS });
      if (found.status === 'vulnerable') slow[text] = `${found.complexity.summary}: ${found.attack.pattern}`;
      else if (found.status === 'unknown') slow[text] = `unknown: ${found.error.kind}`;
    }
    expect(slow).toEqual({});
  });

  test('repeat groups of variable length only in short texts', () => {
    const fixed = /\(\?:[\w\\{}]*\)(?:[*+]|\{\d+,\})/g;
    const repeating = [...patterns].filter(([, { source }]) =>
      /\)(?:[*+]|\{\d+,\})/.test(operatorsOf(source).replaceAll(fixed, '')),
    );
    expect(repeating.map(([text]) => text).filter((text) => !BOUNDED_REPETITIONS.has(text))).toEqual([]);
  });

  test('with an exception exist', () => {
    const exceptions = [...CHECKED, ...BOUNDED_TIME.keys(), ...BOUNDED_REPETITIONS.keys()];
    expect(exceptions.filter((text) => !patterns.has(text))).toEqual([]);
  });
});
