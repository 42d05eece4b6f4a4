import { badInput } from '../../../core/errors.ts';
import { invalid } from '../../../core/input-checks.ts';
import type { ToolRequest } from '../../toolkit/toolkit-driver.ts';

type Arguments = Readonly<Record<string, unknown>>;

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;
const ONLY_PLACEHOLDER = /^\{\{([^{}]*)\}\}$/;
/** A segment of a path that the parser of URLs removes, together with the one before it. */
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;
/** The characters of values of headers. */
const HEADER_VALUE = /^[\t -~\u0080-\u00ff]*$/;

/** Maximum number of characters that arguments may add to a request: one may occur in it any number of times. */
const MAX_ADDED_CHARACTERS = 4 * 1024 * 1024;

/** A request with the arguments of a call. */
export interface BoundRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | null;
}

/**
 * Returns the request of a custom tool with arguments in place of `{{argument}}`: encoded as a part of a URL in the URL, as
 * JSON in the body, and without line breaks in headers. So no argument changes the host, the path above it, another
 * parameter or another header. Throws BAD_USER_INPUT for an argument that does not fit.
 */
export function bindRequest(request: ToolRequest, args: Arguments): BoundRequest {
  const { url, method, headers, body } = request;
  checkSize(request, args);
  const bound: BoundRequest = {
    url: bindUrl(url, args),
    method,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, bindHeader(value, args)])),
    body: null,
  };
  if (body === undefined || method === 'GET') return bound;
  const typeHeader = Object.keys(headers).find((name) => name.toLowerCase() === 'content-type');
  const type = typeHeader === undefined ? '' : bound.headers[typeHeader]!;
  bound.body = typeof body === 'string' ? bindText(body, type, args) : JSON.stringify(bindJson(body, args));
  if (typeHeader === undefined)
    bound.headers['content-type'] = typeof body === 'string' ? 'text/plain' : 'application/json';
  return bound;
}

/** Throws BAD_USER_INPUT if a request could become too large, whichever argument each placeholder has. */
function checkSize({ url, headers, body }: ToolRequest, args: Arguments): void {
  const count = JSON.stringify([url, headers, body]).match(PLACEHOLDER)?.length ?? 0;
  if (count * JSON.stringify(args).length > MAX_ADDED_CHARACTERS)
    throw badInput('The arguments are too large for the request of the tool, which repeats them');
}

/** Returns the value of an argument as a text: '' if it is absent, JSON for lists and objects. */
function textOf(name: string, args: Arguments): string {
  const value = valueOf(name, args);
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value.toWellFormed() : JSON.stringify(value);
}

const valueOf = (name: string, args: Arguments): unknown =>
  Object.hasOwn(args, name.trim()) ? args[name.trim()] : undefined;

const encode = (name: string, args: Arguments): string => encodeURIComponent(textOf(name, args));

function bindUrl(template: string, args: Arguments): string {
  const url = template.replace(PLACEHOLDER, (_, name: string) => encode(name, args));
  const [path = ''] = template.split(/[?#]/);
  for (const segment of path.split('/')) {
    const names = [...segment.matchAll(PLACEHOLDER)].map(([, name]) => name!.trim());
    const boundSegment = segment.replace(PLACEHOLDER, (_, name: string) => encode(name, args));
    if (names.length > 0 && (DOT_SEGMENT.test(boundSegment) || boundSegment === ''))
      throw invalid(names[0]!, 'must not be empty, "." or "..": it is a part of a path');
  }
  return url;
}

function bindHeader(template: string, args: Arguments): string {
  return template.replace(PLACEHOLDER, (_, name: string) => {
    const text = textOf(name, args);
    if (!HEADER_VALUE.test(text))
      throw invalid(
        name.trim(),
        'must not contain control characters or those beyond Latin-1: it is a part of a header',
      );
    return text;
  });
}

/** Binds a body that is a text: JSON, or a form. */
function bindText(template: string, type: string, args: Arguments): string {
  if (/^application\/x-www-form-urlencoded\b/i.test(type))
    return template.replace(PLACEHOLDER, (_, name: string) => encode(name, args));
  const isInQuotes = readQuotes(template);
  return template.replace(PLACEHOLDER, (_, name: string, at: number) =>
    isInQuotes(at) ? JSON.stringify(textOf(name, args)).slice(1, -1) : JSON.stringify(valueOf(name, args) ?? null),
  );
}

/** Returns a function for ascending places of a JSON text: whether a place is within a text in quotes. */
function readQuotes(text: string): (place: number) => boolean {
  let [inside, at] = [false, 0];
  return (place) => {
    for (; at < place; at += 1) {
      if (inside && text[at] === '\\') at += 1;
      else if (text[at] === '"') inside = !inside;
    }
    return inside;
  };
}

/** Binds the texts of a JSON value. A text that is one argument alone becomes its value, of any type; undefined if it is absent. */
function bindJson(value: unknown, args: Arguments): unknown {
  if (typeof value === 'string') {
    const only = ONLY_PLACEHOLDER.exec(value);
    if (only) return valueOf(only[1]!, args);
    return bindPlain(value, args);
  }
  if (Array.isArray(value)) return value.map((item) => bindJson(item, args));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [bindPlain(key, args), bindJson(inner, args)]));
}

const bindPlain = (text: string, args: Arguments): string =>
  text.replace(PLACEHOLDER, (_, name: string) => textOf(name, args));
