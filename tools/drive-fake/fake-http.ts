/** Requests to a fake drive and replies of it, over HTTP. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { bytesOf, type FakeContent } from './drive-tree.ts';

/** A request, whose body is read. */
export interface FakeRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: string;
  form(): URLSearchParams;
}

/** A reply: its body is one of `json`, `text`, `html` and `content`. */
export interface FakeReply {
  status?: number;
  headers?: Record<string, string>;
  json?: unknown;
  text?: string;
  html?: string;
  content?: FakeContent;
}

/** Reads a request with its body. */
export async function readRequest(incoming: IncomingMessage): Promise<FakeRequest> {
  const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://fake');
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  const body = Buffer.concat(parts).toString();
  return {
    method: incoming.method ?? 'GET',
    path: pathname,
    query: searchParams,
    headers: incoming.headers,
    body,
    form: () => new URLSearchParams(body),
  };
}

/** Sends a reply. `isCut` ends the connection in the middle of contents. */
export async function send(response: ServerResponse, reply: FakeReply, isCut: boolean): Promise<void> {
  const { status = 200, headers = {}, json, text, html, content } = reply;
  if (content) return sendContent(response, content, headers, isCut);
  const type = html === undefined ? (json === undefined ? 'text/plain' : 'application/json') : 'text/html';
  // A text is sent as JSON where numbers are too large for JSON.stringify.
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(html ?? text ?? (json === undefined ? '' : JSON.stringify(json)));
}

async function sendContent(
  response: ServerResponse,
  content: FakeContent,
  headers: Record<string, string>,
  isCut: boolean,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': content.size, ...headers });
  if (isCut) {
    response.write(Buffer.alloc(Math.floor(content.size / 2)));
    return void setImmediate(() => response.destroy());
  }
  // The client may leave in the middle.
  await pipeline(Readable.from(bytesOf(content)), response).catch(() => {});
}
