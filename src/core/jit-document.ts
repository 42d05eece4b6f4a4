import {
  GraphQLBoolean,
  GraphQLID,
  GraphQLString,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLScalarType,
  type GraphQLSchema,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';

/*
 * The only module that uses graphql-jit. It is in core because both APIs compile documents: the REST bridge its own,
 * and the GraphQL endpoint the documents of clients; neither may import the other. Compiling is pure: it reads no file
 * and opens no connection.
 */

/** Runs one compiled document. The result has no `data` when the variables do not fit their types. */
export type JitDocument = (
  context: object,
  variables: Readonly<Record<string, unknown>>,
) => ExecutionResult | Promise<ExecutionResult>;

/** Serializes values that already have the type of their scalar without the checks of graphql-js. */
const serializeQuickly =
  (type: 'string' | 'boolean', scalar: GraphQLScalarType) =>
  (value: unknown): unknown =>
    typeof value === type ? value : scalar.serialize(value);

const SERIALIZERS = {
  Boolean: serializeQuickly('boolean', GraphQLBoolean),
  ID: serializeQuickly('string', GraphQLID),
  String: serializeQuickly('string', GraphQLString),
};

/**
 * Compiles a validated document. Returns undefined for a document that graphql-jit cannot compile.
 * A compiled document occupies about 20 KiB and is never freed.
 */
export function compileDocument(schema: GraphQLSchema, document: DocumentNode): JitDocument | undefined {
  const compiled = compileQuery(schema, document, '', { customSerializers: SERIALIZERS });
  if (!isCompiledQuery(compiled)) return undefined;
  return (context, variables) =>
    compiled.query(undefined, context, variables as Record<string, unknown>) as
      | ExecutionResult
      | Promise<ExecutionResult>;
}

/**
 * Returns a function that calls `compile` once, on its call number `use`. It returns undefined before that call, and
 * the result of `compile` from then on.
 */
export function compileAtUse<T>(use: number, compile: () => T | undefined): () => T | undefined {
  let uses = 0;
  let compiled: T | undefined;
  return () => {
    uses += 1;
    if (uses === use) compiled = compile();
    return compiled;
  };
}
