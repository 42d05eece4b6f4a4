import {
  getNamedType,
  isCompositeType,
  isInputObjectType,
  OperationTypeNode,
  type DocumentNode,
  type GraphQLSchema,
} from 'graphql';
import type { RestResponse, Call } from './call.ts';
import { createDocument, planRow, RowError, type RowPlan } from './document.ts';
import { executor, type Execute } from './execute.ts';
import type { Presentation } from './present.ts';
import { createRequestParser, type RequestParser } from './request-variables.ts';
import { createResponder, checkUnchanged, type CreateResponse } from './response.ts';
import type { Json, Row } from './route.ts';
import { subscribeToDocument } from './subscribe.ts';

/** The permission of one field by its coordinate, e.g. `Mutation.updateJob`; `public` opens it, undefined where a field asks for none of its own. */
export type PermissionOf = (coordinate: string) => string | undefined;

/** A row ready to run. */
export interface Endpoint {
  row: Row;
  /** What the caller must have: `public`, or permissions joined by a comma. */
  permission: string;
  public: boolean;
  plan?: RowPlan;
  presentation?: Presentation;
  parser?: RequestParser;
  /** Runs the row. Faults, and errors as GraphQL wraps them, are thrown. */
  run(call: Call, args?: Readonly<Json>): Promise<RestResponse>;
  /** Follows the row's subscription, value by value. */
  subscribe(call: Call, args?: Readonly<Json>): Promise<AsyncIterableIterator<unknown>>;
}

export interface BridgeOptions {
  permissionOf: PermissionOf;
  /** Compile documents with graphql-jit from their second use on. Default true. */
  jit?: boolean;
}

/** A document with the way its answer is printed. */
interface CompiledDocument {
  document: DocumentNode;
  execute: Execute;
  respond: CreateResponse;
}

/** Compiles the whole table. Throws one error that holds one sentence for each slip. */
export function compileRows(schema: GraphQLSchema, rows: readonly Row[], options: BridgeOptions): Endpoint[] {
  const slips: string[] = [];
  const seen = new Set<string>();
  const endpoints = new Map<Row, Endpoint>();
  const reads = new Map<string, Endpoint>();
  // Reads come first: a PUT knows from the GET of its path which keys an answer has.
  for (const row of [...rows].sort((one, other) => Number(other.method === 'GET') - Number(one.method === 'GET'))) {
    const shape = `${row.method} ${row.path.replace(/:\w+/g, ':')}`;
    try {
      if (seen.has(shape)) throw new RowError(row, 'there are two rows for this route');
      const endpoint = compileRow(schema, row, options, row.method === 'PUT' ? reads.get(row.path) : undefined);
      endpoints.set(row, endpoint);
      if (row.method === 'GET') reads.set(row.path, endpoint);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      slips.push(error instanceof RowError ? error.message : new RowError(row, error.message).message);
    }
    seen.add(shape);
  }
  if (slips.length > 0) throw new Error(slips.join('\n'));
  return rows.map((row) => endpoints.get(row)!);
}

function compileRow(
  schema: GraphQLSchema,
  row: Row,
  { permissionOf, jit = true }: BridgeOptions,
  read: Endpoint | undefined,
): Endpoint {
  if (row.field === null) return compileAdapterRow(row);
  const plan = planRow(schema, row as Row & { field: string });
  const leaf = plan.chain.at(-1)!;
  const presentation = row.presenter?.on(leaf.field.type, leaf.field);
  const selection = presentation?.selection ?? (isCompositeType(getNamedType(leaf.field.type)) ? '__typename' : '');
  const compile = (of: Presentation | undefined, selected: string, defers = false): CompiledDocument => {
    const document = createDocument(schema, row, plan, selected);
    return {
      document,
      execute: executor(schema, document, jit),
      respond: createResponder(schema, row, plan, document, of, defers),
    };
  };
  const waited = compile(presentation, selection);
  const deferred = presentation?.deferred && compile(presentation.deferred, presentation.deferred.selection, true);
  const reader = createRequestParser(row, plan, deferred !== undefined, putExceptions(row, plan, presentation, read));
  const permission = [
    ...new Set(
      plan.chain.map(({ parent, name }) => permissionOf(`${parent}.${name}`)).filter((found) => found !== undefined),
    ),
  ].join(', ');
  const given = (call: Call, args: Readonly<Json> | undefined) => {
    const { variables, identityFields: held } = reader.parse(args ? { ...call, body: undefined } : call);
    return { variables: Object.assign(variables, args), held };
  };
  return {
    row,
    permission: permission || row.options.permission || 'authenticated',
    public: permission === 'public',
    plan,
    parser: reader,
    ...(presentation && { presentation }),
    async run(call, args) {
      const { variables, held } = given(call, args);
      if (held && read)
        checkUnchanged(held, (await read.run({ ...call, query: {}, body: undefined, respondAsync: false })).body as Json);
      const chosen = call.respondAsync && deferred ? deferred : waited;
      if (chosen === deferred) variables['wait'] = false;
      const result = chosen.execute(call.context, variables);
      const settled = result instanceof Promise ? await result : result;
      if (settled.errors && settled.data === undefined) throw reader.toError(variables, settled.errors[0]!.message);
      return chosen.respond(settled, call, variables);
    },
    async subscribe(call, args) {
      if (plan.operation !== OperationTypeNode.SUBSCRIPTION) throw new RowError(row, `${row.field} is no subscription`);
      const { variables } = given(call, args);
      return subscribeToDocument(
        schema,
        waited.document,
        call.context,
        variables,
        (result) => waited.respond(result, call, variables).body,
        (message) => reader.toError(variables, message),
      );
    },
  };
}

/** Which keys of our own answers a PUT ignores, and which it refuses when changed (contract 4). What the field takes is neither. */
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

/** An adapter for something that GraphQL does not have: it can only run itself. */
function compileAdapterRow(row: Row): Endpoint {
  if (!row.options.handler) throw new RowError(row, 'names neither a GraphQL field nor a handler');
  const permission = row.options.permission ?? 'authenticated';
  const nothing = () => Promise.reject(new RowError(row, 'names no GraphQL field'));
  return { row, permission, public: permission === 'public', run: nothing, subscribe: nothing };
}
