import type { AppResponse } from '../src/core/app-run.ts';
import { isPassive } from './file-contents.ts';

/**
 * Start tags by which a page lets a browser connect although its CSP permits nothing: hints in links (`preconnect`) and
 * `http-equiv`, and frames, whose `srcdoc` contains further tags. Wherever else HTML has this text, it starts no tag.
 */
const START_TAG = /<(link|meta|iframe)(?=[\t\n\f\r />])[^<>]*>?/gi;
/** A whole tag in an unambiguous form: attributes after white space, their values without `<` and `>`. */
const PLAIN_TAG = /^<[a-z]+(?:[\t\n\f\r ]+[a-z-]+(?:="[^"<>]*"|='[^'<>]*'|=[^\t\n\f\r "'<=>`]+)?)*[\t\n\f\r ]*\/?>$/i;
const OTHER_RELATION = /[\t\n\f\r ]rel(?!="stylesheet"|='stylesheet'|=stylesheet[\t\n\f\r >])/i;

/** Longer tags are renamed unread: the regular expression needs memory in proportion to the attributes of a tag. */
const MAX_PLAIN_TAG = 10_000;

/** Returns whether the CSP governs all effects of a tag. */
function isGoverned(tag: string, name: string): boolean {
  if (tag.length > MAX_PLAIN_TAG || !PLAIN_TAG.test(tag)) return false;
  if (name === 'link') return !OTHER_RELATION.test(tag);
  return name === 'meta' && !/http-equiv/i.test(tag);
}

/**
 * Renames the tags of a page that can connect to a server past its CSP, so that they are unknown elements. The names of
 * tags have no escapes, so that this needs no parser of HTML: a browser starts such an element only where the text has
 * its name, in capital or small letters.
 */
export const withoutHints = (page: string): string =>
  page
    // Some browsers skip this character where they read a name.
    .replaceAll('\0', '')
    .replace(START_TAG, (tag, name: string) => (isGoverned(tag, name.toLowerCase()) ? tag : `<x-${tag.slice(1)}`));

/** Returns the text of a page. Its encoding is the charset of its media type, else UTF-8, whatever the page says. */
function decodePage(body: Uint8Array, type: string): string {
  const label = /;[\t ]*charset="?([\w.:-]+)/i.exec(type)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(label).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}

const HTML = /^text\/html[\t ]*(?:;|$)/i;
const ATTACHMENT = /^attachment(?:;|$)/i;

/**
 * Returns a response, which may contain what its handler has read with the rights of its caller, in a form for which a
 * browser connects to no server that the CSP does not permit. HTML has no hints. Other types that a browser shows as a page,
 * such as XML, whose entities and prefixes hide names, are downloads.
 */
export function confineResponse(response: AppResponse): AppResponse {
  const { headers, body } = response;
  const type = headers['content-type'] ?? '';
  // A browser reads the last of several types.
  const isSingle = !type.includes(',');
  if (isSingle && HTML.test(type) && headers['content-encoding'] === undefined) {
    const page = Buffer.from(withoutHints(decodePage(body, type)));
    return { ...response, headers: { ...headers, 'content-type': 'text/html; charset=utf-8' }, body: page };
  }
  const disposition = headers['content-disposition'] ?? '';
  if (body.length === 0 || (isSingle && isPassive(type)) || ATTACHMENT.test(disposition)) return response;
  return { ...response, headers: { ...headers, 'content-disposition': 'attachment' } };
}
