import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { CLOSE_MS } from '../../rest-bridge/closing-connections.ts';
import { errorResponse } from '../../rest-bridge/error-response.ts';
import { badInput, defineError, type ApiError } from '../core/errors.ts';

const ERRORS: Record<string, ApiError> = {
  ERR_HTTP_REQUEST_TIMEOUT: defineError(408, 'BAD_USER_INPUT', () => 'The request took too long to arrive')(),
  HPE_HEADER_OVERFLOW: defineError(431, 'BAD_USER_INPUT', () => 'The headers are larger than 16 KiB')(),
  HPE_INVALID_METHOD: defineError(
    405,
    'METHOD_NOT_ALLOWED',
    () => 'The method does not exist',
  )(undefined, {
    headers: { allow: 'GET, HEAD, POST, PUT, DELETE, OPTIONS' },
  }),
};

/**
 * Responds to bytes that are not an HTTP request, as to other errors, and closes the connection. After `closeMs` it is
 * destroyed, whatever the client reads.
 */
export function respondToUnparsable(
  { code = '' }: NodeJS.ErrnoException,
  socket: Socket,
  closeMs: number = CLOSE_MS,
): void {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = randomUUID();
  const error = ERRORS[code] ?? badInput('This is not an HTTP request');
  const { status, headers, body } = errorResponse(error, requestId);
  const json = JSON.stringify(body);
  const lines = {
    ...headers,
    'x-request-id': requestId,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(json)),
    connection: 'close',
  };
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${json}`);
  const timer = setTimeout(() => socket.destroy(), closeMs).unref();
  socket.once('close', () => clearTimeout(timer));
}
