/** Whole HTTP/1.1 requests as text, which bench/load.ts sends. */

/** Returns a request; `body` is sent as JSON. */
export function request(method: string, path: string, token = '', body?: object): string {
  const text = body ? JSON.stringify(body) : '';
  const head = [
    `${method} ${path} HTTP/1.1`,
    'host: bench',
    ...(token ? [`authorization: Bearer ${token}`] : []),
    ...(body ? ['content-type: application/json', `content-length: ${Buffer.byteLength(text)}`] : []),
  ];
  return `${head.join('\r\n')}\r\n\r\n${text}`;
}

/** Returns the request of a GraphQL operation. */
export const graphqlRequest = (query: string, variables: object, token: string): string =>
  request('POST', '/graphql', token, { query, variables });
