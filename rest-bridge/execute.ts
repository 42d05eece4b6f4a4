import { execute, type DocumentNode, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { compileAtUse, compileDocument, type JitDocument } from '../src/core/jit-document.ts';

/** Runs one document any number of times. */
export type Execute = JitDocument;

/** Compiling starts with the second use, so that start-up compiles nothing and unused routes cost no memory. */
const COMPILED_AT_USE = 2;

/**
 * Creates the executor of one validated document. It uses graphql-js, and graphql-jit from the second use on when `jit`
 * is true.
 */
export function createExecutor(schema: GraphQLSchema, document: DocumentNode, jit: boolean): Execute {
  const interpret: Execute = (contextValue, variableValues) =>
    execute({ schema, document, contextValue, variableValues }) as ExecutionResult | Promise<ExecutionResult>;
  if (!jit) return interpret;
  const findCompiled = compileAtUse(COMPILED_AT_USE, () => compileDocument(schema, document));
  return (context, variables) => (findCompiled() ?? interpret)(context, variables);
}
