import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiResponse, Client } from '../support/client.ts';
import { startService, type Service } from '../support/service.ts';
import { boundaryCases, invalidCases, minimalCase, randomCases, type Case } from './openapi-cases.ts';
import { createApiDocument, type Operation } from './openapi-document.ts';
import { createResources, fillPath, realValues, type Resources } from './openapi-resources.ts';

/*
 * Requests generated from our own OpenAPI document: for each operation a minimal, random, boundary and invalid ones.
 * No response is a 5xx, each is one that the document lists, and what the document does not allow is refused.
 */

const api = await createApiDocument();
/** Random requests for each operation. One for those that start a process. */
const RANDOM_CASES = 3;

const END_SESSIONS = ['/api/me/password', '/api/logout'];
/** Deletions come last: first children, then their parents, then requests that end sessions. */
const order = ({ method, path }: Operation): number =>
  method === 'DELETE' ? 100 - path.split('/').length : 1000 * (1 + END_SESSIONS.indexOf(path));
const operations = api.operations.toSorted((one, other) => order(one) - order(other));

/** Statuses of minimal requests that are not successful, with the reason. */
const REFUSED: Record<string, number> = {
  // The app declares no scope, and the caller has no grant.
  'PUT /api/me/app-grants/{appId}': 400,
  'DELETE /api/me/app-grants/{appId}': 404,
  // There is no mail with a link, no notification and no preview.
  'POST /api/password-reset/{token}': 410,
  'PUT /api/notifications/{id}': 404,
  'POST /api/datasets/{id}/_promoteRefresh': 404,
  // Users of the domain log in with passwords, and no login at a provider was started.
  'GET /api/login/{domain}': 404,
  'GET /api/login/{domain}/callback': 401,
  'GET /api/login/{domain}/callback/{tenant}': 401,
  // The job is not a draft, and has no action with the generated id.
  'POST /api/jobs/{id}/_commit': 409,
  'POST /api/jobs/{jobId}/_job-action-order': 404,
  // The run has succeeded.
  'POST /api/jobs/{jobId}/history/{runId}/_retry': 409,
  'POST /api/jobs/{jobId}/history/{runId}/_cancel': 409,
  // No AI provider has a chat model, and the run has failed.
  'POST /api/agents/{id}/_run': 409,
  'POST /api/agents/{agentId}/runs/{runId}/_cancel': 409,
  // No sync has stored a file.
  'GET /api/libraries/{libraryId}/files/{id}': 404,
  'GET /api/libraries/{libraryId}/files/{id}/contents': 404,
  // No provider of a drive is here, so the library and the toolkit have no connection.
  'POST /api/libraries/{id}/_sync': 409,
  'GET /api/libraries/{id}/connection': 404,
  'GET /api/libraries/{id}/account': 404,
  'DELETE /api/libraries/{id}/connection': 404,
  'GET /api/toolkits/{id}/connection': 404,
  'DELETE /api/toolkits/{id}/connection': 404,
  // The minimal request names no agent.
  'POST /api/usage/quote': 400,
  // No AI provider has a model, so there is no image.
  'POST /api/_create-image': 409,
  'POST /api/assistants/{assistantId}/_create-image': 409,
  'GET /api/images/{id}': 404,
  'GET /api/images/{id}/contents': 404,
  'DELETE /api/images/{id}': 404,
  // No authorization was started.
  'GET /api/oauth/callback': 400,
  'GET /api/oauth/callback/{issuerDigest}': 400,
  // The server of the toolkit is a command, which the service does not run.
  'POST /api/toolkits/{id}/connection/_authorize': 400,
  'POST /api/toolkits/{id}/discover': 400,
  // The operation has ended, the datasource is in use.
  'DELETE /api/progress/{id}': 409,
  'DELETE /api/datasources/{id}': 409,
  // The generated file does not have the columns of the former one.
  'POST /api/datasources/{id}/_upload': 409,
  // The generated file is not a picture, and the user has no avatar.
  'PUT /api/users/{username}/avatar': 400,
  'POST /api/users/{username}/_upload/{uploadId}/avatar-upload': 400,
  'GET /api/users/{username}/avatar-full': 404,
  'PUT /api/assistants/{id}/icon': 400,
};

