import {
  getOperationAST,
  GraphQLError,
  Lexer,
  parse,
  Source,
  TokenKind,
  type DocumentNode,
  type GraphQLSchema,
} from 'graphql';
import { graphqlLimit } from '../errors.ts';
import { costOf, FULL_SCAN_COST } from './cost.ts';
import { measureOperation, type OperationCost } from './measure-operation.ts';

/** Further limits of a GraphQL document are in measure-operation.ts. See docs/contract/apis.md#graphql-limits. */
export const MAX_TOKENS = 10_000;
const MAX_COST = 50_000;
/** Characters of a document: one long text or comment is one token or none, and is read in one step. */
const MAX_CHARACTERS = 1_000_000;
/** Levels of brackets of any kind. The parser and all that reads a document are recursive. */
const MAX_NESTING = 256;

/**
 * Parses a document of at most 1,000,000 characters and 10,000 tokens, which nest at most 256 levels. Throws
 * `GRAPHQL_LIMIT` for any other, and syntax errors of graphql-js.
 */
export function parseLimited(source: string): DocumentNode {
  checkDocumentText(source);
  try {
    return parse(source, { maxTokens: MAX_TOKENS });
  } catch (error) {
    if (error instanceof GraphQLError && error.message.includes(`${MAX_TOKENS} tokens`)) throw tooManyTokens();
    throw error;
  }
}

/** The error of a document with more tokens than are parsed. */
export const tooManyTokens = () => graphqlLimit(`The document has more than ${MAX_TOKENS} tokens`);

const OPENING: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/**
 * Checks that a text has at most 1,000,000 characters, and that its selections, arguments and values nest at most 256
 * levels. Throws `GRAPHQL_LIMIT`.
 */
export function checkDocumentText(source: string): void {
  if (source.length > MAX_CHARACTERS)
    throw graphqlLimit(`The document has more than ${MAX_CHARACTERS} characters; send long values as variables`);
  // Nearly all documents have fewer brackets than the limit: their tokens are not read twice.
  if (source.length <= 2 * MAX_NESTING || countUpTo(source, /[[({]/g, MAX_NESTING) < MAX_NESTING) return;
  const lexer = new Lexer(new Source(source));
  let level = 0;
  for (let tokens = 0; tokens < MAX_TOKENS; tokens++) {
    const kind = nextKind(lexer);
    if (kind === undefined) return;
    if (CLOSING.has(kind)) level--;
    else if (OPENING.has(kind) && ++level > MAX_NESTING)
      throw graphqlLimit(`The document nests more than ${MAX_NESTING} levels`);
  }
}

/** Returns the kind of the next token. Undefined at the end, and for a syntax error, which the parser reports. */
function nextKind(lexer: Lexer): TokenKind | undefined {
  try {
    const { kind } = lexer.advance();
    return kind === TokenKind.EOF ? undefined : kind;
  } catch {
    return undefined;
  }
}

/** Counts matches of a global expression, at most `max`. */
function countUpTo(text: string, expression: RegExp, max: number): number {
  let found = 0;
  while (found < max && expression.test(text)) found++;
  return found;
}

/** The cost of an operation for any values of its variables. */
interface DocumentCost extends OperationCost {
  schema: GraphQLSchema;
}

/** Costs by document and operation, so that a cached document is measured once. */
const documentCosts = new WeakMap<DocumentNode, Map<string, DocumentCost>>();

/**
 * Checks the limits of an operation. Returns its cost: 1 for an object, 0 for a scalar, and for a list its items times
 * the `limit`, or times 10 without one. A field that reads all rows of a dataset costs 200 more. The `limit`
 * of a field that returns a page applies to the lists of the page.
 * Repeated fields and fragments count repeatedly. `variables` are the raw values of the request. Throws
 * `GRAPHQL_LIMIT`; invalid documents are left to validation.
 */
export function checkLimits(
  document: DocumentNode,
  schema: GraphQLSchema,
  variables: Readonly<Record<string, unknown>> = {},
  operationName?: string,
): { cost: number } {
  const measured = measureOnce(document, schema, operationName);
  const cost = costOf(measured.cost, variables);
  if (cost > MAX_COST)
    throw graphqlLimit(`The operation costs ${cost}, more than ${MAX_COST}${explainFullScans(measured)}`);
  return { cost };
}

const explainFullScans = ({ fullScans }: OperationCost): string =>
  fullScans.size > 0
    ? `. Fields that read all rows cost ${FULL_SCAN_COST} each: ${[...fullScans].sort().join(', ')}`
    : '';

function measureOnce(document: DocumentNode, schema: GraphQLSchema, operationName: string | undefined): DocumentCost {
  const operations = documentCosts.get(document) ?? new Map<string, DocumentCost>();
  documentCosts.set(document, operations);
  const known = operations.get(operationName ?? '');
  if (known?.schema === schema) return known;

  const operation = getOperationAST(document, operationName);
  const measured = operation
    ? measureOperation(document, schema, operation)
    : { cost: [], fullScans: new Set<string>() };
  const documentCost = { schema, ...measured };
  // An unknown operation name is not cached: clients could send any number of them with one document.
  if (operation) operations.set(operationName ?? '', documentCost);
  return documentCost;
}
