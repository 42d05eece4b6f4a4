import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { AdapterCall } from './call.ts';
import { dispositionOf } from './disposition.ts';
import { receiveBytes, type ReceivedFile } from './received-file.ts';

/** A file as the schema returns it, without its bytes. */
interface FileRecord extends ReceivedFile {
  filename: string;
}

/** The policy of a file that is opened on its own: it may do nothing. */
const POLICY = `default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox`;

/** Media types that browsers show without running anything. Others are downloads. */
const PASSIVE = /^(?:image\/(?:png|jpeg|gif|webp)|font\/\w+|text\/(?:plain|csv|markdown)|application\/json)(?:;|$)/i;

/** Returns whether browsers show a media type without running or loading anything for it. */
export const isPassive = (type: string): boolean => PASSIVE.test(type);

/** Sends a file with its headers, or 304 if the client has it. */
type SendFile = (file: FileRecord) => Readable | FastifyReply;

/**
 * Receives a file like `receiveBytes`, and returns the function that sends it. Active contents, as HTML and SVG, are
 * downloads without any rights. With `attached` all contents are.
 */
export function receiveFile(call: AdapterCall, { attached = false }: { attached?: boolean } = {}): SendFile {
  const send = receiveBytes(call);
  return (file) =>
    send(
      file,
      {
        'cache-control': 'private, no-cache',
        'content-security-policy': POLICY,
        'cross-origin-resource-policy': 'same-site',
      },
      {
        'content-disposition': dispositionOf(
          attached || !isPassive(file.contentType) ? 'attachment' : 'inline',
          file.filename,
        ),
      },
    );
}

/** Sends the file that the field returns. */
export async function fileContents(call: AdapterCall): Promise<Readable | FastifyReply> {
  const send = receiveFile(call);
  return send((await call.run()).body as FileRecord);
}

/** Sends the file that the field returns, as a download. */
export async function attachedContents(call: AdapterCall): Promise<Readable | FastifyReply> {
  const send = receiveFile(call, { attached: true });
  return send((await call.run()).body as FileRecord);
}
