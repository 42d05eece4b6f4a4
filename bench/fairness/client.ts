/** Calls of the measured service. */

export const PORT = 6131;
export const BASE = `http://127.0.0.1:${PORT}`;

interface Call {
  method?: string;
  /** Sent as JSON, or as a form. */
  body?: object;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Sends a request and reads the whole response. */
export async function send(
  token: string,
  path: string,
  { method, body, headers, signal }: Call = {},
): Promise<{ status: number; text: string }> {
  const isForm = body instanceof FormData;
  const response = await fetch(`${BASE}${path}`, {
    method: method ?? (body ? 'POST' : 'GET'),
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && !isForm && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: isForm ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  return { status: response.status, text: await response.text() };
}

/** Sends a request and returns the body of its response. Throws unless it succeeds. */
export async function call(token: string, path: string, options: Call = {}): Promise<Record<string, any>> {
  const { status, text } = await send(token, path, options);
  if (status >= 300) throw new Error(`${options.method ?? ''} ${path} returned ${status} ${text}`);
  return text ? (JSON.parse(text) as Record<string, any>) : {};
}

/** Creates the form of an upload. */
export function createForm(content: string | Uint8Array<ArrayBuffer>): FormData {
  const form = new FormData();
  form.append('file', new Blob([content], { type: 'text/csv' }), 'rows.csv');
  return form;
}

/** Runs a task for each item, four at a time. */
export async function inParallel<T, R>(items: readonly T[], task: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const rest = items.entries();
  const work = async () => {
    for (const [i, item] of rest) results[i] = await task(item);
  };
  await Promise.all([work(), work(), work(), work()]);
  return results;
}
