import { ApiError, upstreamFailed } from '../../../../core/errors.ts';
import { invalid } from '../../../../core/input-checks.ts';
import type { ActionRun } from '../../../../core/job-drivers.ts';
import { MASK } from '../../../../core/mask.ts';
import { quoteUpstream } from '../../../../core/outbound.ts';
import { checkHeaderNames } from '../../../resource/header-names.ts';
import { defineAction } from '../action-schema.ts';
import { type WebhookData, createCall, signCall } from './webhook-call.ts';

/** Minimum length of a part of a secret that is a secret too. */
const MIN_PART_LENGTH = 4;

const MAX_RESPONSE_BYTES = 65_536;
export const webhookAction = defineAction<WebhookData>({
  id: 'webhook',
  name: 'Webhook',
  description: 'Calls a URL. With a `secret`, the header `X-DWS-Signature` signs the call.',
  secrets: ['secret', 'headers.*'],
  secretsFor: 'url',
  properties: {
    url: { type: 'string', maxLength: 2000, description: 'Absolute URL with `http` or `https`.' },
    method: { enum: ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'], description: 'HTTP method. Default: POST.' },
    headers: {
      type: 'object',
      maxProperties: 50,
      // The characters of HTTP headers, or the mask of a stored value.
      additionalProperties: { type: 'string', maxLength: 8000, pattern: `^(?:[\\t -~\\u0080-\\u00ff]*|${MASK})$` },
      description: 'Headers. Their values are secrets.',
    },
    body: {
      description: 'Body: a text as it is, any other value as JSON. Default: a JSON document that describes the run.',
    },
    secret: { type: 'string', minLength: 1, maxLength: 1000, description: 'Key of the signature. A secret.' },
  },
  required: { url: true },
  prepare(data) {
    const { url, method, headers = {} } = data;
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw invalid('data.url', 'must be an absolute URL with http or https');
    // A password in the URL would not be a secret.
    if (new URL(url).username || new URL(url).password) throw invalid('data.url', 'must not contain credentials');
    if (method === 'GET' && 'body' in data) throw invalid('data.body', 'must be absent with the method GET');
    checkHeaderNames(Object.keys(headers), 'data.headers');
    return data;
  },
  run: call,
  async preview({ data, job, action }) {
    const { headers, ...described } = createCall(data, { job, action, runId: null });
    const signed = 'secret' in data && { 'X-DWS-Timestamp': null, 'X-DWS-Signature': null };
    return { ...described, headers: { ...headers, 'X-DWS-Delivery': null, ...signed } };
  },
});

/** Sends the call. Every response but 2xx is a failure. */
async function call(run: ActionRun<WebhookData>): Promise<void> {
  const { data, secrets, signal } = run;
  const headers = Object.fromEntries(
    Object.keys(data.headers ?? {}).map((name) => [name, secrets.get(`headers.${name}`)!]),
  );
  const { url, method, body, ...sent } = createCall({ ...data, headers }, run);
  const spellings = spellingsOf(secrets.values());
  const startedAt = performance.now();
  const response = await run.ctx.platform.outbound
    .fetch(url, {
      method,
      headers: { ...sent.headers, ...signCall({ body }, run, secrets.get('secret')) },
      body,
      signal,
      maxBytes: MAX_RESPONSE_BYTES,
    })
    .catch((error: unknown) => {
      throw maskError(error, spellings);
    });
  // A body that is too large or too slow says nothing more than the status.
  const text = await response.text().catch(() => '');
  const said = `The host "${new URL(url).hostname}" responded with ${response.status}`;
  run.log(`${said} in ${Math.round(performance.now() - startedAt)} ms`);
  if (response.ok) return;
  const quoted = quoteUpstream(text, spellings);
  throw upstreamFailed(quoted ? `${said}: ${quoted}` : said);
}

/** Returns an error without secrets, which a redirect can repeat. Its cause is left out, because logs contain it. */
function maskError(error: unknown, spellings: readonly string[]): unknown {
  if (!(error instanceof ApiError)) return error;
  return new ApiError(error.status, error.code, quoteUpstream(error.message, spellings));
}

/**
 * Returns the texts by which a host can repeat secrets: the secrets, their words, such as the token after `Bearer`, the
 * parts of Basic credentials, and each as in JSON and in URLs. The longest come first, because one can contain another.
 */
function spellingsOf(secrets: Iterable<string>): string[] {
  const wholes = [...secrets].flatMap((secret) => [secret, secret.trim()]);
  const words = wholes.flatMap((secret) => secret.split(/\s+/));
  const decoded = words.flatMap((word) => Buffer.from(word, 'base64').toString().split(':'));
  const parts = [...words, ...decoded].filter((part) => part.length >= MIN_PART_LENGTH);
  const spellings = [...wholes, ...parts].flatMap((text) => [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text.toWellFormed()),
  ]);
  return [...new Set(spellings)].filter((text) => text !== '').sort((a, b) => b.length - a.length);
}
