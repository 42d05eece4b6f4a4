import type { Client } from './client.ts';
import { createForm, type FormFields } from './upload-form.ts';

/** A response with its bytes. */
interface PictureResponse {
  status: number;
  headers: Headers;
  bytes: Buffer;
}

/** Requests a picture below `/api`. */
export async function getPicture(
  { url, headers: credentials }: Client,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<PictureResponse> {
  const response = await fetch(`${url}/api${path}`, { method, headers: { ...credentials, ...headers } });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

/** Creates the form of a picture, or of a part of one with its numbers. */
export const pictureForm = (picture: Uint8Array | string, fields: FormFields = {}): FormData =>
  createForm(typeof picture === 'string' ? picture : new Uint8Array(picture), 'me.png', fields);

/** Returns a picture as an input of GraphQL. */
export const dataUrlOf = (picture: Uint8Array): string =>
  `data:image/png;base64,${Buffer.from(picture).toString('base64')}`;

/** Splits bytes into parts of nearly the same size. */
export const splitInto = (bytes: Buffer, count: number): Buffer[] =>
  Array.from({ length: count }, (_, n) =>
    bytes.subarray(Math.floor((n * bytes.length) / count), Math.floor(((n + 1) * bytes.length) / count)),
  );

/** Uploads a part as a form. */
export const uploadPart = (
  client: Client,
  username: string,
  uploadId: string,
  part: Uint8Array | string,
  numbers: Record<string, string>,
) =>
  client.post(
    `/users/${username}/_upload/${encodeURIComponent(uploadId)}/avatar-upload`,
    pictureForm(part, { before: numbers }),
  );
