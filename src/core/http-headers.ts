/** Headers that belong to a connection, and those that follow from what is sent. */
const OF_CONNECTIONS: ReadonlySet<string> = new Set([
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
export const isOfConnection = (name: string): boolean => OF_CONNECTIONS.has(name);

/** Returns what is wrong with a header of a request; undefined for a valid one. */
export function headerIssue(name: string, value: string): string | undefined {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/.test(name)) return 'has a name that HTTP does not allow';
  // Code points above 255 have no byte in a header.
  return /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value) ? undefined : 'has a value that HTTP does not allow';
}
