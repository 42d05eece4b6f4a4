import type { DocxPart } from './docx-library.ts';

const TAG = /<(\/?)([^\s/<>!?"']+)(?=[\s/>])[^<>"']*(?:(?:"[^"<]*"|'[^'<]*')[^<>"']*)*>/g;

/** Elements that a piece of XML closes without opening them, in their order, and elements that it leaves open. */
interface Ends {
  closed: string[];
  open: string[];
}

/** Throws for elements that are not closed. The library would write them unchanged. */
export function checkElements(xml: string): void {
  const { closed, open } = endsOf(xml);
  if (closed.length > 0) throw new Error(`The file is damaged: the element ${closed[0]} is closed too often`);
  if (open.length > 0) throw new Error(`The file is damaged: the element ${open.at(-1)} is not closed`);
}

/**
 * Throws for loops and conditions whose beginning and end lie in different elements, e.g. one of them in a hyperlink.
 * Word would refuse the document if they were left out or repeated. Throws for tags that insert XML.
 */
export function checkTags(parts: readonly DocxPart[]): void {
  for (const { module, value, subparsed } of parts) {
    if (module === 'rawxml') throw new Error(`${JSON.stringify(`@${value}`)} is not the name of a value`);
    if (!subparsed) continue;
    const { closed, open } = endsOf(textOf(subparsed));
    if (closed.join(' ') !== open.toReversed().join(' '))
      throw new Error(`The loop "${value}" begins and ends in different elements, such as a link or a cell`);
    checkTags(subparsed);
  }
}

const textOf = (parts: readonly DocxPart[]): string =>
  parts
    .map(({ type, value, subparsed }) => (subparsed ? textOf(subparsed) : type === 'placeholder' ? '' : value))
    .join('');

function endsOf(xml: string): Ends {
  const ends: Ends = { closed: [], open: [] };
  for (const [tag, slash, name] of xml.matchAll(TAG)) {
    if (tag.endsWith('/>')) continue;
    if (!slash) ends.open.push(name!);
    else if (ends.open.length === 0) ends.closed.push(name!);
    else if (ends.open.pop() !== name) throw new Error(`The file is damaged: the element ${name} is closed too often`);
  }
  return ends;
}
