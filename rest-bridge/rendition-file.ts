import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { AdapterCall, BridgeContext } from './call.ts';
import { attachmentNamed } from './export-stream.ts';
import { createRevalidation } from './negotiation.ts';

/** A rendition as the schema returns it, without its contents. */
interface PresentedRendition {
  id: string;
  templateId: string;
  filename: string;
  contentType: string;
  sha256: string;
}

/** What a document may do when it is opened on its own: nothing but show itself. */
const POLICY = `sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; frame-ancestors 'none'`;

/** Lets the field of a row send bytes. Returns the function that sends them as a download with the name of the rendition. */
function receiveFile({ context, request, reply }: AdapterCall) {
  const revalidation = createRevalidation(request.method === 'POST' ? undefined : request.headers['if-none-match']);
  let file: { content: Readable; size: number } | undefined;
  Object.assign(context, {
    revalidate: (state) => revalidation.revalidate(state),
    sendFile: (content, size) => {
      file = { content, size };
    },
  } satisfies BridgeContext);
  return ({ filename, contentType, sha256 }: PresentedRendition): Readable | FastifyReply => {
    void reply.headers({
      etag: `"${sha256}"`,
      'cache-control': 'private, no-cache',
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
    });
    if (revalidation.isCurrent) return reply.code(304).send();
    void reply.headers({
      'content-type': contentType,
      'content-length': file!.size,
      'content-disposition': attachmentNamed(filename),
    });
    // The client may have disconnected in the meantime: nothing will read the file.
    if (reply.raw.destroyed) file!.content.destroy();
    return file!.content;
  };
}

/** Sends the contents of a rendition. */
export async function renditionContents(call: AdapterCall): Promise<Readable | FastifyReply> {
  const send = receiveFile(call);
  return send((await call.run()).body as PresentedRendition);
}

/** Sends the document that was rendered, with its address as `Location`, or the record of the operation as 202. */
export async function renderedDocument(call: AdapterCall): Promise<Readable | FastifyReply | string> {
  const { reply } = call;
  const send = receiveFile(call);
  const { status, body, headers } = await call.run();
  if (status === 202) {
    void reply.code(202).headers({ ...headers, 'content-type': 'application/json; charset=utf-8' });
    return JSON.stringify(body);
  }
  const rendition = body as PresentedRendition;
  void reply.header('location', `/api/templates/${rendition.templateId}/renditions/${rendition.id}`);
  return send(rendition);
}
