import {
  getNamedType,
  GraphQLString,
  isCompositeType,
  isInputObjectType,
  OperationTypeNode,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLField,
  type GraphQLSchema,
} from 'graphql';
import type { KeyedField } from '../src/core/idempotency.ts';
import type { BridgeContext, RestResponse, Call } from './call.ts';
import { createDocument, planRow, RowError, type RowPlan } from './document.ts';
import { createExecutor, type Execute } from './execute.ts';
import { withSentKeys } from './keyed-lists.ts';
import type { Presentation } from './present.ts';
import { linkRows } from './relations.ts';
import { createRequestParser, type RequestParser } from './request-variables.ts';
import { checkIdentity, createResponder, type CreateResponse } from './response.ts';
import type { Json, Row } from './route.ts';
import { subscribeToDocument } from './subscribe.ts';
import { shapeOf } from './words.ts';

/**
 * Returns the permission that a field requires, by its coordinate, e.g. `Mutation.updateJob`.
 * `public` allows callers without credentials; undefined means that the field requires no permission of its own.
 */
type PermissionOf = (coordinate: string) => string | undefined;

/** A row that is ready to run. */
export interface Endpoint {
  row: Row;
  /** Permission that the caller requires: `public`, or several joined by commas. */
  permission: string;
  public: boolean;
  /** Whether the row runs once for each `Idempotency-Key`. */
  runsOnce: boolean;
  plan?: RowPlan;
  presentation?: Presentation;
  parser?: RequestParser;
  /** Runs the row. Throws `ApiError`s, and GraphQL errors that wrap them. */
  run(call: Call, args?: Readonly<Json>): Promise<RestResponse>;
  /** Subscribes to the row's field. Returns its values, each presented. */
  subscribe(call: Call, args?: Readonly<Json>): Promise<AsyncIterableIterator<unknown>>;
}

export interface BridgeOptions {
  permissionOf: PermissionOf;
  /** Returns whether a mutation runs once for each idempotency key. Default: none does. */
  runsOnce?: (mutation: string) => boolean;
  /** Whether to compile documents with graphql-jit from their second use on. Default true. */
  jit?: boolean;
}

/** The document of a row, its executor, and the function that turns its results into responses. */
interface CompiledDocument {
  document: DocumentNode;
  execute: Execute;
  respond: CreateResponse;
}

/** Compiles the table of rows in their order. Throws a single error with one line for each invalid row. */
export function compileRows(schema: GraphQLSchema, rows: readonly Row[], options: BridgeOptions): Endpoint[] {
  const errors: string[] = [];
  const routes = new Set<string>();
  const endpoints = new Map<Row, Endpoint>();
  const reads = new Map<string, Endpoint>();
  // GET rows come first, because a PUT accepts the keys that the GET of its path returns.
  for (const row of [...rows].sort((one, other) => Number(other.method === 'GET') - Number(one.method === 'GET'))) {
    const route = `${row.method} ${shapeOf(row.path)}`;
    try {
      if (routes.has(route)) throw new RowError(row, 'there are two rows for this route');
      const endpoint = compileRow(schema, row, options, row.method === 'PUT' ? reads.get(row.path) : undefined);
      endpoints.set(row, endpoint);
      if (row.method === 'GET') reads.set(row.path, endpoint);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      errors.push(error instanceof RowError ? error.message : new RowError(row, error.message).message);
    }
    routes.add(route);
  }
  if (errors.length > 0) throw new Error(errors.join('\n'));
  const compiled = rows.map((row) => endpoints.get(row)!);
  linkRows(compiled);
  return compiled;
}

/** Compiles one row. `read` is the GET of the same path when the row is a PUT. */
function compileRow(
  schema: GraphQLSchema,
  row: Row,
  { permissionOf, runsOnce: takesKey, jit = true }: BridgeOptions,
  read: Endpoint | undefined,
): Endpoint {
  if (row.field === null) return compileAdapterRow(row);
  const plan = planRow(schema, row as Row & { field: string });
  const leaf = plan.chain.at(-1)!;
  const presentation = row.presenter?.on(leaf.field.type, leaf.field);
  const selection = presentation?.selection ?? (isCompositeType(getNamedType(leaf.field.type)) ? '__typename' : '');
  const compile = (presented: Presentation | undefined, fields: string, isDeferred = false): CompiledDocument => {
    const document = createDocument(schema, row, plan, fields);
    const respond = createResponder(schema, row, plan, document, presented, isDeferred);
    return { document, execute: createExecutor(schema, document, jit), respond };
  };
  const waiting = compile(presentation, selection);
  const deferred = presentation?.deferred && compile(presentation.deferred, presentation.deferred.selection, true);
  const parser = createRequestParser(row, plan, deferred !== undefined, putExceptions(row, plan, presentation, read));
  const permission = requiredPermissions(plan, permissionOf);
  const runsOnce =
    row.method === 'POST' && plan.operation === OperationTypeNode.MUTATION && takesKey?.(plan.chain[0]!.name) === true;
  return {
    row,
    runsOnce,
    permission: row.options.permission ?? (permission || 'authenticated'),
    public: permission === 'public',
    plan,
    parser,
    ...(presentation && { presentation }),
    run: withKeys(row, createRun(parser, waiting, deferred, read, presentation?.listLimit, plan.chain[0]!.name)),
    subscribe: createSubscribe(schema, row, plan, parser, waiting),
  };
}

/** Returns the permissions of all fields of a plan, each once, joined by commas; empty when they require none. */
function requiredPermissions({ chain }: RowPlan, permissionOf: PermissionOf): string {
  const permissions = chain.map(({ parent, name }) => permissionOf(`${parent}.${name}`));
  return [...new Set(permissions.filter((permission) => permission !== undefined))].join(', ');
}

