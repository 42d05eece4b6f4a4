import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { AppRequest, AppResponse, HandlerRoute, RunningApp, SendResponse } from '../../core/app-run.ts';
import { newId } from '../../core/id.ts';
import { KEY_RETENTION, keyHasNoResponse, keyReused, keyRuns } from '../../core/idempotency.ts';
import type { Platform } from '../../core/platform.ts';
import { storageIssue } from '../resource/storage-limit.ts';
import { noRouteFor } from './app-route-match.ts';

/** The `config.idempotency` of a webhook. */
export interface IdempotencyConfig {
  /** Name of the header with the key. */
  header: string;
}

/** A run that has not ended by then was killed: it is longer than a handler may wait and run. */
const MAX_RUN = '3 minutes';
const MAX_BODY_BYTES = 1_000_000;
/** Bytes of the responses that are kept of the proven calls of an app, and of its other calls. */
const MAX_KEPT_BYTES = 50_000_000;
/** Longest delay of an attempt to record that a call has run. Each is twice as long as the one before. */
const MAX_NOTE_DELAY_MS = 128_000;
/** Maximum number of attempts to claim a key. */
const MAX_TRIES = 3;

/** A call of a route with an idempotency header. */
interface KeyedCall {
  app: RunningApp;
  route: HandlerRoute;
  request: AppRequest;
  /** Name of the idempotency header. */
  header: string;
  /** Whether it is known who sent it: by the hook token or a signature. */
  isProven: boolean;
}

interface Claim extends Record<string, unknown> {
  /** Id of the run that has taken the key. */
  runId: string;
  /** Digest of its request. */
  request: string;
  /** The encrypted response (`toStored`), empty if it is not kept; null while it runs. */
  response: Buffer | null;
}

const digestOf = (...parts: (string | Uint8Array)[]): string =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex');

/**
 * Runs a webhook once for each value of its idempotency header, and returns the response of the first run for 24 hours.
 * Proven calls and others have separate keys. The key of a call without proof includes the request, so that no caller
 * can take the key of another request. Responses from 500 on are not kept. A response that the run sends before its end
 * is kept immediately. Throws CONFLICT while the first run lasts: a waiting call would occupy the connection of a
 * public caller, and runs of other processes cannot be awaited. Throws IDEMPOTENCY_KEY_REUSED for another request with the
 * same key of proven calls, and NOT_FOUND for an app that is deleted during the call.
 */
export async function runOnce<T extends { response: AppResponse } | { failure: { status: number } }>(
  platform: Platform,
  { app, route, request, header, isProven }: KeyedCall,
  run: (send: SendResponse) => Promise<T>,
  send: SendResponse = async () => {},
): Promise<T | { response: AppResponse }> {
  const { database, secrets, log } = platform;
  const value = request.headers[header.toLowerCase()];
  if (!value) return run(send);
  const query: Platform['system']['query'] = (statement) => database.query(app.tenantId, statement);
  const { method, path, body } = request;
  const digest = digestOf(`${method} ${path}\n${JSON.stringify(request.query)}\n`, body);
  const key = isProven
    ? digestOf(`${method} ${route.path}\n${value}`)
    : digestOf(`open ${method} ${route.path}\n${digest}\n${value}`);
  const runId = newId();
  const claim = await take(query, app, { key, digest, runId, isProven });
  if (!claim) throw noRouteFor(request);
  if (claim.runId !== runId) return { response: responseOf(claim, digest, header, secrets) };
  const own = [app.tenantId, app.id, key, runId];
  const release = () =>
    query({
      text: `delete from dws.webhook_reply where tenant_id = $1 and app_id = $2 and key = $3 and run_id = $4`,
      values: own,
    }).catch((error: unknown) => log.error({ err: error }, 'Could not release an idempotency key'));
  let isKept = false;
  const keep = (response: Buffer) =>
    query({
      text: `
        update dws.webhook_reply
        set response = case when octet_length($5::bytea) + (${KEPT_BYTES}) <= $7 then $5 else '' end
        where tenant_id = $1 and app_id = $2 and key = $3 and run_id = $4`,
      values: [...own, response, isProven, MAX_KEPT_BYTES],
    });
  const keepResponse = async (response: AppResponse) => {
    isKept = true;
    // If the sizes cannot be read, the key is kept without its response, so that the handler does not run again.
    const isFull = await storageIssue(platform, app.tenantId, app.id).then(Boolean, () => true);
    await keep(isFull ? NOT_KEPT : toStored(response, secrets)).catch((error: unknown) => {
      log.error({ err: error }, 'Could not keep the response of a webhook');
      void noteRun(() => keep(NOT_KEPT), log);
    });
  };
  const sendKept = async (response: AppResponse) => {
    if (response.status < 500) await keepResponse(response);
    await send(response);
  };
  const result = await run(sendKept).catch(async (error: unknown) => {
    if (!isKept) await release();
    throw error;
  });
  if (isKept) return result;
  if ('response' in result && result.response.status < 500) await keepResponse(result.response);
  else await release();
  return result;
}

