import multipart from '@fastify/multipart';
import Fastify, { type FastifyInstance } from 'fastify';
import { compileRows, type BridgeOptions } from '../../rest-bridge/bridge.ts';
import { eventStream } from '../../rest-bridge/event-stream.ts';
import { registerRest } from '../../rest-bridge/fastify.ts';
import { kind, permissions } from '../../rest-bridge/kind.ts';
import { operation } from '../../rest-bridge/operation.ts';
import { collection, confirmation, resource, value } from '../../rest-bridge/present.ts';
import { create, del, get, plain, post, put, type Row } from '../../rest-bridge/route.ts';
import { sendError } from '../../rest-bridge/send-error.ts';
import { respondToUnmatched } from '../../rest-bridge/unmatched-requests.ts';
import { unauthenticated } from '../../src/core/errors.ts';
import type { ApiResponse } from '../support/client.ts';
import { createTestSchema } from './fixture-schema.ts';

type Values = Record<string, unknown>;

export const datasetShape = resource<{ id: string }>(
  'id slug name tenant records createdAt permissions { read write }',
  ({ id }) => ({ self: `/datasets/${id}`, 'svc:data': `/datasets/${id}/data` }),
);
export const visualShape = resource<{ id: string; datasetId: string }>(
  'id name component position config',
  ({ id, datasetId }) => ({ self: `/datasets/${datasetId}/visuals/${id}`, 'svc:dataset': `/datasets/${datasetId}` }),
  { identity: ['component'], embed: { 'svc:tag': { field: 'tag', as: value('id name') } } },
);
const operationShape = resource<{ id: string }>('id status progress', ({ id }) => ({ self: `/progress/${id}` }));
/** The arguments that the resolver received. */
const receivedArguments = value('args', ({ args }: Values) => args);

export const rows: Row[] = [
  ...kind('datasets', 'dataset', datasetShape, { aspects: [permissions] }),
  get('/datasets/:id/visuals', 'dataset.visuals', collection('visual', visualShape)),
  create('/datasets/:datasetId/visuals', 'createVisual', visualShape),
  get('/datasets/:datasetId/visuals/:id', 'dataset.visual', visualShape),
  get(
    '/datasets/:id/data',
    'dataset.data',
    collection('record', value(), { extra: 'fields { name type } next', cursor: 'next' }),
  ),
  get('/datasets/:id/draft', 'dataset.draft', datasetShape),
  get('/datasets/:id/shares/:principalId', 'dataset.share', value('principalId accessLevel')),
  put(
    '/datasets/:id/shares/:principalId',
    'shareDataset',
    value('principalId accessLevel created', ({ created: _, ...share }: Values) => share),
    { status: { oneOf: [200, 201], of: (share) => (share['created'] === true ? 201 : 200) } },
  ),
  post('/datasets/:id/copy', 'copyDataset', datasetShape, { query: ['data'], example: { name: 'My order lines' } }),
  post('/datasets/:id/_refresh', 'refreshDataset', operation(value('id records success'), operationShape)),
  post('/datasets/:id/_touch', 'updateDataset', undefined, { fixed: { input: { name: 'touched' } } }),
  post('/field-access', 'setAccess', receivedArguments),
  get('/echo', 'echo', receivedArguments, { rename: { number: 'n' } }),
  get('/need', 'need', value()),
  get('/fails', 'fails', value(), { nullable: true }),
  post('/parse-config', 'parseConfig', receivedArguments),
  get('/nothing', 'nothing', value()),
  get('/me', 'me', datasetShape),
  del('/me', 'fails', confirmation, { nullable: true }),
  plain('GET', '/words', 'words'),
  plain('GET', '/reports/:word', 'report'),
  plain('POST', '/parts/:id/_measure', 'measurePart'),
  put('/datasets/:id/avatar', 'avatar', datasetShape, {
    consumes: 'bytes',
    produces: 'application/json',
    handler: async ({ body, run }) => {
      let bytes = 0;
      for await (const chunk of body as AsyncIterable<Buffer>) bytes += chunk.length;
      return (await run({ bytes })).body;
    },
  }),
  get('/files/:path*', null, undefined, {
    permission: 'public',
    produces: 'text/plain',
    handler: ({ params, reply }) => reply.type('text/plain').send(`file ${params['path']}`),
  }),
  get(
    '/ticks',
    'Subscription.ticks',
    value('id', ({ id }: Values) => ({ id, data: { id } })),
    { produces: 'text/event-stream', handler: eventStream('tick') },
  ),
  put('/datasets/:id/icon', 'avatar', datasetShape, {
    consumes: 'multipart',
    handler: async ({ request, run }) => (await run({ bytes: (await (await request.file())!.toBuffer()).length })).body,
  }),
];

const PERMISSIONS: Record<string, string> = {
  'Query.dataset': 'dataset:read',
  'Mutation.updateDataset': 'dataset:write',
  'Query.words': 'public',
  'Query.echo': 'authenticated',
};
export const permissionOf = (coordinate: string): string | undefined => PERMISSIONS[coordinate];

/** Credentials that the test bridge refuses. */
export const WRONG_CREDENTIALS = { authorization: 'Bearer wrong' };

type TestMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** The bridge over the small schema, in this process. */
export interface TestBridge {
  app: FastifyInstance;
  /** The arguments that resolvers received in the last request. */
  seen: unknown[];
  /** Sends a request below `/api`. A GET is sent twice, because documents are compiled on their second use. */
  call(method: TestMethod, url: string, body?: string | object, headers?: Record<string, string>): Promise<ApiResponse>;
}

/** Starts the bridge over the small schema. */
export async function startTestBridge(options: Partial<BridgeOptions> = {}): Promise<TestBridge> {
  const seen: unknown[] = [];
  const app = Fastify({ frameworkErrors: sendError, genReqId: () => 'req-1' });
  respondToUnmatched(app);
  await app.register(multipart);
  const schema = createTestSchema();
  registerRest(app, {
    schema,
    endpoints: compileRows(schema, rows, { permissionOf, ...options }),
    contextFor: (request, _reply, endpoint) => {
      if (!endpoint.public && request.headers.authorization === WRONG_CREDENTIALS.authorization)
        throw unauthenticated();
      return { seen };
    },
  });
  await app.ready();
  return {
    app,
    seen,
    async call(method, url, body, headers = {}) {
      const request = { method, url: `/api${url}`, headers, ...(body !== undefined && { payload: body }) };
      if (method === 'GET') await app.inject(request);
      seen.length = 0;
      const reply = await app.inject(request);
      return {
        status: reply.statusCode,
        headers: new Headers(reply.headers as Record<string, string>),
        body: reply.body === '' ? undefined : JSON.parse(reply.body),
      };
    },
  };
}
