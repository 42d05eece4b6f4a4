import { execute, type DocumentNode, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { compileQuery, isCompiledQuery, type CompiledQuery } from 'graphql-jit';

/** Runs one document again and again. */
export type Execute = (
  context: object,
  variables: Readonly<Record<string, unknown>>,
) => ExecutionResult | Promise<ExecutionResult>;

/** A document is compiled when it is used again: a start compiles nothing, and what nobody calls costs no memory. */
const COMPILED_AT_USE = 2;

/** The executor of one validated document: graphql-js, and from its second use on graphql-jit when `jit` is on. */
export function executor(schema: GraphQLSchema, document: DocumentNode, jit: boolean): Execute {
  const interpreted: Execute = (contextValue, variableValues) =>
    execute({ schema, document, contextValue, variableValues }) as ExecutionResult | Promise<ExecutionResult>;
  if (!jit) return interpreted;
  let uses = 0;
  let compiled: CompiledQuery | undefined;
  return (context, variables) => {
    uses += 1;
    if (uses === COMPILED_AT_USE) {
      const query = compileQuery(schema, document);
      if (isCompiledQuery(query)) compiled = query;
    }
    return compiled
      ? (compiled.query(undefined, context, variables as Record<string, unknown>) as
          | ExecutionResult
          | Promise<ExecutionResult>)
      : interpreted(context, variables);
  };
}
