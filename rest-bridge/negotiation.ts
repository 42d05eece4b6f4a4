/* Request headers: formats (`Accept`, `Accept-Encoding`), waiting (`Prefer`) and versions (`If-Match`, `If-None-Match`). */
import { hash } from 'node:crypto';

const JSON_TYPE = 'application/json; charset=utf-8';
const HAL_TYPE = 'application/hal+json; charset=utf-8';

const PROBLEM_TYPE = 'application/problem+json';

interface MediaRange {
  type: string;
  quality: number;
}

/** Returns the media ranges of `Accept` in their order. */
export function parseAccept(accept: string): MediaRange[] {
  return accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    return { type, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
  });
}

function chooseType(accept: string): string | undefined {
  const ranges = parseAccept(accept);
  const quality = (...types: string[]) =>
    types.map((type) => ranges.find((range) => range.type === type)?.quality).find((found) => found !== undefined) ?? 0;
  const json = quality('application/json', 'application/*', '*/*');
  // The type of problem details chooses the form of errors only: everything else is JSON.
  if (ranges.every(({ type }) => type === PROBLEM_TYPE)) return JSON_TYPE;
  const hal = ranges.some((range) => range.type === 'application/hal+json') ? quality('application/hal+json') : 0;
  if (hal > 0 && hal >= json) return HAL_TYPE;
  return json > 0 || quality('application/hal+json', 'application/*', '*/*') > 0 ? JSON_TYPE : undefined;
}

/** Chosen content types by `Accept` header. */
const typesByAccept = new Map<string, string | undefined>();
const MAX_CACHED_HEADERS = 200;

/**
 * Returns the content type of the response: JSON, or HAL when the client prefers it. Undefined when neither is
 * acceptable.
 */
export function chooseContentType(accept: string | undefined): string | undefined {
  if (accept === undefined || accept === '*/*') return JSON_TYPE;
  if (typesByAccept.has(accept)) return typesByAccept.get(accept);
  const type = accept.trim() === '' ? JSON_TYPE : chooseType(accept);
  if (typesByAccept.size < MAX_CACHED_HEADERS) typesByAccept.set(accept, type);
  return type;
}

/** Returns whether errors are sent as problem details: `Accept` names them, and not with a lower quality than JSON. */
export function acceptsProblems(accept: string | undefined): boolean {
  if (!accept?.includes(PROBLEM_TYPE)) return false;
  const ranges = parseAccept(accept);
  const quality = (type: string) => ranges.find((range) => range.type === type)?.quality ?? 0;
  return quality(PROBLEM_TYPE) > 0 && quality(PROBLEM_TYPE) >= quality('application/json');
}

/** How a response can be compressed. */
export type Encoding = 'br' | 'gzip';

/** Returns the encoding that `Accept-Encoding` prefers; undefined if it names none. */
export function chooseEncoding(accept: string | undefined): Encoding | undefined {
  if (accept === undefined) return undefined;
  const ranges = parseAccept(accept);
  const quality = (...types: string[]) => ranges.find(({ type }) => types.includes(type))?.quality ?? 0;
  const [br, gzip] = [quality('br'), quality('gzip', 'x-gzip', '*')];
  if (br > 0 && br >= gzip) return 'br';
  return gzip > 0 ? 'gzip' : undefined;
}

/** Returns whether the header `Prefer` contains `respond-async`. */
export const prefersAsync = (prefer: string | string[] | undefined): boolean =>
  prefer !== undefined &&
  String(prefer)
    .split(',')
    .some((preference) => preference.split(';')[0]!.trim().toLowerCase() === 'respond-async');

/**
 * Returns the versions in `If-Match`, weak or strong; undefined when any version is allowed. A tag without a version
 * matches nothing.
 */
export function allowedVersions(ifMatch: string | undefined): readonly number[] | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  return ifMatch.split(',').flatMap((tag) => {
    const version = /^\s*(?:W\/)?"(\d+)(?:-[^"]*)?"\s*$/.exec(tag)?.[1];
    return version === undefined ? [] : [Number(version)];
  });
}

/** Returns the texts of the tags in `If-Match`, weak or strong; undefined when all are allowed. */
export const allowedTags = (ifMatch: string | undefined): readonly string[] | undefined =>
  ifMatch === undefined || ifMatch.trim() === '*'
    ? undefined
    : [...ifMatch.matchAll(/"([^"]*)"/g)].map((match) => match[1]!);

/** Returns the weak entity tag of a record: its version, if any, and a hash of the body that this caller sees. */
export function entityTag(version: number | undefined, text: string): string {
  const digest = hash('sha1', text, 'base64url').slice(0, 16);
  return version === undefined ? `W/"${digest}"` : `W/"${version}-${digest}"`;
}

/** The entity tag of a response whose content is not read when the client has it. */
export interface Revalidation {
  tag?: string;
  /** Whether the client has the response. */
  isCurrent?: boolean;
  /** Sets the tag. Returns `isCurrent`. */
  revalidate(state: string): boolean;
}

/** Creates the revalidation of a request with this `If-None-Match`. */
export const createRevalidation = (ifNoneMatch: string | undefined): Revalidation => ({
  revalidate(state) {
    this.tag = `W/"${state}"`;
    return (this.isCurrent = matchesEntityTag(ifNoneMatch, this.tag));
  },
});

/** Returns whether `If-None-Match` contains the tag, weak or strong. */
export const matchesEntityTag = (ifNoneMatch: string | undefined, tag: string): boolean =>
  ifNoneMatch !== undefined &&
  (ifNoneMatch.trim() === '*' ||
    ifNoneMatch.split(',').some((known) => withoutWeakness(known.trim()) === withoutWeakness(tag)));

const withoutWeakness = (tag: string): string => tag.replace(/^W\//, '');
