import type { TemplateMistake } from '../../core/template-engine.ts';

/** A text of a template that may be printed. */
export interface CheckedText {
  path: string;
  text: string;
  /** Whether lines of the text are lines that its author sees. */
  hasLines: boolean;
}

/** Characters that are not drawn, or only change the character before. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Variation_Selector}]/u;
/** Comments of templates and of HTML, which are not printed. */
const COMMENTS = [
  ['{#', '#}'],
  ['<!--', '-->'],
] as const;
/** Printable ASCII, which all fonts have. */
const PLAIN = /^[\s -~]*$/;

/**
 * Returns a warning for the first place of each character of each text that no font has. Texts with fonts of their own
 * (`@font-face`) may have any character. Stops at the maximum.
 */
export function findMissingCharacters(
  texts: readonly CheckedText[],
  characters: ReadonlySet<number>,
  max: number,
): TemplateMistake[] {
  const warnings: TemplateMistake[] = [];
  if (texts.some(({ text }) => /@font-face/i.test(text))) return warnings;
  for (const { path, text, hasLines } of texts) {
    const seen = new Set<string>();
    let [line, column] = [1, 1];
    for (const character of PLAIN.test(text) ? '' : blankComments(text)) {
      const code = character.codePointAt(0)!;
      if (code > 0x7e && !characters.has(code) && !seen.has(character) && !INVISIBLE.test(character)) {
        if (warnings.length === max) return warnings;
        seen.add(character);
        const number = code.toString(16).toUpperCase().padStart(4, '0');
        const message = `No font of PDFs has the character "${character}" (U+${number}): it is printed as a box`;
        warnings.push({ path, message, line: hasLines ? line : null, column: hasLines ? column : null });
      }
      if (character === '\n') [line, column] = [line + 1, 1];
      else column += character.length;
    }
  }
  return warnings;
}

/** Replaces comments by spaces, so that places remain. */
const blankComments = (text: string): string =>
  COMMENTS.reduce((blanked, [opening, closing]) => blankParts(blanked, opening, closing), text);

/** Replaces the parts between two marks, including the marks, by spaces. A part that is not closed stays. */
function blankParts(text: string, opening: string, closing: string): string {
  const parts: string[] = [];
  let at = 0;
  for (;;) {
    const start = text.indexOf(opening, at);
    const end = start === -1 ? -1 : text.indexOf(closing, start + opening.length);
    if (end === -1) return parts.concat(text.slice(at)).join('');
    const after = end + closing.length;
    parts.push(text.slice(at, start), text.slice(start, after).replaceAll(/[^\n]/g, ' '));
    at = after;
  }
}
