import { compile } from 'html-to-text';

/**
 * Characters of a mail's HTML and levels of its elements that are read. The rest is left out of the text: nested
 * elements take quadratic time.
 */
const LIMITS = { maxInputLength: 100_000, limits: { maxDepth: 200, ellipsis: '…' } };

const convert = compile({
  ...LIMITS,
  wordwrap: false,
  selectors: [
    {
      selector: 'a',
      options: {
        hideLinkHrefIfSameAsText: true,
        linkBrackets: ['(', ')'],
        pathRewrite: (path: string) => (/^(?:https?|mailto):/i.test(path) ? path : ''),
      },
    },
    ...['img', 'title'].map((selector) => ({ selector, format: 'skip' })),
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
    // Not as data tables, whose layout takes as much memory as the largest `colspan` states.
    { selector: 'tr', format: 'block', options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    ...['td', 'th'].map((selector) => ({ selector, format: 'inlineSurround', options: { suffix: ' ' } })),
  ],
});

/** Returns the text of an HTML document for programs that show no HTML. Links are followed by their addresses. */
export const htmlToText = (html: string): string =>
  convert(html)
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
