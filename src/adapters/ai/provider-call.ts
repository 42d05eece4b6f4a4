import type { AiCallTrace, AiEndpoint, BeforeSend } from '../../core/ai.ts';
import { badInput, unavailable, upstreamFailed } from '../../core/errors.ts';
import type { OutboundClient } from '../../core/outbound.ts';
import { repeatWhileBusy } from '../../core/retry-delay.ts';
import { withTimeout } from '../../core/with-timeout.ts';
import { ProviderRefusal, readInnerRefusal, readRefusal } from './provider-refusal.ts';

const MAX_TOKENS = 1_000_000_000;

/** A request to a provider, with its repetitions. */
export interface ProviderCall {
  outbound: OutboundClient;
  /** Maximum time of a try from the request to the end of the response. */
  timeoutMs: number;
  endpoint: AiEndpoint;
  /** Texts of the caller, which no error may quote. */
  prompts: readonly string[];
  signal: AbortSignal;
  trace: AiCallTrace;
  beforeSend: BeforeSend;
}

/** Returns the host of a provider, by which errors name it. */
export const hostOf = ({ baseUrl }: AiEndpoint): string => URL.parse(baseUrl)?.hostname ?? baseUrl;

/**
 * Runs `work` with a call that ends in time, and later again while the provider responds with 429, 502 to 504 or 529. Throws
 * UNAVAILABLE when the time is over or the provider stays busy, BAD_USER_INPUT for a request that it refuses, UPSTREAM_FAILED
 * for its other errors.
 */
export async function callProvider<T>(call: ProviderCall, work: (call: ProviderCall) => Promise<T>): Promise<T> {
  const { timeoutMs, endpoint, signal: callerSignal } = call;
  const late = () => unavailable(`The host "${hostOf(endpoint)}" did not respond within ${timeoutMs / 1000} seconds`);
  try {
    return await repeatWhileBusy(
      callerSignal,
      () => withTimeout(timeoutMs, late, [callerSignal], (signal) => work({ ...call, signal })),
      (error) => (error instanceof ProviderRefusal && error.isBusy ? error : null),
    );
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error;
    const { isBusy, httpStatus, message } = error;
    if (isBusy) throw unavailable(message);
    throw (httpStatus === 400 ? badInput : upstreamFailed)(message);
  }
}

/** Posts JSON to a path of the API and returns the object of the response. Throws `ProviderRefusal` for an error. */
export async function postJson(
  call: ProviderCall,
  path: string,
  body: unknown,
  maxBytes: number,
): Promise<Record<string, unknown>> {
  const { outbound, timeoutMs, endpoint, signal, trace } = call;
  const { baseUrl, apiKey } = endpoint;
  let sending: Promise<void> | undefined;
  const send = async () => {
    // A call that is repeated in another form was recorded as sent.
    if (trace.state === 'unsent') await call.beforeSend();
    signal.throwIfAborted();
    trace.state = 'sent';
  };
  const response = await outbound
    .fetch(`${baseUrl.replace(/(?<!\/)\/+$/, '')}${path}`, {
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify(body),
      signal,
      maxBytes,
      firstByteTimeoutMs: timeoutMs,
      returnsAnyStatus: true,
      beforeSend: () => (sending = send()),
      onStatus: (status) => (trace.state = status < 300 ? 'sent' : 'refused'),
    })
    .catch(async (error: unknown) => {
      await sending;
      throw error;
    });
  if (!response.ok) throw await readRefusal(response, hostOf(endpoint), call);
  const parsed = parseObject(await response.text(), hostOf(endpoint));
  trace.tokens = statedTokens(parsed);
  const refusal = readInnerRefusal(parsed, hostOf(endpoint), call);
  if (!refusal) return parsed;
  if (!trace.tokens) trace.state = 'refused';
  throw refusal;
}

/** Returns the tokens that a response states, whatever else is wrong with it. Null without two valid numbers. */
function statedTokens({ usage }: Record<string, unknown>): AiCallTrace['tokens'] {
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = (usage ?? {}) as Record<string, unknown>;
  return isTokens(inputTokens) && isTokens(outputTokens) ? { inputTokens, outputTokens } : null;
}

const isTokens = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= MAX_TOKENS;

/** Returns the error of a response that is not as the protocol requires. It quotes nothing, as the response may repeat the prompt. */
export const malformed = (host: string, problem: string) =>
  upstreamFailed(`The response of the host "${host}" is malformed: ${problem}`);

function parseObject(text: string, host: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Reported below, like a value that is not an object.
  }
  throw malformed(host, 'it is not a JSON object');
}