/** Stands for a response that is not kept. */
const NOT_KEPT = Buffer.alloc(0);

/**
 * SQL for the bytes of the kept responses of an app, of proven calls or of others. An index contains all columns that
 * it reads.
 */
export const KEPT_BYTES = `
  select coalesce(sum(bytes), 0) from dws.webhook_reply where tenant_id = $1 and app_id = $2 and proven = $6`;

/** Records that a call has run, so that it does not run again, as soon as the database is available. */
async function noteRun(note: () => Promise<unknown>, log: Platform['log']): Promise<void> {
  for (let delayMs = 1000; ; delayMs *= 2)
    try {
      await note();
      return;
    } catch (error) {
      if (delayMs > MAX_NOTE_DELAY_MS) {
        log.error({ err: error }, 'Could not note that a webhook has run; a repeated call will run again');
        return;
      }
      await delay(delayMs, undefined, { ref: false });
    }
}

/** Returns a response as it is encrypted: status and headers as a line of JSON, then the body. Empty if it is too large. */
const toStored = ({ status, headers, body }: AppResponse, secrets: Platform['secrets']): Buffer =>
  body.length > MAX_BODY_BYTES
    ? NOT_KEPT
    : secrets.sealBytes(Buffer.concat([Buffer.from(`${JSON.stringify({ status, headers })}\n`), body]));

/** Takes a key for a run, unless another run has it. Returns the claim of the run that has it; null without the app. */
async function take(
  query: Platform['system']['query'],
  { id, tenantId }: RunningApp,
  { key, digest, runId, isProven }: { key: string; digest: string; runId: string; isProven: boolean },
): Promise<Claim | null> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const [taken] = await query<Claim>({
      text: `
        insert into dws.webhook_reply as r (tenant_id, app_id, key, request, run_id, proven, running_until)
        select tenant_id, id, $3, $4, $5, $6, now() + interval '${MAX_RUN}'
        from dws.app
        where tenant_id = $1 and id = $2
        on conflict (app_id, key) do update set
          request = excluded.request, run_id = excluded.run_id, running_until = excluded.running_until,
          response = null, created_at = excluded.created_at
        where r.created_at < now() - interval '${KEY_RETENTION}' or r.response is null and r.running_until < now()
        returning r.run_id as "runId", r.request, r.response`,
      values: [tenantId, id, key, digest, runId, isProven],
    });
    if (taken) return taken;
    const [other] = await query<Claim | { runId: null }>({
      text: `
        select r.run_id as "runId", r.request, r.response
        from dws.app a
        left join dws.webhook_reply r on r.tenant_id = a.tenant_id and r.app_id = a.id and r.key = $3
        where a.tenant_id = $1 and a.id = $2`,
      values: [tenantId, id, key],
    });
    if (!other) return null;
    if (other.runId !== null) return other;
  }
  throw keyRuns();
}

/** Returns the response of another run. Throws CONFLICT without one. */
function responseOf(
  { request, response }: Claim,
  digest: string,
  header: string,
  secrets: Platform['secrets'],
): AppResponse {
  if (request !== digest) throw keyReused(`The value of the header ${header}`);
  if (response === null) throw keyRuns();
  if (response.length === 0) throw keyHasNoResponse();
  const stored = secrets.openBytes(response, 'the response of the first call');
  const end = stored.indexOf('\n');
  const { status, headers } = JSON.parse(stored.toString('utf8', 0, end)) as Pick<AppResponse, 'status' | 'headers'>;
  return { status, headers, body: stored.subarray(end + 1) };
}
