import multipart from '@fastify/multipart';
import Fastify, { type FastifyInstance } from 'fastify';
import {
  extendSchema,
  GraphQLEnumType,
  GraphQLSchema,
  parse,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
} from 'graphql';
import { eventStream } from '../../rest-bridge/event-stream.ts';
import { registerRest, sendError, type RestOptions } from '../../rest-bridge/fastify.ts';
import { operation } from '../../rest-bridge/operation.ts';
import { collection, confirmation, resource, value } from '../../rest-bridge/present.ts';
import { create, del, get, kind, permissions, plain, post, put, type Row } from '../../rest-bridge/route.ts';
import {
  badInput,
  conflict,
  notFound,
  preconditionFailed,
  unauthenticated,
  unavailable,
  upstreamFailed,
} from '../../src/core/errors.ts';
import { DateTime, Json, JsonObject } from '../../src/core/scalars.ts';

const Component = new GraphQLEnumType({
  name: 'Component',
  description: 'What a visual draws.',
  values: { BAR_CHART: { value: 'bar-chart' }, TABLE: { value: 'table' } },
});
const OperationStatus = new GraphQLEnumType({
  name: 'OperationStatus',
  values: { QUEUED: { value: 'queued' }, RUNNING: { value: 'running' } },
});
const Access = new GraphQLEnumType({ name: 'AccessLevel', values: { VIEW: { value: 1 }, EDIT: { value: 2 } } });

/** A schema of a few lines with everything the bridge has a rule for. */
const SDL = `
  schema { query: Query mutation: Mutation subscription: Subscription }
  "A data set." type Dataset { id: ID! slug: String! "What people call it." name: String! tenant: String! records: Int createdAt: DateTime! version: Int!
    permissions: DatasetPermissions! visuals(pinned: Boolean, components: [Component!]): [Visual!]! visual(id: ID!): Visual
    data(filter: JSON, limit: Int = 100, start: Int = 0, after: String, fields: [String!]): DataPage! draft: Dataset share(principalId: String!): Share }
  type DatasetPermissions { read: Boolean! write: Boolean! }
  type DatasetPage { items: [Dataset!]! start: Int! count: Int! total: Int! }
  type DataPage { items: [JSONObject!]! fields: [DataField!]! start: Int! count: Int! total: Int! next: String }
  type DataField { name: String! type: String! }
  type Visual { id: ID! datasetId: ID! name: String component: Component! position: Int! config: JSONObject tag: Tag }
  type Tag { id: ID! name: String! }
  type Share { principalId: String! accessLevel: AccessLevel! created: Boolean! }
  type Operation { id: ID! status: OperationStatus! progress: String }
  type Refresh { operation: Operation! result: RefreshResult }
  type RefreshResult { id: ID! records: Int! success: Boolean! }
  input DatasetInput { name: String! description: String }
  input DatasetUpdate { name: String description: String }
  input VisualInput { component: Component! name: String config: JSONObject parts: [PartInput!] }
  input PartInput { component: Component size: Int }
  input ShareInput { accessLevel: AccessLevel! }
  input RefreshInput { syncFields: Boolean = true }
  "A mirror of what came in." type Echo { args: JSON!}
  type Query { datasets(q: String, sort: String, limit: Int = 30, start: Int = 0): DatasetPage! dataset(id: ID!): Dataset
    echo(n: Int, ratio: Float, on: Boolean, ids: [ID!], component: Component, where: JSON, at: DateTime, need: Int): Echo!
    need(word: String!): String! fails(how: String): String nothing: String words: [String!]! me: Dataset }
  type Mutation { createDataset(input: DatasetInput!): Dataset! updateDataset(id: ID!, input: DatasetUpdate!): Dataset deleteDataset(id: ID!, transferTo: String): ID!
    createVisual(datasetId: ID!, input: VisualInput!): Visual! shareDataset(id: ID!, principalId: String!, input: ShareInput!): Share!
    copyDataset(id: ID!, data: Boolean = true, input: DatasetInput!, progress: String): Dataset! parseConfig(config: JSON!): Echo!
    refreshDataset(id: ID!, progress: String, input: RefreshInput, wait: Boolean = true): Refresh! setAccess(input: JSONObject!): Echo! avatar(id: ID!, bytes: Int!): Dataset! }
  type Subscription { ticks(to: Int!): Dataset! }
`;

interface World {
  ifMatch?: readonly number[];
  seen: unknown[];
}
type Resolvers = Record<string, Record<string, GraphQLFieldResolver<never, World, never>>>;
type Record_ = Record<string, unknown>;

