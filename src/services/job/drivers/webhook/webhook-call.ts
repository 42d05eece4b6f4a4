import { createHmac } from 'node:crypto';
import type { ActionRun, JobData } from '../../../../core/job-drivers.ts';

/** `data` of a webhook action. */
export interface WebhookData {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** Masked. */
  secret?: string;
}

/** The facts of a call. `runId` is null in a preview. */
type CallFacts = Pick<ActionRun, 'job' | 'action'> & { runId: string | null };

/** A call without its signature. */
export interface WebhookCall {
  method: string;
  url: string;
  headers: Record<string, string>;
  /** Null for GET, which has no body. */
  body: string | null;
}

/** Returns the call that the settings of an action describe. */
export function createCall({ url, method = 'POST', headers = {}, body }: WebhookData, facts: CallFacts): WebhookCall {
  if (method === 'GET') return { method, url, headers, body: null };
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
  const contentType = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json';
  return {
    method,
    url,
    headers: hasType ? headers : { 'Content-Type': contentType, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body === undefined ? describeRun(facts) : body),
  };
}

/** The body of an action without one. */
const describeRun = ({ job, action, runId }: CallFacts): JobData => ({
  job: { id: job.id, name: job.name },
  run: { id: runId },
  action: { id: action.id, name: action.name },
  at: new Date().toISOString(),
});

/**
 * Returns the headers that identify a call, the same in each attempt of an action, and sign it at a time. See
 * docs/contract/jobs.md#webhooks-of-jobs.
 */
export function signCall(
  { body }: Pick<WebhookCall, 'body'>,
  { runId, action }: Pick<ActionRun, 'runId' | 'action'>,
  secret: string | undefined,
): Record<string, string> {
  const delivery = { 'X-DWS-Delivery': `${runId}.${action.id}` };
  if (secret === undefined) return delivery;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', secret)
    .update(`${timestamp}.${body ?? ''}`)
    .digest('hex');
  return { ...delivery, 'X-DWS-Timestamp': timestamp, 'X-DWS-Signature': `v1=${signature}` };
}
