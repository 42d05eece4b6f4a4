/** Headers that belong to a connection, and headers that follow from the sent body. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Returns whether a header, in lower case, must not be copied from one message to another. */
export const isOfConnection = (name: string): boolean => CONNECTION_HEADERS.has(name);

/** Headers of responses that concern only the response, and its storage by the one client that gets it. */
const APP_HEADERS: ReadonlySet<string> = new Set([
  'accept-ranges',
  'allow',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-range',
  'content-type',
  'deprecation',
  'etag',
  'expires',
  'last-modified',
  'location',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'sunset',
  'vary',
]);

/**
 * An app's own names, by which it and receivers of events prove themselves (`X-Hook-Secret`, WebHooks in HTTP), and
 * counts of pages and limits. Other names with `x-` are left out, because some browser, proxy or server acts on them.
 */
const CUSTOM_HEADERS = /^(?:webhook-|x-app-|x-hook-|x-rate-?limit-|x-total-count$)/;

/** Returns whether a header of a response, in lower case, may be set by an app. All others are left out. */
export const isAllowedFromApps = (name: string): boolean => APP_HEADERS.has(name) || CUSTOM_HEADERS.test(name);

/** Returns a value of `Cache-Control` that keeps shared caches from storing a response. */
export function toPrivateCacheControl(value: string): string {
  const directives = value.split(',').map((directive) => directive.trim());
  const kept = directives.filter(
    (directive) => directive !== '' && !/^(?:public|private|s-maxage=.*)$/i.test(directive),
  );
  return kept.some((directive) => /^no-store$/i.test(directive)) ? kept.join(', ') : ['private', ...kept].join(', ');
}

/** Credentials, and headers that belong to the connection of a proxy. */
const HIDDEN_HEADERS = /^(?:authorization|cookie|proxy-.*)$/;

/** Returns whether a header of a request, in lower case, is not passed to the handler of an app. */
export const isHiddenFromApps = (name: string): boolean => HIDDEN_HEADERS.test(name);

/** Headers by which a handler would name another caller, a browser or a proxy. */
const ORIGIN_HEADERS =
  /^(?:accept-encoding|authorization|cookie|forwarded|origin|traceparent|tracestate|x-real-ip|x-request-id|(?:dws|sec|x-forwarded)-.*)$/;

/** Returns whether a header, in lower case, is refused in requests of handlers to the REST API. */
export const isRefusedFromApps = (name: string): boolean => isOfConnection(name) || ORIGIN_HEADERS.test(name);

/** Returns the issue of a header of a request; undefined for a valid one. */
export function headerIssue(name: string, value: string): string | undefined {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/.test(name)) return 'has a name that HTTP does not allow';
  // Code points above 255 have no byte in a header.
  return /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value) ? undefined : 'has a value that HTTP does not allow';
}
