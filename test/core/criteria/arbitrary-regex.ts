import fc from 'fast-check';
import { parsePortableRegex } from '../../../src/core/criteria/regex.ts';

/** Regular expressions of the portable subset over few characters, with anchors at any position. */
export const arbitraryRegex: fc.Arbitrary<string> = fc
  .letrec<{ regex: string }>((tie) => {
    const atom = fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom('a', 'b', 'A', '.', '[ab]', '[^a]', '\\s', '😀', '\\.') },
      { weight: 2, arbitrary: fc.constantFrom('^', '$') },
      { weight: 3, arbitrary: tie('regex').map((inner) => `(${inner})`) },
    );
    const item = fc
      .tuple(atom, fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{0,2}', '{2,}', '{0}', '{1,3}'))
      .map(([symbol, times]) => (symbol === '^' || symbol === '$' ? symbol : `${symbol}${times}`));
    const sequence = fc.array(item, { maxLength: 3 }).map((items) => items.join(''));
    return {
      regex: fc.oneof(
        { depthSize: 'small' },
        sequence,
        fc.array(sequence, { minLength: 2, maxLength: 3 }).map((all) => all.join('|')),
      ),
    };
  })
  .regex.filter(isPortable);

/** Returns whether the parser accepts a regular expression. */
function isPortable(source: string): boolean {
  try {
    return Boolean(parsePortableRegex(source));
  } catch {
    return false;
  }
}
