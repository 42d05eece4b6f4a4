import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { AdapterCall, BridgeContext } from './call.ts';
import { dispositionOf } from './disposition.ts';
import { createRevalidation } from './negotiation.ts';

/** A file as the schema returns it, without its bytes. */
interface FileRecord {
  filename: string;
  contentType: string;
  sha256: string;
}

/** What a file may do when it is opened on its own: nothing. */
const POLICY = `default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox`;

/** Media types that browsers show without running anything. Others are downloads. */
const PASSIVE = /^(?:image\/(?:png|jpeg|gif|webp)|font\/\w+|text\/(?:plain|csv|markdown)|application\/json)(?:;|$)/i;

/**
 * Streams the bytes that the field passes to `sendFile`, or sends 304 if the client has them: they are then not opened.
 * Active contents, as HTML and SVG, are downloads without any rights.
 */
export async function fileContents({ run, context, request, reply }: AdapterCall): Promise<Readable | FastifyReply> {
  const revalidation = createRevalidation(request.headers['if-none-match']);
  let file: { content: Readable; size: number } | undefined;
  Object.assign(context, {
    revalidate: (state) => revalidation.revalidate(state),
    sendFile: (content, size) => {
      file = { content, size };
    },
  } satisfies BridgeContext);
  const { filename, contentType, sha256 } = (await run()).body as FileRecord;
  void reply.headers({
    etag: `"${sha256}"`,
    'cache-control': 'private, no-cache',
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-site',
  });
  if (revalidation.isCurrent) return reply.code(304).send();
  void reply.headers({
    'content-type': contentType,
    'content-length': file!.size,
    'content-disposition': dispositionOf(PASSIVE.test(contentType) ? 'inline' : 'attachment', filename),
  });
  // The client may have disconnected in the meantime: nothing will read the file.
  if (reply.raw.destroyed) file!.content.destroy();
  return file!.content;
}
