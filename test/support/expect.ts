import { expect } from 'vitest';
import type { ValidationIssue } from '../../src/core/errors.ts';
import type { ApiResponse, Client } from './client.ts';

type Eventually<T> = T | Promise<T>;

const matching = (text: string | RegExp): unknown => (text instanceof RegExp ? expect.stringMatching(text) : text);

/** Expects a response of this status whose body has at least these values. Returns the body. */
export async function expectBody(
  response: Eventually<ApiResponse>,
  status: number,
  body: object,
): Promise<ApiResponse['body']> {
  const received = await response;
  expect(received).toMatchObject({ status, body });
  return received.body;
}

/** Expects an error of this status and, where given, this message. A text must be equal, a pattern must match. */
export async function expectError(
  response: Eventually<ApiResponse>,
  status: number,
  message?: string | RegExp,
): Promise<void> {
  const { status: received, body } = await response;
  expect({ status: received, message: body.message }).toEqual({
    status,
    message: message === undefined ? expect.any(String) : matching(message),
  });
}

/** Expects 400 with exactly one validation issue, e.g. `expectInvalid(response, 'config.xAxis', 'is required')`. */
export async function expectInvalid(
  response: Eventually<ApiResponse>,
  path: string,
  message: string | RegExp,
): Promise<void> {
  const { status, body } = await response;
  const issues = body.validation?.map((issue: ValidationIssue) => [issue.path.join('.'), issue.message]);
  expect({ status, issues }).toEqual({ status: 400, issues: [[path, matching(message)]] });
}

/** Expects a GraphQL result with exactly one error, of this code and, where given, this message. */
export async function expectGraphqlError(
  result: ReturnType<Client['gql']>,
  code: string,
  message?: string | RegExp,
): Promise<void> {
  const { errors } = await result;
  const expected = { extensions: { code }, message: message === undefined ? expect.any(String) : matching(message) };
  expect(errors).toMatchObject([expected]);
}

/** Expects a response of this status, with any body. */
export async function expectStatus(
  response: Eventually<{ status: number }>,
  status: number,
  context?: string,
): Promise<void> {
  expect((await response).status, context).toBe(status);
}
