import { ApiError } from '../../core/errors.ts';
import { SyncError, type CreditReport, type LicenseManager, type SyncFailure } from '../../core/license-manager.ts';
import type { OutboundClient } from '../../core/outbound.ts';

const MAX_RESPONSE_BYTES = 65_536;
const TIMEOUT_MS = 10_000;
/** Credits that a JSON number represents exactly. */
const MAX_CREDITS = 999_999_999.999999;

/** Options of the client. Tests set `timeoutMs`. */
interface LicenseManagerOptions {
  /** Base of the URL; `/credits` is appended to it. */
  url: string;
  /** A client that may call the host of the URL. */
  client: OutboundClient;
  timeoutMs?: number;
}

/** Creates the client of a license manager. Closing it closes `client`. */
export function createLicenseManager({ url, client, timeoutMs = TIMEOUT_MS }: LicenseManagerOptions): LicenseManager {
  const address = `${url.replace(/(?<!\/)\/+$/, '')}/credits`;
  return {
    async report(report, signal) {
      const body = await post(client, address, report, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
      signal.throwIfAborted();
      return readIncluded(body);
    },
    close: () => client.close(),
  };
}

/** Returns the body of a response with a status of success. */
async function post(
  client: OutboundClient,
  address: string,
  report: CreditReport,
  signal: AbortSignal,
): Promise<string> {
  try {
    const response = await client.fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(report),
      signal,
      maxBytes: MAX_RESPONSE_BYTES,
      returnsAnyStatus: true,
    });
    const failure = failureOf(response.status);
    if (!failure) return await response.text();
    await response.body?.cancel();
    throw new SyncError(failure, `The license manager returned the status ${response.status}`);
  } catch (error) {
    if (error instanceof SyncError) throw error;
    // A response that is not HTTP, and a body that is too large, is UPSTREAM_FAILED.
    const code = error instanceof ApiError && error.code === 'UPSTREAM_FAILED' ? 'lm_error' : 'lm_unreachable';
    throw new SyncError(code, 'The call of the license manager failed', error);
  }
}

function failureOf(status: number): SyncFailure | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status === 429 || status >= 500) return 'lm_unavailable';
  return status === 401 || status === 403 || status === 404 ? 'license_not_recognized' : 'lm_error';
}

/** Returns the credits of the body `{"included": 1000}`. */
function readIncluded(body: string): number {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch (error) {
    throw new SyncError('lm_error', 'The response of the license manager is not JSON', error);
  }
  const included: unknown =
    typeof parsed === 'object' && parsed !== null && 'included' in parsed ? parsed.included : undefined;
  if (typeof included !== 'number' || !(included >= 0 && included <= MAX_CREDITS))
    throw new SyncError('lm_error', 'The response of the license manager has no valid "included"');
  return included;
}
