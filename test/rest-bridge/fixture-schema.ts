import {
  extendSchema,
  GraphQLEnumType,
  GraphQLSchema,
  parse,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
} from 'graphql';
import {
  badInput,
  conflict,
  notFound,
  preconditionFailed,
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
const AccessLevel = new GraphQLEnumType({
  name: 'AccessLevel',
  values: { VIEW: { value: 1 }, EDIT: { value: 2 } },
});

/** A small schema with everything that the bridge has a rule for. */
const SDL = `
  schema { query: Query mutation: Mutation subscription: Subscription }

  "A data set."
  type Dataset {
    id: ID!
    slug: String!
    "Display name."
    name: String!
    tenant: String!
    records: Int
    createdAt: DateTime!
    version: Int!
    permissions: DatasetPermissions!
    visuals(pinned: Boolean, components: [Component!]): [Visual!]!
    visual(id: ID!): Visual
    data(filter: JSON, limit: Int = 100, start: Int = 0, after: String, fields: [String!]): DataPage!
    draft: Dataset
    share(principalId: String!): Share
  }
  type DatasetPermissions { read: Boolean! write: Boolean! }
  type DatasetPage { items: [Dataset!]! start: Int! count: Int! total: Int! }
  type DataPage { items: [JSONObject!]! fields: [DataField!]! start: Int! count: Int! total: Int! next: String }
  type DataField { name: String! type: String! }
  type Visual {
    id: ID!
    datasetId: ID!
    name: String
    component: Component!
    position: Int!
    config: JSONObject
    tag: Tag
  }
  type Tag { id: ID! name: String! }
  type Share { principalId: String! accessLevel: AccessLevel! created: Boolean! }
  type Operation { id: ID! status: OperationStatus! progress: String }
  type Refresh { operation: Operation! result: RefreshResult }
  type RefreshResult { id: ID! records: Int! success: Boolean! }
  input DatasetInput { name: String! description: String }
  input DatasetUpdate { name: String description: String }
  input VisualInput { component: Component! name: String config: JSONObject parts: [PartInput!] tagIds: [ID!] }
  input PartInput { component: Component size: Int }
  input ShareInput { accessLevel: AccessLevel! }
  input RefreshInput { syncFields: Boolean = true }
  type Report { word: String! parts: [Part!]! at: DateTime! }
  type Part { id: ID! size: Int }
  type Folder { parent: Folder! }
  "The arguments that a resolver received."
  type Echo { args: JSON! }

  type Query {
    datasets(q: String, sort: String, limit: Int = 30, start: Int = 0): DatasetPage!
    dataset(id: ID!): Dataset
    echo(
      n: Int, ratio: Float, on: Boolean, ids: [ID!], component: Component, where: JSON, at: DateTime, need: Int
    ): Echo!
    need(word: String!): String!
    fails(how: String): String
    nothing: String
    words: [String!]!
    report(word: String!): Report!
    root: Folder!
    me: Dataset
  }
  type Mutation {
    createDataset(input: DatasetInput!): Dataset!
    updateDataset(id: ID!, input: DatasetUpdate!): Dataset
    deleteDataset(id: ID!, transferTo: String): ID!
    createVisual(datasetId: ID!, input: VisualInput!): Visual!
    shareDataset(id: ID!, principalId: String!, input: ShareInput!): Share!
    copyDataset(id: ID!, data: Boolean = true, input: DatasetInput!, progress: String): Dataset!
    parseConfig(config: JSON!): Echo!
    measurePart(id: ID!): Part!
    startOperation(id: ID!): Operation!
    refreshDataset(id: ID!, progress: String, input: RefreshInput, wait: Boolean = true): Refresh!
    setAccess(input: JSONObject!): Echo!
    avatar(id: ID!, bytes: Int!): Dataset!
  }
  type Subscription { ticks(to: Int!): Dataset! }
`;

/** The resolvers' context. `seen` collects the arguments that they received. */
interface TestContext {
  ifMatch?: readonly number[];
  seen: unknown[];
}
type Values = Record<string, unknown>;
type Resolvers = Record<string, Record<string, GraphQLFieldResolver<never, TestContext, never>>>;

const MAX_DATASET_ID = 50;
const CURRENT_VERSION = 7;

const datasetOf = (id: string, more: Values = {}): Values => ({
  id,
  slug: `slug-${id}`,
  name: `Set ${id}`,
  tenant: 'default',
  records: 3,
  createdAt: new Date('2026-01-02T03:04:05.678Z'),
  version: CURRENT_VERSION,
  permissions: { read: true, write: false },
  ...more,
});
const findDataset = (id: string) => (Number(id) <= MAX_DATASET_ID ? datasetOf(id) : null);
const visualOf = (id: string) => ({
  id,
  datasetId: '1',
  name: null,
  component: 'bar-chart',
  position: 0,
  config: { component: 'BAR_CHART' },
  tag: { id: 't', name: 'Red' },
});

/** Errors that resolvers throw by name. */
const ERRORS: Record<string, () => Error> = {
  conflict: () => conflict('It is used by 2 jobs'),
  validation: () =>
    badInput('The name is too long', {
      validation: [{ path: ['input', 'name'], message: 'The name is too long', code: 'maxLength' }],
    }),
  upstream: () => upstreamFailed('relation "x" does not exist'),
  unavailable: () => unavailable('Postgres does not respond'),
  bug: () => new TypeError('secret detail'),
  missing: () => notFound({ what: 'query', id: '9' }),
};
function throwNamed(name: unknown): void {
  const create = ERRORS[name as string];
  if (create) throw create();
}

const queries = {
  datasets: (_: never, { q, limit, start }: Values) => {
    const all = Array.from({ length: q === undefined ? 45 : 2 }, (_unused, index) => datasetOf(String(index + 1)));
    const items = all.slice(start as number, (start as number) + (limit as number));
    return { items, start, count: items.length, total: all.length };
  },
  dataset: (_: never, { id }: Values) => findDataset(id as string),
  echo: (_: never, args: Values) => ({ args }),
  need: (_: never, { word }: Values) => (throwNamed(word), word),
  fails: (_: never, { how }: Values) => throwNamed(how),
  words: () => ['a', 'b'],
  report: (_: never, { word }: Values) => (
    throwNamed(word),
    { word, parts: [{ id: 'p1', size: null }], at: new Date('2026-01-02T03:04:05.678Z') }
  ),
  me: () => datasetOf('1'),
};

const mutations = {
  createDataset: (_: never, { input }: { input: Values }) => datasetOf('12', input),
  updateDataset: (_: never, { id, input }: { id: string; input: Values }, { ifMatch }: TestContext) => {
    if (ifMatch && !ifMatch.includes(CURRENT_VERSION)) throw preconditionFailed({ what: 'dataset' });
    return findDataset(id) && datasetOf(id, { ...input, version: CURRENT_VERSION + 1 });
  },
  deleteDataset: (_: never, args: Values, { seen }: TestContext) => (seen.push(args), args['id']),
  createVisual: (_: never, { datasetId, input }: { datasetId: string; input: Values }, { seen }: TestContext) => (
    seen.push(input),
    { ...visualOf('v9'), datasetId, ...input }
  ),
  shareDataset: (_: never, { principalId, input }: Values & { input: Values }) => ({
    principalId,
    ...input,
    created: principalId === 'new',
  }),
  copyDataset: (_: never, { input, ...args }: { input: Values }, { seen }: TestContext) => (
    seen.push(args),
    datasetOf('13', input)
  ),
  parseConfig: (_: never, args: Values) => ({ args }),
  measurePart: (_: never, { id }: Values, { seen }: TestContext) => (seen.push(id), { id, size: 3 }),
  setAccess: (_: never, { input }: Values) => ({ args: input }),
  refreshDataset: (_: never, { id, progress, wait, input }: Values, { seen }: TestContext) => {
    seen.push({ wait, input });
    return {
      operation: { id: 'op1', status: 'queued', progress },
      result: wait ? { id, records: 5, success: true } : null,
    };
  },
  avatar: (_: never, { id, bytes }: Values) => datasetOf(id as string, { records: bytes }),
};

const datasetFields = {
  visuals: (_: never, args: Values, { seen }: TestContext) => (seen.push(args), [visualOf('v1'), visualOf('v2')]),
  visual: (_: never, { id }: Values) => (id === 'v1' ? visualOf('v1') : null),
  data: (_: never, args: Values, { seen }: TestContext) => (
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
  share: (_: never, { principalId }: Values) => ({ principalId, accessLevel: 2, created: false }),
};

const resolvers: Resolvers = {
  Query: queries as never,
  Mutation: mutations as never,
  Dataset: datasetFields as never,
};

async function* countTicks(to: number) {
  for (let index = 1; index <= to; index += 1) yield { ticks: datasetOf(String(index)) };
}

/** A source with one value that then stays silent. It adds `ended` to `seen` when it is ended. */
function silentAfterFirst(seen: unknown[]): AsyncIterableIterator<unknown> {
  let isFirst = true;
  return {
    next: () => {
      if (!isFirst) return new Promise<never>(() => undefined);
      isFirst = false;
      return Promise.resolve({ done: false, value: { ticks: datasetOf('1') } });
    },
    return: () => (seen.push('ended'), Promise.resolve({ done: true, value: undefined })),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Creates the schema with its resolvers. `ticks(to: 0)` is a subscription without an end. */
export function createTestSchema(): GraphQLSchema {
  const schema = extendSchema(
    new GraphQLSchema({ types: [Component, OperationStatus, AccessLevel, DateTime, Json, JsonObject] }),
    parse(SDL),
  );
  const fieldOf = (type: string, name: string) => (schema.getType(type) as GraphQLObjectType).getFields()[name]!;
  for (const [type, fields] of Object.entries(resolvers))
    for (const [name, resolve] of Object.entries(fields))
      fieldOf(type, name).resolve = resolve as GraphQLFieldResolver<unknown, unknown>;
  fieldOf('Subscription', 'ticks').subscribe = (_: unknown, { to }: { to: number }, { seen }: TestContext) =>
    to === 0 ? silentAfterFirst(seen) : countTicks(to);
  return schema;
}
