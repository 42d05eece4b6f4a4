import { CursorLost, FileUnreadable, type DriveAccess } from '../../core/drive.ts';
import { ApiError, notFound, tooLarge, upstreamFailed } from '../../core/errors.ts';
import { quoteUpstream } from '../../core/outbound.ts';
import { repeatWhileBusy, type Busy } from '../../core/retry-delay.ts';
import { DriveRefusal, toRefusal } from './drive-refusal.ts';
import { StatedObject } from './stated-object.ts';

const MAX_JSON_BYTES = 8 * 1024 * 1024;

/** A call of the API of a drive. */
export interface DriveCall {
  method?: 'GET' | 'POST';
  headers?: Readonly<Record<string, string>>;
  body?: string;
  /** Keys whose numbers are returned as text because they are too large for a number. */
  longNumbers?: readonly string[];
}

/** Calls a drive and returns the JSON of its response. Throws `DriveRefusal` for an error, after up to five tries. */
export function readDrive(access: DriveAccess, url: string, call: DriveCall = {}): Promise<StatedObject> {
  return tryRepeatedly(access, url, call, false, async (response, token) => {
    const text = await response.text();
    return parseJson(text, new URL(url).hostname, token, call.longNumbers ?? []);
  });
}

/**
 * Opens a file. Throws `DriveRefusal` for an error, after up to five tries; PAYLOAD_TOO_LARGE past `maxBytes`; UPSTREAM_FAILED
 * for a part of the file.
 */
export async function downloadDrive(
  access: DriveAccess,
  url: string,
  call: DriveCall,
  maxBytes: number,
): Promise<AsyncIterable<Uint8Array>> {
  const response = await tryRepeatedly(access, url, call, true, (opened) => Promise.resolve(opened));
  // No range was requested: the rest would be missing.
  if (response.status === 206) {
    await response.body?.cancel();
    throw upstreamFailed(`The host "${new URL(url).hostname}" sent a part of the file only`);
  }
  const isEncoded = response.headers.has('content-encoding');
  const stated = isEncoded ? 0 : Number(response.headers.get('content-length') ?? 0);
  if (stated > maxBytes) {
    await response.body?.cancel();
    throw fileTooLarge(maxBytes);
  }
  return limitParts(response.body, maxBytes);
}

const fileTooLarge = (maxBytes: number) => tooLarge(`The file has more than ${maxBytes} bytes`);

async function* limitParts(body: ReadableStream<Uint8Array> | null, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const part of body ?? []) {
    size += part.length;
    if (size > maxBytes) throw fileTooLarge(maxBytes);
    yield part;
  }
}

/** Calls until there is a response to read: later after a transient failure, and with another token once. */
async function tryRepeatedly<T>(
  access: DriveAccess,
  url: string,
  call: DriveCall,
  isDownload: boolean,
  read: (response: Response, token: string) => Promise<T>,
): Promise<T> {
  const callWith = (token: string) =>
    repeatWhileBusy(
      access.signal,
      async () => {
        const response = await send(access, url, call, isDownload, token);
        if (response.ok && response.status !== 202) return read(response, token);
        throw await toRefusal(response, new URL(url).hostname, token);
      },
      toBusy,
    );
  const token = await access.token();
  try {
    return await callWith(token);
  } catch (error) {
    if (!(error instanceof DriveRefusal) || error.httpStatus !== 401) throw error;
    return callWith(await access.token(token));
  }
}

/** Returns whether a later try may succeed. The client throws UNAVAILABLE for lost connections, too. */
function toBusy(error: unknown): Busy | null {
  if (!(error instanceof ApiError) || error.code !== 'UNAVAILABLE') return null;
  return { retryAfter: error instanceof DriveRefusal ? error.retryAfter : null };
}

const send = (access: DriveAccess, url: string, call: DriveCall, isDownload: boolean, token: string) =>
  access.outbound.fetch(url, {
    method: call.method,
    headers: { accept: isDownload ? '*/*' : 'application/json', ...call.headers, authorization: `Bearer ${token}` },
    body: call.body,
    signal: access.signal,
    maxBytes: isDownload ? Number.MAX_SAFE_INTEGER : MAX_JSON_BYTES,
    returnsAnyStatus: true,
    isDownload,
  });

/** JSON.parse passes the source of a number to its reviver, which the types do not know yet. A reviver takes time. */
function parseJson(text: string, host: string, token: string, longNumbers: readonly string[]): StatedObject {
  const keepDigits = (key: string, value: unknown, { source }: { source?: string }) =>
    typeof value === 'number' && longNumbers.includes(key) ? source : value;
  try {
    const reviver = longNumbers.length > 0 ? (keepDigits as (key: string, value: unknown) => unknown) : undefined;
    const value: unknown = JSON.parse(text, reviver);
    if (typeof value === 'object' && value !== null) return new StatedObject(value);
  } catch {
    // Reported below, like a value that is not an object.
  }
  throw upstreamFailed(`The response of the host "${host}" is not a JSON object: ${quoteUpstream(text, [token])}`);
}

/** Returns the URL of a next page. Throws unless it is of the API, which gets the token. */
export function checkNextLink(access: DriveAccess, link: string): string {
  const url = URL.parse(link);
  if (url?.origin !== new URL(access.apiUri).origin)
    throw upstreamFailed('The drive names a next page at another host');
  return url.href;
}

/** Runs a call about an item. Throws NOT_FOUND where the refusal is one of `isMissing`. */
export async function findAtDrive<T>(
  what: string,
  id: string,
  call: Promise<T>,
  isMissing: (refusal: DriveRefusal) => boolean = ({ httpStatus }) => httpStatus === 404,
): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw error instanceof DriveRefusal && isMissing(error) ? notFound({ what: `${what} at the drive`, id }) : error;
  }
}

/** Waits for contents. Throws `FileUnreadable` where `whyUnreadable` knows a reason of the refusal. */
export async function orUnreadable<T>(
  call: Promise<T>,
  whyUnreadable: (refusal: DriveRefusal) => string | undefined,
): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const reason = error instanceof DriveRefusal ? whyUnreadable(error) : undefined;
    throw reason === undefined ? error : new FileUnreadable(reason, { cause: error });
  }
}

/** Waits for a call with a cursor. Throws `CursorLost` where the refusal is one of `isLost`. */
export async function orLoseCursor<T>(
  drive: string,
  call: Promise<T>,
  isLost: (refusal: DriveRefusal) => boolean,
): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof DriveRefusal) || !isLost(error)) throw error;
    throw new CursorLost(`${drive} no longer knows the cursor`, { cause: error });
  }
}