const dataset = (id: string, more: Record_ = {}): Record_ => ({
  id,
  slug: `slug-${id}`,
  name: `Set ${id}`,
  tenant: 'default',
  records: 3,
  createdAt: new Date('2026-01-02T03:04:05.678Z'),
  version: 7,
  permissions: { read: true, write: false },
  ...more,
});
const found = (id: string) => (Number(id) <= 50 ? dataset(id) : null);
const visual = (id: string) => ({
  id,
  datasetId: '1',
  name: null,
  component: 'bar-chart',
  position: 0,
  config: { component: 'BAR_CHART' },
  tag: { id: 't', name: 'Red' },
});

const FAILURES: Record<string, () => never> = {
  conflict: () => {
    throw conflict('It is used by 2 jobs');
  },
  validation: () => {
    throw badInput('The name is too long', {
      validation: [{ path: ['input', 'name'], message: 'The name is too long', code: 'maxLength' }],
    });
  },
  upstream: () => {
    throw upstreamFailed('relation "x" does not exist');
  },
  unavailable: () => {
    throw unavailable('Postgres does not answer');
  },
  bug: () => {
    throw new TypeError('secret detail');
  },
  missing: () => {
    throw notFound({ what: 'query', id: '9' });
  },
};

const resolvers: Resolvers = {
  Query: {
    datasets: (_: never, { q, limit, start }: Record_) => {
      const all = Array.from({ length: q === undefined ? 45 : 2 }, (_unused, index) => dataset(String(index + 1)));
      const items = all.slice(start as number, (start as number) + (limit as number));
      return { items, start, count: items.length, total: all.length };
    },
    dataset: (_: never, { id }: Record_) => found(id as string),
    echo: (_: never, args: Record_) => ({ args }),
    need: (_: never, { word }: Record_) => FAILURES[word as string]?.() ?? word,
    fails: (_: never, { how }: Record_) => FAILURES[how as string]?.(),
    words: () => ['a', 'b'],
    me: () => dataset('1'),
  } as never,
  Mutation: {
    createDataset: (_: never, { input }: { input: Record_ }) => dataset('12', input),
    updateDataset: (_: never, { id, input }: { id: string; input: Record_ }, { ifMatch }: World) => {
      if (ifMatch && !ifMatch.includes(7)) throw preconditionFailed({ what: 'dataset' });
      return found(id) && dataset(id, { ...input, version: 8 });
    },
    deleteDataset: (_: never, args: Record_, { seen }: World) => (seen.push(args), args['id']),
    createVisual: (_: never, { datasetId, input }: { datasetId: string; input: Record_ }, { seen }: World) => (
      seen.push(input),
      { ...visual('v9'), datasetId, ...input }
    ),
    shareDataset: (_: never, { principalId, input }: Record_ & { input: Record_ }) => ({
      principalId,
      ...input,
      created: principalId === 'new',
    }),
    copyDataset: (_: never, { input, ...args }: { input: Record_ }, { seen }: World) => (
      seen.push(args),
      dataset('13', input)
    ),
    parseConfig: (_: never, args: Record_) => ({ args }),
    setAccess: (_: never, { input }: Record_) => ({ args: input }),
    refreshDataset: (_: never, { id, progress, wait, input }: Record_, { seen }: World) => {
      seen.push({ wait, input });
      return {
        operation: { id: 'op1', status: 'queued', progress },
        result: wait ? { id, records: 5, success: true } : null,
      };
    },
    avatar: (_: never, { id, bytes }: Record_) => dataset(id as string, { records: bytes }),
  } as never,
  Dataset: {
    visuals: (_: never, args: Record_, { seen }: World) => (seen.push(args), [visual('v1'), visual('v2')]),
    visual: (_: never, { id }: Record_) => (id === 'v1' ? visual('v1') : null),
    data: (_: never, args: Record_, { seen }: World) => (
      seen.push(args),
      {
        items: [{ a: 1 }],
        fields: [{ name: 'a', type: 'integer' }],
        start: args['start'],
        count: 1,
        total: 900,
        next: args['after'] ? null : 'c/1',
      }
    ),
    share: (_: never, { principalId }: Record_) => ({ principalId, accessLevel: 2, created: false }),
  } as never,
};

async function* ticks(to: number) {
  for (let index = 1; index <= to; index += 1) yield { ticks: dataset(String(index)) };
}

