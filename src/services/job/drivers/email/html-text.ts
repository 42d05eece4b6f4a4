/** Matches a tag. The attributes must not contain `<` outside of quotes, so that matching takes linear time. */
const TAG = /<(\/?)([a-z][a-z0-9]*)((?:[^<>"']|"[^"]*"|'[^']*')*)>/iy;
const HREF = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i;

/** Elements whose content is not shown. */
const HIDDEN = new Set(['head', 'script', 'style', 'template', 'title']);
/** Elements that begin and end a paragraph. */
const PARAGRAPHS = new Set(['blockquote', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ol', 'p', 'table', 'ul']);
/** Elements that begin and end a line. */
const LINES = new Set(['article', 'div', 'footer', 'header', 'hr', 'li', 'main', 'nav', 'section', 'tr']);

const ENTITIES: Record<string, string> = { amp: '&', apos: "'", gt: '>', lt: '<', nbsp: '\u00a0', quot: '"' };

/** Returns the text of an HTML document for programs that show no HTML. Links are followed by their addresses. */
export function htmlToText(html: string): string {
  const lower = html.toLowerCase();
  const links: string[] = [];
  // Pieces, as each look at the end of a growing text would copy it.
  const text = [''];
  for (let at = 0; at < html.length;) {
    const start = html.indexOf('<', at);
    if (start !== at) {
      const end = start < 0 ? html.length : start;
      text.push(decodeEntities(html.slice(at, end).replace(/[ \t\r\n\f]+/g, ' ')));
      at = end;
    } else if (html.startsWith('<!', at)) at = endOf(lower, html.startsWith('<!--', at) ? '-->' : '>', at);
    else {
      TAG.lastIndex = at;
      const [tag, slash, name, attributes] = TAG.exec(html) ?? [];
      if (tag === undefined) text.push(html[at++]!);
      else {
        at += tag.length;
        const element = name!.toLowerCase();
        if (HIDDEN.has(element) && !slash) at = endOf(lower, '>', lower.indexOf(`</${element}`, at));
        else if (element === 'a' && !slash) links.push(addressIn(attributes!));
        else text.push(element === 'a' ? afterLink(links.pop(), text.at(-1)!) : spaceOf(element, !slash, text.at(-1)!));
      }
    }
  }
  return tidy(text.join(''));
}

/** Returns the position after the next `end`. */
function endOf(html: string, end: string, at: number): number {
  const found = at < 0 ? -1 : html.indexOf(end, at);
  return found < 0 ? html.length : found + end.length;
}

/** Returns the address in the attributes of a link; empty without one. */
function addressIn(attributes: string): string {
  const [, ...values] = HREF.exec(attributes) ?? [];
  return decodeEntities(values.find((value) => value !== undefined) ?? '');
}

/** Returns what follows a link: its address, unless the text of the link is the address. */
const afterLink = (address: string | undefined, text: string): string =>
  address && /^(?:https?|mailto):/i.test(address) && text !== address ? ` (${address})` : '';

/** Returns what stands for a tag. `former` is the piece before it. */
function spaceOf(element: string, isStart: boolean, former: string): string {
  if (element === 'br') return '\n';
  if (PARAGRAPHS.has(element)) return '\n\n';
  if (LINES.has(element)) return (former.endsWith('\n') ? '' : '\n') + (element === 'li' && isStart ? '- ' : '');
  return (element === 'td' || element === 'th') && !isStart ? '\t' : '';
}

/** Removes white space at the ends of lines, and all but one blank line in sequence. */
const tidy = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();

const decodeEntities = (text: string): string =>
  text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,4}));/gi,
    (entity, hex: string, decimal: string, name: string) => {
      if (name) return ENTITIES[name.toLowerCase()] ?? entity;
      const code = Number.parseInt(hex ?? decimal, hex ? 16 : 10);
      return code > 0 && code <= 0x10_ff_ff && (code < 0xd8_00 || code > 0xdf_ff) ? String.fromCodePoint(code) : entity;
    },
  );
