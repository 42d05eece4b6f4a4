import { getOperationAST, GraphQLError, parse, type DocumentNode, type GraphQLSchema } from 'graphql';
import { graphqlLimit } from '../errors.ts';
import { costOf, type Cost } from './cost.ts';
import {
  MAX_ALIASES,
  MAX_DEPTH,
  MAX_INTROSPECTION_DEPTH,
  MAX_ROOT_FIELDS,
  measureOperation,
} from './measure-operation.ts';

export { MAX_ALIASES, MAX_DEPTH, MAX_INTROSPECTION_DEPTH, MAX_ROOT_FIELDS };

/** Limits on what one GraphQL document may ask for (contract 10). */
export const MAX_TOKENS = 10_000;
export const MAX_COST = 50_000;

/** Parses a document of at most 10 000 tokens. Throws `GRAPHQL_LIMIT` 400 past it, graphql-js' syntax error otherwise. */
export function parseLimited(source: string): DocumentNode {
  try {
    return parse(source, { maxTokens: MAX_TOKENS });
  } catch (error) {
    if (error instanceof GraphQLError && error.message.includes(`${MAX_TOKENS} tokens`))
      throw graphqlLimit(`The document has more than ${MAX_TOKENS} tokens`);
    // The parser recurses; before it counts all tokens, nesting may exhaust the stack.
    if (error instanceof RangeError) throw graphqlLimit('The document is nested too deeply');
    throw error;
  }
}

/** What a text costs for all values of its variables. */
interface DocumentCost {
  schema: GraphQLSchema;
  cost: Cost;
}

/** By document and operation: what depends on the text alone is computed once for a document that is kept parsed. */
const documentCosts = new WeakMap<DocumentNode, Map<string, DocumentCost>>();

/**
 * Holds an operation against the limits and answers its cost: 1 for an object, 0 for a scalar, lists times their `limit` or 10. A field that takes a
 * `limit` but answers an object, i.e. a page, hands it to its lists. Repeated fields and fragments count as often as they are written.
 * `variables` are the raw values of the request. Throws `GRAPHQL_LIMIT` 400; what does not validate is left to validation.
 */
export function checkLimits(
  document: DocumentNode,
  schema: GraphQLSchema,
  variables: Readonly<Record<string, unknown>> = {},
  operationName?: string,
): { cost: number } {
  const cost = costOf(measureOnce(document, schema, operationName).cost, variables);
  if (cost > MAX_COST) throw graphqlLimit(`The operation costs ${cost}, more than ${MAX_COST}`);
  return { cost };
}

function measureOnce(document: DocumentNode, schema: GraphQLSchema, operationName: string | undefined): DocumentCost {
  const operations = documentCosts.get(document) ?? new Map<string, DocumentCost>();
  documentCosts.set(document, operations);
  const known = operations.get(operationName ?? '');
  if (known?.schema === schema) return known;

  const operation = getOperationAST(document, operationName);
  const price = { schema, cost: operation ? measureOperation(document, schema, operation) : [] };
  // A name that no operation has costs nothing and is not kept: clients could send a document with any number of them.
  if (operation) operations.set(operationName ?? '', price);
  return price;
}
