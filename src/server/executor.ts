import { BREAK, execute, GraphQLError, Kind, OperationTypeNode, visit, type ASTNode, type DocumentNode, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { compileQuery, isCompiledQuery, type CompiledQuery } from 'graphql-jit';

/** What one run needs. */
export interface Operation {
  document: DocumentNode;
  operationName?: string | null;
  variables?: Record<string, unknown>;
  context: object;
}

type Result = Promise<ExecutionResult> | ExecutionResult;

/** A compiled document keeps about 20 KiB for ever, so only what is used again and again is compiled, and of that no more than this. */
const COMPILED_AT_USE = 20;
const MOST_COMPILED = 500;

/** Runs validated documents: graphql-js, and graphql-jit for the first 500 that come a twentieth time, which executes them three to six times as fast. */
export function makeExecutor(schema: GraphQLSchema): (operation: Operation) => Result {
  const known = new WeakMap<DocumentNode, { uses: number; run?: CompiledQuery['query'] }>();
  let compiled = 0;

  const compile = (document: DocumentNode): CompiledQuery['query'] | undefined => {
    if (compiled >= MOST_COMPILED || !isCompilable(document)) return undefined;
    compiled++;
    const query = compileQuery(schema, document);
    return isCompiledQuery(query) ? query.query : undefined;
  };

  return ({ document, operationName, variables = {}, context }) => {
    const interpret = () => execute({ schema, document, operationName, variableValues: variables, contextValue: context }) as Result;
    let use = known.get(document);
    if (!use) known.set(document, use = { uses: 0 });
    if (++use.uses === COMPILED_AT_USE) use.run = compile(document);
    if (!use.run) return interpret();
    const result = use.run(undefined, context, variables) as Result;
    if (result instanceof Promise) return result.then(withOwnErrors);
    // Without data, nothing has run because the variables do not fit; graphql-js says why in the words that it used before the document was compiled.
    return result.data === undefined ? interpret() : withOwnErrors(result);
  };
}

/** The errors of graphql-jit cannot be changed, which Apollo does to them: they are made again as those of graphql-js. */
function withOwnErrors(result: ExecutionResult): ExecutionResult {
  const again = ({ message, path, originalError, extensions, locations }: GraphQLError) => Object.assign(new GraphQLError(message, { path, originalError, extensions }), { locations });
  return result.errors ? { ...result, errors: result.errors.map(again) } : result;
}

/**
 * One operation, no subscription, and variables only as whole arguments: what a document with several operations does depends on the name in the request,
 * and graphql-jit forgets variables inside the literal of a custom scalar, e.g. `filter: {region: $region}`.
 */
function isCompilable(document: DocumentNode): boolean {
  const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  return operations.length === 1 && operations[0]!.operation !== OperationTypeNode.SUBSCRIPTION && !hasNestedVariable(document);
}

function hasNestedVariable(document: DocumentNode): boolean {
  let found = false;
  const look = (literal: ASTNode) => {
    visit(literal, { Variable: () => { found = true; return BREAK; } });
    return found ? BREAK : false;
  };
  visit(document, { ListValue: look, ObjectValue: look });
  return found;
}
