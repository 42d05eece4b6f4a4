import { expect } from 'vitest';

/** A response with its body parsed if it is JSON, otherwise as text. */
export interface ApiResponse<T = any> {
  status: number;
  headers: Headers;
  body: T;
}

/** A caller of both APIs with fixed credentials. */
export class Client {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly id: string;
  readonly username: string;

  constructor(url: string, headers: Record<string, string> = {}, { id = '', username = '' } = {}) {
    this.url = url;
    this.headers = headers;
    this.id = id;
    this.username = username;
  }

  /** Returns the same caller with further headers. */
  with(headers: Record<string, string>): Client {
    return new Client(this.url, { ...this.headers, ...headers }, this);
  }

  async request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse> {
    const raw = typeof body === 'string' || body instanceof FormData;
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(body !== undefined && !raw && { 'content-type': 'application/json' }),
        ...this.headers,
        ...headers,
      },
      ...(body !== undefined && { body: raw ? (body as string) : JSON.stringify(body) }),
      redirect: 'manual',
    });
    const text = await response.text();
    const json = /[/+]json\b/.test(response.headers.get('content-type') ?? '') && text !== '';
    return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text };
  }

  get(path: string, headers?: Record<string, string>): Promise<ApiResponse> {
    return this.request('GET', `/api${path}`, undefined, headers);
  }

  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse> {
    return this.request('POST', `/api${path}`, body, headers);
  }

  put(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse> {
    return this.request('PUT', `/api${path}`, body, headers);
  }

  delete(path: string, headers?: Record<string, string>): Promise<ApiResponse> {
    return this.request('DELETE', `/api${path}`, undefined, headers);
  }

  /** Creates a resource by POST and returns the record. Fails the test on any other status than 200 or 201. */
  async creates(path: string, body: unknown): Promise<ApiResponse['body']> {
    const answer = await this.post(path, body);
    expect(answer, `POST ${path}`).toMatchObject({
      status: expect.toSatisfy((status: number) => status === 200 || status === 201),
    });
    return answer.body;
  }

  /** Runs a GraphQL document and returns `{status, data, errors, extensions}`. */
  async gql(
    query: string,
    variables?: Record<string, unknown>,
  ): Promise<{
    status: number;
    headers: Headers;
    data: ApiResponse['body'];
    errors: ApiResponse['body'];
    extensions: ApiResponse['body'];
  }> {
    const { status, headers, body } = await this.request('POST', '/graphql', { query, variables });
    return { status, headers, ...body };
  }

  /** Runs a GraphQL document and returns its data. Errors fail the test. */
  async data(query: string, variables?: Record<string, unknown>): Promise<ApiResponse['body']> {
    const { data, errors } = await this.gql(query, variables);
    expect(errors, query).toBeUndefined();
    return data;
  }
}