let service: Service;
let admin: Client;
/** Resources that are only read, that are changed, and that are deleted. */
let resources: Record<'read' | 'changed' | 'deleted', Resources>;

beforeAll(async () => {
  service = await startService();
  await service.user('admin', { superuser: true });
  // With a session, because some operations refuse tokens.
  admin = await service.login('admin');
  resources = {
    read: await createResources(admin, 'read'),
    changed: await createResources(admin, 'changed'),
    deleted: await createResources(admin, 'deleted'),
  };
});
afterAll(() => service.close());

/** Operations of handlers of apps, which take any query and body. The handlers of these tests change nothing. */
const takesAnything = ({ path }: Operation): boolean =>
  /^\/api\/(?:apps\/\{id\}\/(?:view|_hook)|hooks\/\{token\})\//.test(path);

/** Webhooks need the app whose owner nothing changes, since a new owner has not accepted it. */
function resourcesOf(operation: Operation): Resources {
  if (operation.method === 'GET' || takesAnything(operation)) return resources.read;
  return operation.method === 'DELETE' ? resources.deleted : resources.changed;
}

/** Long operations: only the minimal request waits for the result, the others are cancelled. */
const isDeferrable = ({ responses, method }: Operation): boolean => method === 'POST' && '202' in responses;

/** Operations that start a process. */
const isSlow = (operation: Operation): boolean =>
  isDeferrable(operation) || /_upload$|_run$|_query$/.test(operation.path);

function createFormBody(body: Record<string, unknown>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body))
    if (name !== 'file') form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  if ('file' in body) form.append('file', new Blob(['a,b\n1,2\n'], { type: 'text/csv' }), 'a.csv');
  return form;
}

async function send(operation: Operation, one: Case): Promise<ApiResponse> {
  const { query, body } = one;
  const isForm = operation.body?.mediaType === 'multipart/form-data';
  const headers: Record<string, string> = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
  if (isDeferrable(operation) && one.name !== 'minimal') headers['prefer'] = 'respond-async';
  const path = fillPath(operation.path, resourcesOf(operation));
  const sent = isForm && typeof body === 'object' ? createFormBody(body as Record<string, unknown>) : body;
  return admin.request(operation.method, `${path}${query}`, sent, headers);
}

/** Returns what is wrong with the response to a request; undefined if nothing is. */
async function check(operation: Operation, one: Case, isInvalid: boolean): Promise<string | undefined> {
  const response = await send(operation, one);
  const { status, body } = response;
  if (status === 202 && operation.method === 'POST') await admin.delete(`/progress/${body.id}`);
  const isServerError = status >= 500 && body?.code !== 'UPSTREAM_FAILED';
  const problem = isServerError
    ? `${status} ${JSON.stringify(body)}`
    : isInvalid && status < 400
      ? `${status} though invalid`
      : api.mismatch(operation, response);
  return problem && `${one.name}: ${problem}`;
}

describe('requests generated from the OpenAPI document', () => {
  for (const operation of operations) {
    test(`${operation.method} ${operation.path}`, async () => {
      const real = realValues(resourcesOf(operation));
      const slow = isSlow(operation);
      const invalid = takesAnything(operation) ? [] : invalidCases(api, operation, real);
      const refused = await Promise.all(invalid.map((one) => check(operation, one, true)));
      const minimal = minimalCase(api, operation, real);
      const response = await send(operation, minimal);
      const valid = [
        ...(slow ? [] : boundaryCases(api, operation, real)),
        ...randomCases(api, operation, real, slow ? 1 : RANDOM_CASES),
      ];
      const accepted = await Promise.all(valid.map((one) => check(operation, one, false)));
      // The operations that follow need what the minimal request sets, e.g. a query that runs.
      if (operation.method === 'PUT') await send(operation, minimal);
      const problems = [...refused, api.mismatch(operation, response), ...accepted];
      expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
      const expected =
        REFUSED[`${operation.method} ${operation.path}`] ?? expect.toSatisfy((status: number) => status < 300);
      expect(response, JSON.stringify([minimal, response.body])).toMatchObject({ status: expected });
    });
  }
});
