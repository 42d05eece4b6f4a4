/** A request to an address that a user names. */
export interface OutboundRequest {
  /** Default: GET. */
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array | null;
  signal: AbortSignal;
  /** Maximum size of the decoded response body. */
  maxBytes: number;
  /** Whether a GET follows redirects. Default: true. */
  followsRedirects?: boolean;
  /** Returns 429 and 502 to 504 like any other status, to a caller that retries by itself. */
  returnsAnyStatus?: boolean;
  /** The body may take as long as it arrives with 16,000 bytes a second on average, after a minute: for large files. */
  isDownload?: boolean;
  /** Time from the request to the headers of the response. Default: 30 seconds. */
  firstByteTimeoutMs?: number;
  /**
   * Awaited when there is a connection, right before the request, which has a body, is written to it. Until then the host
   * knows nothing of it. If it rejects, nothing is sent.
   */
  beforeSend?: () => Promise<void>;
  /** Called with the status of the response, before anything else happens to it. */
  onStatus?: (status: number) => void;
}

/**
 * The only client for calls to addresses that users name. It connects to public addresses and to the hosts that
 * `OUTBOUND_ALLOW` names. See docs/contract/running.md#outgoing-calls.
 */
export interface OutboundClient {
  /**
   * Sends a request and returns the response, of any status but the ones below. A GET follows up to five redirects, and
   * sends `headers` to the origin of `url` only; other methods follow none, nor does a GET if `followsRedirects` is
   * false. Throws BAD_USER_INPUT, before anything is sent to it, for an address that is not allowed. Throws UNAVAILABLE
   * if the host does not respond in time, or with 429 or 502 to 504 unless `returnsAnyStatus`; and UPSTREAM_FAILED for
   * too many redirects and for responses that are not HTTP. The body fails likewise, and with UPSTREAM_FAILED past
   * `maxBytes`.
   */
  fetch(url: string, request: OutboundRequest): Promise<Response>;
  /** Throws BAD_USER_INPUT for a URL that `fetch` refuses whatever the address of its host name is. */
  checkUrl(url: string): Promise<void>;
  /** Ends all connections. */
  close(): Promise<void>;
}

const MAX_QUOTED_CHARACTERS = 300;

/** Returns the beginning of a text from outside for an error message, in one line and with dots in place of secrets. */
export function quoteUpstream(text: string, secrets: readonly string[] = []): string {
  const masked = secrets.filter((secret) => secret !== '').reduce((part, secret) => part.replaceAll(secret, '…'), text);
  const line = masked.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
  return line.length > MAX_QUOTED_CHARACTERS
    ? `${line.slice(0, MAX_QUOTED_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '')}…`
    : line;
}

/** Returns the first bytes of an error response as text: what has arrived, if the response breaks off. */
export async function readErrorText({ body }: Response, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of body ?? []) {
      parts.push(part);
      size += part.length;
      if (size > maxBytes) break;
    }
  } catch {
    // The status is known.
  }
  return Buffer.concat(parts).toString('utf8', 0, maxBytes);
}
