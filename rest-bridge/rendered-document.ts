import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { AdapterCall } from './call.ts';
import { receiveFile } from './file-contents.ts';

/** A rendition as the schema returns it, without its contents. */
interface RenditionRecord {
  id: string;
  templateId: string;
  filename: string;
  contentType: string;
  sha256: string;
}

/** Sends the document that was rendered, with its address as `Location`, or the record of the operation as 202. */
export async function renderedDocument(call: AdapterCall): Promise<Readable | FastifyReply | string> {
  const send = receiveFile(call);
  const { status, body, headers } = await call.run();
  if (status === 202) {
    void call.reply.code(202).headers({ ...headers, 'content-type': 'application/json; charset=utf-8' });
    return JSON.stringify(body);
  }
  const rendition = body as RenditionRecord;
  void call.reply.header('location', `/api/templates/${rendition.templateId}/renditions/${rendition.id}`);
  return send(rendition);
}
