import { finished, Transform, type Readable } from 'node:stream';
import { toApiError } from '../../core/api-error.ts';
import type { Context, PublicContext } from '../../core/context.ts';
import type { Statement } from '../../core/database.ts';
import type { AuditedRead } from '../../core/downloads.ts';
import { actorOf, buildAuditStatement } from './audit.ts';

/** The end of a download, with the numbers of read rows and bytes. */
interface ReadEnd {
  isComplete: boolean;
  rows: number | null;
  bytes: number;
}

type ReadContext = Pick<Context, 'platform' | 'request' | 'viewer'>;

/** Statuses of refusals. A row that the caller may not read is 404, as if it did not exist. */
const REFUSALS: ReadonlySet<number | undefined> = new Set([403, 404]);

/**
 * Inserts the event of a download that failed with an error, if that is a refusal. Does nothing for a caller without
 * credentials, whose tenant is unknown. Logs its own failure: the caller must receive the error.
 */
export async function recordRefusedRead(
  { platform, request, viewer }: PublicContext,
  read: AuditedRead,
  error: unknown,
): Promise<void> {
  if (!viewer || !REFUSALS.has(toApiError(error)?.status)) return;
  const statement = buildAuditStatement(request, { ...read, recorded: true }, actorOf(viewer), 'denied');
  await platform.database
    .query(viewer.tenantId, statement)
    .catch((err: unknown) =>
      platform.log.error({ err, requestId: request.id }, 'A refused download could not be audited'),
    );
}

/**
 * Inserts the event of a download, which must happen before the first byte. Returns the function that completes the event
 * when the download has ended, however it did.
 */
async function beginRead(
  { platform, request, viewer }: ReadContext,
  read: AuditedRead,
): Promise<(end: ReadEnd) => Promise<void>> {
  const statement = buildAuditStatement(request, { ...read, recorded: true }, actorOf(viewer), 'started');
  await platform.database.query(viewer.tenantId, statement);
  return async ({ isComplete, rows, bytes }) => {
    const update = {
      text: `update dws.audit_event set outcome = $2, rows = $3, bytes = $4 where id = $1`,
      values: [statement.values![0], isComplete ? 'succeeded' : 'aborted', rows, bytes],
    };
    await platform.system
      .query(update)
      .catch((err: unknown) =>
        platform.log.error({ err, requestId: request.id }, 'The end of a download could not be audited'),
      );
  };
}

/** A part of a file, as subscriptions to files emit it. */
interface FileChunk {
  text: string;
  encoding: 'utf8' | 'base64';
  rows?: number;
  resourceId?: string;
  sha256?: string;
}

/**
 * Passes the chunks of a file on, with an event of the audit log. An error before the first chunk does not count as a
 * download, but may be a refusal. If the client already has the file, only the first chunk is passed on, without an
 * event.
 */
export async function* auditChunks<T extends FileChunk>(
  ctx: ReadContext & Pick<Context, 'revalidate'>,
  read: AuditedRead,
  chunks: AsyncIterable<T>,
): AsyncGenerator<T, void, undefined> {
  let end: ((end: ReadEnd) => Promise<void>) | undefined;
  let rows: number | null = null;
  let bytes = 0;
  let isComplete = false;
  try {
    for await (const chunk of chunks) {
      if (!end && chunk.sha256 !== undefined && ctx.revalidate?.(chunk.sha256)) {
        yield chunk;
        return;
      }
      end ??= await beginRead(ctx, { ...read, resourceId: chunk.resourceId ?? read.resourceId });
      rows = chunk.rows ?? null;
      bytes += Buffer.byteLength(chunk.text, chunk.encoding);
      yield chunk;
    }
    isComplete = true;
  } catch (error) {
    if (!end) await recordRefusedRead(ctx, read, error);
    throw error;
  } finally {
    await end?.({ isComplete, rows, bytes });
  }
}

/** Returns the bytes of a file, with an event of the audit log that counts the bytes that are read. */
export async function auditContent(ctx: ReadContext, read: AuditedRead, content: Readable): Promise<Readable> {
  let bytes = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  const end = await beginRead(ctx, read).catch((error: unknown) => {
    content.destroy();
    throw error;
  });
  finished(counted, (error) => {
    content.destroy();
    void end({ isComplete: !error, rows: null, bytes });
  });
  content.once('error', (error) => counted.destroy(error));
  return content.pipe(counted);
}

/** Records the text of a file that a request returns as a whole. */
export async function auditText(ctx: ReadContext, read: AuditedRead, bytes: number): Promise<void> {
  const end = await beginRead(ctx, read);
  await end({ isComplete: true, rows: null, bytes });
}

/** Returns the statement that records a stored file which a transaction sends, such as in a queued mail. */
export const buildSentFileStatement = (
  { request, viewer }: Pick<Context, 'request' | 'viewer'>,
  read: AuditedRead,
  bytes: number,
): Statement => buildAuditStatement(request, { ...read, bytes, recorded: true }, actorOf(viewer), 'succeeded');

/** How rows of a dataset are read: as they are, in groups, or as statistics of their fields. */
type RowReadAction = 'datasetRows' | 'datasetAggregate' | 'datasetProfile';

/**
 * Records a read of rows of a dataset where the service does so (`AUDIT_ROW_READS`), before they are returned. `query`
 * has its arguments; only their names are recorded. `rows` is absent for statistics.
 */
export async function auditRows(
  { platform, request, viewer }: ReadContext,
  read: { action: RowReadAction; datasetId: string; query: object; rows?: number },
): Promise<void> {
  if (!platform.config.AUDIT_ROW_READS) return;
  const { action, datasetId, query, rows } = read;
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [name],
  );
  const event = { action, kind: 'dataset', key: null, resourceId: datasetId, parameters, recorded: true };
  const statement = buildAuditStatement(
    request,
    { ...event, ...(rows !== undefined && { rows }) },
    actorOf(viewer),
    'succeeded',
  );
  await platform.database.query(viewer.tenantId, statement);
}
