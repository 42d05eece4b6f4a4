import { errors } from '@elastic/elasticsearch';
import type { Client } from '@elastic/elasticsearch';
import type { IndexedField } from '../../../core/dataset-index.ts';
import { gone, upstreamFailed } from '../../../core/errors.ts';
import type { Batch } from './document-batches.ts';
import { mappingConflict } from './mapping-conflict.ts';
import type { Refusal } from './mapping-conflict.ts';
import { RetryDelay } from './retry.ts';

/** Concurrent requests: the engine works on one while the next one is sent. */
const SENDERS = 2;
const PASSING_STATUS = new Set([429, 503]);
const NEW_LINE = 10;

/** Target of documents, with the names of their fields. */
export interface BulkTarget {
  client: Client;
  /**
   * An alias, which is deleted with its index: a late request then fails, whereas the name of a missing index would
   * create it again.
   */
  alias: string;
  fields: readonly IndexedField[];
}

interface BulkResponse {
  errors: boolean;
  items: { index: { status: number; error?: Refusal } }[];
}

/**
 * Sends all batches, two at a time. `read` yields them and stops waiting when its signal aborts. Rows are sent again
 * while the engine is only busy or unavailable. Their ids are their numbers, so none is lost or duplicated. `sent` is
 * called with the number of rows of each batch that was stored.
 *
 * Throws UPSTREAM_FAILED with `search-index mapping conflict`, naming field and value, for a row that does not fit, and
 * UNAVAILABLE when the engine remains unavailable.
 */
export async function sendBatches(
  target: BulkTarget,
  read: (stop: AbortSignal) => AsyncGenerator<Batch>,
  signal: AbortSignal,
  sent: (rows: number) => void,
): Promise<void> {
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  const batches = read(stop);
  const sender = async () => {
    // The senders share one generator, which yields one batch after the other.
    for (let batch = await batches.next(); !batch.done; batch = await batches.next()) {
      await sendBatch(target, batch.value.body, stop);
      sent(batch.value.rows);
    }
  };
  const senders = Array.from({ length: SENDERS }, () =>
    sender().catch((error: unknown) => {
      failed.abort(error);
      throw error;
    }),
  );
  const [failure] = (await Promise.allSettled(senders)).filter(({ status }) => status === 'rejected');
  await batches.return(undefined);
  if (failure) throw signal.aborted ? signal.reason : failed.signal.reason;
}

/** Sends one batch until all of it is stored. */
async function sendBatch(target: BulkTarget, body: Batch['body'], signal: AbortSignal): Promise<void> {
  let left = body;
  const retryDelay = new RetryDelay(signal);
  for (;;) {
    const response = await request(target, left, signal).catch((error: unknown) => retryDelay.afterFailure(error));
    if (!response) continue;
    if (!response.errors) return;
    const rest = unsentLines(left, response, target.fields);
    if (rest.length < left.length) retryDelay.restart();
    left = rest;
    await retryDelay.wait();
  }
}

async function request({ client, alias }: BulkTarget, bulkBody: Buffer, signal: AbortSignal): Promise<BulkResponse> {
  const querystring = { require_alias: true, filter_path: 'errors,items.*.status,items.*.error' };
  try {
    return await client.transport.request<BulkResponse>(
      { method: 'POST', path: `/${alias}/_bulk`, bulkBody, querystring },
      { signal, maxRetries: 0 },
    );
  } catch (error) {
    throw error instanceof errors.ResponseError && error.statusCode === 413
      ? upstreamFailed('A row is longer than the search engine takes')
      : error;
  }
}

/** Returns the lines of a request that must be sent again. */
function unsentLines(body: Buffer, { items }: BulkResponse, fields: readonly IndexedField[]): Batch['body'] {
  const rest: Uint8Array[] = [];
  let end = 0;
  for (const {
    index: { status, error = {} },
  } of items) {
    const [start, middle] = [end, body.indexOf(NEW_LINE, end) + 1];
    end = body.indexOf(NEW_LINE, middle) + 1;
    if (status < 300) continue;
    if (PASSING_STATUS.has(status)) rest.push(body.subarray(start, end));
    else if (status === 400)
      rest.push(
        body.subarray(start, middle),
        Buffer.from(withoutDuplicateKeys(body.toString('utf8', middle, end - 1), error, fields)),
      );
    else if (status === 404) throw gone('These rows are no longer stored');
    else throw upstreamFailed(`The search engine refused a row (${status}, ${error.type ?? 'no reason was given'})`);
  }
  return Buffer.concat(rest);
}

/**
 * Removes duplicate keys of an object, which the engine rejects. `JSON.parse` keeps the last of them, which is what
 * readers see. If the result is rejected too, the row does not fit.
 */
function withoutDuplicateKeys(document: string, refusal: Refusal, fields: readonly IndexedField[]): string {
  const again = JSON.stringify(JSON.parse(document));
  if (again === document) throw mappingConflict(document, refusal, fields);
  return `${again}\n`;
}