/** Parses a request. Arguments that a handler passes replace the body. */
function parseCall(parser: RequestParser, call: Call, args: Readonly<Json> | undefined) {
  const { variables, identityFields } = parser.parse(args ? { ...call, body: undefined } : call);
  return { variables: Object.assign(variables, args), identityFields };
}

/** Creates `Endpoint.run`. With `Prefer: respond-async` it runs `deferred`, which does not wait for the result. */
function createRun(
  parser: RequestParser,
  waiting: CompiledDocument,
  deferred: CompiledDocument | undefined,
  read: Endpoint | undefined,
  listLimit: number | undefined,
  field: string,
): Endpoint['run'] {
  return async (call, args) => {
    const { variables, identityFields } = parseCall(parser, call, args);
    if (identityFields && read)
      await checkIdentity(identityFields, () => read.run({ ...call, query: {}, body: undefined, respondAsync: false }));
    if (listLimit !== undefined) {
      variables['limit'] ??= listLimit;
      const { read: reader } = call.context as BridgeContext;
      if (reader) reader.counted = {};
    }
    const compiled = call.respondAsync && deferred ? deferred : waiting;
    if (compiled === deferred) variables['wait'] = false;
    const pending = call.keyed
      ? runOnce(call, call.keyed, { field, path: field, form: compiled === deferred ? 'deferred' : 'waiting' }, () =>
          compiled.execute(call.context, variables),
        )
      : compiled.execute(call.context, variables);
    const result = pending instanceof Promise ? await pending : pending;
    if (result.errors && result.data === undefined) throw parser.toError(variables, result.errors[0]!.message);
    return compiled.respond(result, call, variables);
  };
}

/** Runs the field of a row, or returns what it has returned to an earlier request with the key. */
async function runOnce(
  { context, query, body }: Call,
  { method, path }: NonNullable<Call['keyed']>,
  field: KeyedField,
  execute: () => ReturnType<Execute>,
): Promise<ExecutionResult> {
  const { openKeyed } = context as BridgeContext;
  if (!openKeyed) return execute();
  const keyed = await openKeyed({ method, path, query, body });
  return keyed.run(field, execute);
}

/** Names the values that errors are about as the client sent them. */
const withKeys = ({ options: { keyed } }: Row, run: Endpoint['run']): Endpoint['run'] =>
  keyed
    ? async (call, args) => {
        try {
          return await run(call, args);
        } catch (error) {
          throw withSentKeys(keyed, call.body, error);
        }
      }
    : run;

/** Creates `Endpoint.subscribe`. It throws `RowError` for a row whose field is not a subscription. */
function createSubscribe(
  schema: GraphQLSchema,
  row: Row,
  plan: RowPlan,
  parser: RequestParser,
  { document, respond }: CompiledDocument,
): Endpoint['subscribe'] {
  return async (call, args) => {
    if (plan.operation !== OperationTypeNode.SUBSCRIPTION)
      throw new RowError(row, `${row.field} is not a subscription`);
    const { variables } = parseCall(parser, call, args);
    return subscribeToDocument(
      schema,
      document,
      call.context,
      variables,
      (result) => respond(result, call, variables).body,
      (message) => parser.toError(variables, message),
    );
  };
}

/**
 * Returns the keys of a record that a PUT ignores, and the identity fields that it refuses to change.
 * Keys of the field's input are neither. See docs/contract/apis.md#updates.
 */
function putExceptions(
  row: Row,
  { slots }: RowPlan,
  presentation: Presentation | undefined,
  read: Endpoint | undefined,
): { ignored: Set<string>; identity: Set<string> } {
  if (row.method !== 'PUT') return { ignored: new Set(), identity: new Set() };
  const inputs = new Set(
    slots.flatMap(({ argument }) => {
      const type = getNamedType(argument.type);
      return isInputObjectType(type) ? Object.keys(type.getFields()) : [];
    }),
  );
  const identity = new Set(
    (row.options.identity ?? read?.presentation?.identity ?? []).filter((key) => !inputs.has(key)),
  );
  return {
    identity,
    ignored: new Set([
      '_links',
      '_embedded',
      ...(presentation?.keys ?? []),
      ...(read?.presentation?.keys ?? []),
      ...(row.options.ignored ?? []),
    ]),
  };
}

/** Compiles a row without a GraphQL field: its handler runs, or its presenter prints a response without data. */
function compileAdapterRow(row: Row): Endpoint {
  if (!row.options.handler && !row.presenter) throw new RowError(row, 'names neither a GraphQL field nor a handler');
  const permission = row.options.permission ?? 'authenticated';
  const reject = () => Promise.reject(new RowError(row, 'names no GraphQL field'));
  const isPublic = permission === 'public';
  const endpoint = { row, permission, public: isPublic, runsOnce: false, run: reject, subscribe: reject };
  if (!row.presenter) return endpoint;
  const presentation = row.presenter.on(GraphQLString, {} as GraphQLField<unknown, unknown>);
  const plan: RowPlan = { operation: OperationTypeNode.QUERY, chain: [], slots: [], bound: new Map() };
  const parser = createRequestParser(row, plan, false, { ignored: new Set(), identity: new Set() });
  const run: Endpoint['run'] = async (call) => {
    const { variables } = parser.parse(call);
    const { viewer } = call.context as BridgeContext;
    const body = presentation.present({}, { url: call.url, params: call.params, variables, viewer });
    return { status: 200, body, single: presentation.single };
  };
  return { ...endpoint, presentation, parser, run };
}