/** A source with one value and then none for ever; it tells when it is ended. */
function silence(seen: unknown[]): AsyncIterableIterator<unknown> {
  let first = true;
  const next = () =>
    first
      ? ((first = false), Promise.resolve({ done: false, value: { ticks: dataset('1') } }))
      : new Promise<never>(() => undefined);
  return {
    next,
    return: () => (seen.push('ended'), Promise.resolve({ done: true, value: undefined })),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Builds the schema and hangs the resolvers in. */
export function smallSchema(): GraphQLSchema {
  const schema = extendSchema(
    new GraphQLSchema({ types: [Component, OperationStatus, Access, DateTime, Json, JsonObject] }),
    parse(SDL),
  );
  for (const [type, fields] of Object.entries(resolvers))
    for (const [name, resolve] of Object.entries(fields))
      (schema.getType(type) as GraphQLObjectType).getFields()[name]!.resolve = resolve as GraphQLFieldResolver<
        unknown,
        unknown
      >;
  (schema.getType('Subscription') as GraphQLObjectType).getFields()['ticks']!.subscribe = (
    _: unknown,
    { to }: { to: number },
    { seen }: World,
  ) => (to === 0 ? silence(seen) : ticks(to));
  return schema;
}

interface DatasetRecord {
  id: string;
}
interface VisualRecord {
  id: string;
  datasetId: string;
}
export const datasetShape = resource<DatasetRecord>(
  'id slug name tenant records createdAt permissions { read write }',
  (d) => ({ self: `/datasets/${d.id}`, 'svc:data': `/datasets/${d.id}/data` }),
);
export const visualShape = resource<VisualRecord>(
  'id name component position config',
  (v) => ({ self: `/datasets/${v.datasetId}/visuals/${v.id}`, 'svc:dataset': `/datasets/${v.datasetId}` }),
  { identity: ['component'], embed: { 'svc:tag': { field: 'tag', as: value('id name') } } },
);
const operationShape = resource<{ id: string }>('id status progress', (o) => ({ self: `/progress/${o.id}` }));

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
    value('principalId accessLevel created', ({ created: _, ...share }: Record_) => share),
    { status: (share) => (share['created'] === true ? 201 : 200) },
  ),
  post('/datasets/:id/copy', 'copyDataset', datasetShape, { query: ['data'] }),
  post('/datasets/:id/_refresh', 'refreshDataset', operation(value('id records success'), operationShape)),
  post('/datasets/:id/_touch', 'updateDataset', undefined, { fixed: { input: { name: 'touched' } } }),
  post(
    '/field-access',
    'setAccess',
    value('args', ({ args }: Record_) => args),
  ),
  get(
    '/echo',
    'echo',
    value('args', ({ args }: Record_) => args),
    { rename: { number: 'n' } },
  ),
  get('/need', 'need', value()),
  get('/fails', 'fails', value(), { nullable: true }),
  get('/nothing', 'nothing', value()),
  get('/me', 'me', datasetShape),
  del('/me', 'fails', confirmation, { nullable: true }),
  plain('GET', '/words', 'words'),
  plain('POST', '/parse-config', 'parseConfig', 'args'),
  plain('GET', '/plain-fails', 'fails'),
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
    value('id', ({ id }: Record_) => ({ id, data: { id } })),
    {
      produces: 'text/event-stream',
      handler: eventStream('tick'),
    },
  ),
  put('/datasets/:id/icon', 'avatar', datasetShape, {
    consumes: 'multipart',
    handler: async ({ request, run }) => (await run({ bytes: (await (await request.file())!.toBuffer()).length })).body,
  }),
];

export const permissionOf = (coordinate: string): string | undefined =>
  ({
    'Query.dataset': 'dataset:read',
    'Mutation.updateDataset': 'dataset:write',
    'Query.words': 'public',
    'Query.echo': 'authenticated',
  })[coordinate];

/** Starts the small world in process. `seen` collects what resolvers were given. */
export async function smallWorld(
  options: Partial<RestOptions> = {},
): Promise<{ app: FastifyInstance; seen: unknown[] }> {
  const seen: unknown[] = [];
  const app = Fastify({ frameworkErrors: sendError, genReqId: () => 'req-1' });
  await app.register(multipart);
  registerRest(app, {
    schema: smallSchema(),
    rows,
    permissionOf,
    contextFor: (request, _reply, endpoint) => {
      if (!endpoint.public && request.headers.authorization === 'Bearer wrong') throw unauthenticated();
      return { seen };
    },
    ...options,
  });
  await app.ready();
  return { app, seen };
}
