import { SaxesParser, type SaxesAttributeNS, type SaxesTagNS } from 'saxes';
import { badInput } from '../../core/errors.ts';
import {
  ALLOWED_ATTRIBUTES,
  ALLOWED_ELEMENTS,
  ALLOWED_FUNCTIONS,
  ALLOWED_PROPERTIES,
  REFUSED_ELEMENTS,
  UNWRAPPED_ELEMENTS,
} from './svg-allowed.ts';

const SVG = 'http://www.w3.org/2000/svg';
const XLINK = 'http://www.w3.org/1999/xlink';
/** Namespaces whose elements browsers interpret. Elements of others are data, e.g. about authors. */
const INTERPRETED: ReadonlySet<string> = new Set([SVG, 'http://www.w3.org/1999/xhtml', '']);

const MAX_ELEMENTS = 20_000;
const MAX_DEPTH = 100;
/** Every `use` draws another part again, even within other ones. */
const MAX_USES = 500;
const MAX_IMAGES = 20;

const RASTER_URL = /^data:image\/(?:png|jpe?g|webp|gif);base64,([a-z0-9+/=\s]*)$/i;
/** A reference to a part of the same file. */
const LOCAL = /^#[^\s'"()<>\\]+$/;
/* Both look at each character a bounded number of times, however a value is written. */
const URL_FUNCTION = /url\(\s*(?:"([^"]*)"\s*|'([^']*)'\s*|([^\s'"()]+)\s*)?\)/gi;
const FUNCTION_NAME = /(?<![a-z-])([a-z-]+)\s*\(/gi;

/** A sanitised SVG, and the raster pictures that it embeds. */
export interface SanitizedSvg {
  text: string;
  images: Buffer[];
}

const svgError = (what: string): Error => badInput(`The SVG contains ${what}`);

/**
 * Writes the allowed parts of an SVG again: shapes, texts, gradients, filters and embedded raster pictures. Throws
 * BAD_USER_INPUT for text that is not a well-formed SVG, and for scripts, event attributes, entities, references to
 * other files and content of other types. Styles become attributes; links, animations and unknown parts are left out.
 */
export function sanitizeSvg(source: string): SanitizedSvg {
  const writer = new SvgWriter();
  const parser = new SaxesParser({ xmlns: true, position: false });
  parser.on('error', (error) => {
    throw badInput(`The SVG is not well-formed XML: ${error.message}`);
  });
  parser.on('doctype', (text) => {
    if (text.includes('[')) throw svgError('declarations of entities');
  });
  parser.on('processinginstruction', ({ target }) => {
    if (target.toLowerCase() === 'xml-stylesheet') throw svgError('a reference to a style sheet');
  });
  parser.on('opentag', (tag) => writer.open(tag));
  parser.on('closetag', () => writer.close());
  parser.on('text', (text) => writer.write(text));
  parser.on('cdata', (text) => writer.write(text));
  parser.write(source).close();
  return writer.result();
}

/** Writes the allowed parts of a document in the order of its events. */
class SvgWriter {
  readonly #parts: string[] = [];
  readonly #images: Buffer[] = [];
  /** The end of each open element; null for one that is left out with its content. */
  readonly #ends: (string | null)[] = [];
  #elements = 0;
  #uses = 0;

  open({ local, uri, attributes }: SaxesTagNS): void {
    this.#elements += 1;
    if (this.#elements > MAX_ELEMENTS) throw svgError(`more than ${MAX_ELEMENTS} elements`);
    if (this.#ends.length >= MAX_DEPTH) throw svgError(`elements nested more than ${MAX_DEPTH} levels deep`);
    if (INTERPRETED.has(uri) && REFUSED_ELEMENTS.has(local.toLowerCase())) throw svgError(`the element ${local}`);
    if (this.#elements === 1 && (local !== 'svg' || uri !== SVG)) throw badInput('The file is not an SVG');
    for (const attribute of Object.values(attributes)) this.#check(attribute, local);
    if (local === 'use' && ++this.#uses > MAX_USES) throw svgError(`more than ${MAX_USES} "use" elements`);

    const isInside = this.#ends.at(-1) !== null;
    if (!isInside || uri !== SVG || !(ALLOWED_ELEMENTS.has(local) || UNWRAPPED_ELEMENTS.has(local)))
      this.#ends.push(null);
    else if (UNWRAPPED_ELEMENTS.has(local)) this.#ends.push('');
    else {
      this.#parts.push(`<${local}${this.#ends.length === 0 ? ` xmlns="${SVG}"` : ''}`);
      for (const [name, value] of this.#keptAttributes(Object.values(attributes), local))
        this.#parts.push(` ${name}="${escapeValue(value)}"`);
      this.#parts.push('>');
      this.#ends.push(`</${local}>`);
    }
  }

  close(): void {
    const end = this.#ends.pop();
    if (end) this.#parts.push(end);
  }

  write(text: string): void {
    const end = this.#ends.at(-1);
    if (end !== null && end !== undefined) this.#parts.push(escapeText(text));
    else if (/@import/i.test(text) || targetsOf(text).some((target) => !/^(?:#|data:)/i.test(target)))
      throw svgError('a reference to another file');
  }

  result(): SanitizedSvg {
    return { text: this.#parts.join(''), images: this.#images };
  }

  /** Throws for an attribute that would run code or load another file, even of an element that is left out. */
  #check({ local, value }: SaxesAttributeNS, element: string): void {
    if (/^on/i.test(local)) throw svgError(`the attribute ${local}`);
    if (/^\s*(?:javascript|vbscript):/i.test(value)) throw svgError('a script');
    if (targetsOf(value).some((target) => !LOCAL.test(target))) throw svgError('a reference to another file');
    const isReference = /^(?:href|src)$/i.test(local) && element !== 'a';
    if (isReference && !LOCAL.test(value.trim()) && !RASTER_URL.test(value.trim()))
      throw svgError('a reference to another file');
  }

  #keptAttributes(attributes: readonly SaxesAttributeNS[], element: string): Map<string, string> {
    const kept = new Map<string, string>();
    for (const { uri, local, value } of attributes) {
      if (local === 'href' && (uri === '' || uri === XLINK)) this.#keepReference(kept, element, value.trim());
      else if (uri === '' && (ALLOWED_ATTRIBUTES.has(local) || ALLOWED_PROPERTIES.has(local)) && isPlain(value))
        kept.set(local, value);
    }
    // A declaration has precedence over the attribute of its name.
    const style = attributes.find(({ uri, local }) => uri === '' && local === 'style')?.value ?? '';
    for (const declaration of style.split(';')) {
      const colon = declaration.indexOf(':');
      const name = declaration.slice(0, colon).trim().toLowerCase();
      const value = declaration
        .slice(colon + 1)
        .replace(/!\s*important\s*$/i, '')
        .trim();
      if (colon > 0 && ALLOWED_PROPERTIES.has(name) && value !== '' && isPlain(value)) kept.set(name, value);
    }
    return kept;
  }

  /** Keeps a reference within the file, and the embedded picture of an `image`. */
  #keepReference(kept: Map<string, string>, element: string, value: string): void {
    const base64 = RASTER_URL.exec(value)?.[1];
    if (base64 === undefined) {
      if (element !== 'image') kept.set('href', value);
      return;
    }
    if (element !== 'image') return;
    if (this.#images.length >= MAX_IMAGES) throw svgError(`more than ${MAX_IMAGES} pictures`);
    this.#images.push(Buffer.from(base64, 'base64'));
    kept.set('href', value.replace(/\s+/g, ''));
  }
}

/** Returns whether a value calls allowed functions only, and cannot hide others behind escapes. */
const isPlain = (value: string): boolean =>
  !value.includes('\\') &&
  [...value.matchAll(FUNCTION_NAME)].every(([, name]) => ALLOWED_FUNCTIONS.has(name!.toLowerCase())) &&
  // A `url(` that the pattern of complete ones does not match.
  !/url\(/i.test(value.replace(URL_FUNCTION, ''));

/** Returns the targets of all `url(…)`. */
const targetsOf = (text: string): string[] =>
  [...text.matchAll(URL_FUNCTION)].map(([, ...targets]) => targets.find((target) => target !== undefined) ?? '');

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const toEntity = (character: string): string => ENTITIES[character] ?? `&#${character.charCodeAt(0)};`;
const escapeText = (text: string): string => text.replace(/[&<>\r]/g, toEntity);
const escapeValue = (text: string): string => text.replace(/[&<>"\t\n\r]/g, toEntity);
