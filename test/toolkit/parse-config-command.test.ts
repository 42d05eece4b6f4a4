import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitCommand } from '../../src/services/toolkit/split-command.ts';

/** Returns the words that a real shell passes to a program. */
const splitByShell = (command: string): string[] =>
  execFileSync('sh', ['-fc', `printf '%s\\0' ${command}`], { encoding: 'utf8', env: {} })
    .split('\0')
    .slice(0, -1);

const single = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const double = (text: string): string => `"${text.replace(/["$`\\]/g, '\\$&')}"`;
const escaped = (text: string): string => [...text].map((one) => (one === '\n' ? `'\n'` : `\\${one}`)).join('');
const STYLES = [single, double, escaped];

/** A text and a way to quote it, in up to three parts of different styles. */
const quoted = fc
  .array(fc.record({ text: fc.string({ unit: 'grapheme', maxLength: 8 }), style: fc.nat(2) }), {
    minLength: 1,
    maxLength: 3,
  })
  .map((parts) => parts.map(({ text, style }) => ({ text: text.replaceAll(/\0|\r/g, ''), style })))
  .filter((parts) => parts.some(({ text, style }) => style < 2 || text !== ''))
  .map((parts) => ({
    text: parts.map(({ text }) => text).join(''),
    source: parts.map(({ text, style }) => STYLES[style]!(text)).join(''),
  }));

describe('splitting a command', () => {
  test('returns the words that were quoted, whatever the quotes', () => {
    fc.assert(
      fc.property(fc.array(quoted, { minLength: 1, maxLength: 5 }), (words) => {
        const source = words.map((word) => word.source).join(' ');
        expect(splitCommand(`run ${source}`, 'config')).toEqual({
          env: {},
          words: ['run', ...words.map(({ text }) => text)],
        });
      }),
    );
  });

  test('never throws anything but an error for the client, and never hangs', () => {
    const noise = fc.string({ unit: fc.constantFrom(...`a =\\'"$()\`#|&;<>\n\t{}*~é😀`), maxLength: 30 });
    fc.assert(
      fc.property(noise, (source) => {
        try {
          const { env, words } = splitCommand(source, 'config');
          expect([...Object.values(env), ...words].every((text) => typeof text === 'string')).toBe(true);
        } catch (error) {
          expect(error).toMatchObject({ status: 400, message: expect.stringMatching(/^config /) });
        }
      }),
    );
  });

  test.each([
    `npx -y  @scope/pkg\t/path`,
    `a "b c" 'd e' f\\ g`,
    `a "" '' b`,
    `a"b"'c'd`,
    `a "\\n \\\\ \\" \\$x \\q"`,
    `a '\\n \\'`,
    `a b#c #d e`,
    `a "b\\\nc" d\\\ne`,
    `a {b,c} =x x=y`,
    `a "é 😀" \\é`,
    `  a  b  `,
    `a % ! ^ , : @ - _ + ]`,
  ])('matches a real shell: %s', (source) => {
    expect(splitCommand(source, 'config').words).toEqual(splitByShell(source));
  });

  test.each<[string, Record<string, string>, string[]]>([
    ['A=1 B="two words" run C=3', { A: '1', B: 'two words' }, ['run', 'C=3']],
    ['A= run', { A: '' }, ['run']],
    ['"A=1" run', {}, ['A=1', 'run']],
    ['A"=1" run', {}, ['A=1', 'run']],
    ['1A=1 run', {}, ['1A=1', 'run']],
    ['A=b=c run', { A: 'b=c' }, ['run']],
    ['__proto__=x run', JSON.parse('{"__proto__": "x"}'), ['run']],
    ['A=1', { A: '1' }, []],
    ['run $HOME ${X} ~ *.ts', {}, ['run', '$HOME', '${X}', '~', '*.ts']],
  ])('takes leading variables and expands nothing: %s', (source, env, words) => {
    expect(splitCommand(source, 'config')).toEqual({ env, words });
  });

  test.each([
    ['a | b', 'config must not contain "|" outside of quotes'],
    ['a && b', 'config must not contain "&" outside of quotes'],
    ['a; b', 'config must not contain ";" outside of quotes'],
    ['a < b', 'config must not contain "<" outside of quotes'],
    ['a 2>b', 'config must not contain ">" outside of quotes'],
    ['(a)', 'config must not contain "(" outside of quotes'],
    ['a\nb', 'config must not contain "\\n" outside of quotes'],
    ['a $(b)', 'config must not contain ` or $( outside of single quotes'],
    ['a "$(b)"', 'config must not contain ` or $( outside of single quotes'],
    ['a `b`', 'config must not contain ` or $( outside of single quotes'],
    ['a "`b`"', 'config must not contain ` or $( outside of single quotes'],
    [`a 'b`, 'config has an open quote'],
    [`a "b`, 'config has an open quote'],
    [`a "b\\`, 'config has an open quote'],
    [`a \\`, 'config must not end with a backslash'],
  ])('refuses %s', (source, message) => {
    expect(() => splitCommand(source, 'config')).toThrow(message);
  });
});
