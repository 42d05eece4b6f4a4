import { finished, Transform, type Readable } from 'node:stream';
import type { AuditedMutation } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import { actorOf, buildAuditStatement } from './audit.ts';

/** A download, as the audit log records it. */
export type AuditedRead = Pick<AuditedMutation, 'action' | 'kind' | 'key' | 'resourceId'> & {
  parameters: readonly string[];
};

/** What a download has read when it ends. */
interface ReadEnd {
  isComplete: boolean;
  rows: number | null;
  bytes: number;
}

type ReadContext = Pick<Context, 'platform' | 'request' | 'viewer'>;

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
}

/** Passes the chunks of a file on, with an event of the audit log. An error before the first chunk is not a download. */
export async function* auditChunks<T extends FileChunk>(
  ctx: ReadContext,
  read: AuditedRead,
  chunks: AsyncIterable<T>,
): AsyncGenerator<T, void, undefined> {
  let end: ((end: ReadEnd) => Promise<void>) | undefined;
  let rows: number | null = null;
  let bytes = 0;
  let isComplete = false;
  try {
    for await (const chunk of chunks) {
      end ??= await beginRead(ctx, { ...read, resourceId: chunk.resourceId ?? read.resourceId });
      rows = chunk.rows ?? null;
      bytes += Buffer.byteLength(chunk.text, chunk.encoding);
      yield chunk;
    }
    isComplete = true;
  } finally {
    await end?.({ isComplete, rows, bytes });
  }
}

/** Returns the bytes of a file, with an event of the audit log that counts what is read of them. */
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
