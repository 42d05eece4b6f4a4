import type { ImageRequest } from '../../core/ai.ts';
import { upstreamFailed } from '../../core/errors.ts';
import { callProvider, hostOf, malformed, postJson, type ProviderCall } from './provider-call.ts';
import { maskQuoted } from './provider-refusal.ts';

const MAX_IMAGE_BYTES = 20_000_000;
/** Base64 has four characters for three bytes, with room for the rest of the response, e.g. a revised prompt. */
const MAX_RESPONSE_BYTES = Math.ceil(MAX_IMAGE_BYTES / 3) * 4 + 100_000;
const NOT_BASE64 = /[^A-Za-z0-9+/=]/;
/** Prefix that some servers put before the Base64 of an image (RFC 2397). */
const DATA_URL = /^data:[^,]{0,100};base64,/i;

/** Implements `AiClient.createImage`. */
export function createImage(
  from: Omit<ProviderCall, 'prompts'>,
  { model, prompt, size }: ImageRequest,
): Promise<Buffer> {
  return callProvider({ ...from, prompts: [prompt] }, async (call) => {
    const body = { model, prompt, n: 1, ...(size !== null && { size }) };
    const response = await postJson(call, '/images/generations', body, MAX_RESPONSE_BYTES);
    return readImage(call, response);
  });
}

/** Returns the bytes of the image in a response, or at its URL. */
function readImage(call: ProviderCall, { data }: Record<string, unknown>): Promise<Buffer> {
  const host = hostOf(call.endpoint);
  const image = Array.isArray(data) ? (data[0] as { b64_json?: unknown; url?: unknown } | null | undefined) : undefined;
  const text = [image?.b64_json, image?.url].find((value) => typeof value === 'string') ?? '';
  if (typeof image?.b64_json === 'string' || DATA_URL.test(text)) return Promise.resolve(decode(text, host));
  if (typeof image?.url === 'string')
    return download(call, image.url).catch((error: unknown) => {
      // The URL names the host, and the provider may have put anything there.
      if (error instanceof Error) error.message = maskQuoted(error.message, call);
      throw error;
    });
  throw malformed(host, 'it has no image');
}

function decode(encoded: string, host: string): Buffer {
  const text = encoded.replace(DATA_URL, '').replaceAll(/\s/g, '');
  if (text === '' || NOT_BASE64.test(text)) throw malformed(host, 'the image is not base64');
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length > MAX_IMAGE_BYTES) throw upstreamFailed(tooLargeAt(host));
  return bytes;
}

/** Downloads an image without the key: the URL may be of any host. */
async function download({ outbound, timeoutMs, signal }: ProviderCall, url: string): Promise<Buffer> {
  const response = await outbound.fetch(url, {
    headers: { accept: 'image/png, image/jpeg, image/webp' },
    signal,
    maxBytes: MAX_IMAGE_BYTES,
    firstByteTimeoutMs: timeoutMs,
  });
  const host = new URL(url).hostname;
  if (response.ok) return Buffer.from(await response.arrayBuffer());
  await response.body?.cancel();
  throw upstreamFailed(`The host "${host}" responded with ${response.status} to the download of the image`);
}

const tooLargeAt = (host: string): string => `The image of the host "${host}" has more than ${MAX_IMAGE_BYTES} bytes`;
