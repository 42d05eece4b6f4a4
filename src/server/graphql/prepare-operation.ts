import { getOperationAST, GraphQLError, type DocumentNode, type ExecutionArgs, type GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { PublicContext } from '../../core/context.ts';
import { badInput } from '../../core/errors.ts';
import { checkDocumentText, checkLimits, parseLimited } from '../../core/limits/limits.ts';
import { isLong, type DocumentThread } from './document-thread.ts';
import { describeRefusedValues } from './value-issues.ts';
import { checkValues } from './variables.ts';

/** Maximum length of the texts of all stored documents. */
const MAX_DOCUMENT_CHARACTERS = 1_000_000;

/** An operation as a client sends it. */
export interface SentOperation {
  query: string;
  variables?: Record<string, unknown> | null | undefined;
  operationName?: string | null | undefined;
}

/**
 * Prepares the operations that Apollo does not run, of sockets and event streams. Keeps the valid documents that clients used last:
 * parsing and validating takes longer than subscribing.
 */
export class OperationPreparer {
  readonly #schema: GraphQLSchema;
  readonly #thread: DocumentThread;
  readonly #documents = new LRUCache<string, DocumentNode>({
    maxSize: MAX_DOCUMENT_CHARACTERS,
    sizeCalculation: (_document, query) => query.length + 1,
  });

  constructor({ schema, thread }: { schema: GraphQLSchema; thread: DocumentThread }) {
    this.#schema = schema;
    this.#thread = thread;
  }

  /** Checks an operation. Returns the arguments of its execution, or the errors of an invalid document. Throws other errors. */
  async prepare(operation: SentOperation, context: PublicContext): Promise<ExecutionArgs | readonly GraphQLError[]> {
    const { query, operationName } = operation;
    const variables = operation.variables ?? {};
    const schema = this.#schema;
    let document = this.#documents.get(query);
    if (!document) {
      checkDocumentText(query);
      if (isLong(query)) await this.#thread.prepare(query, context);
      document = parseLimited(query);
      const errors = await this.#thread.validate(document, context);
      // Without the original error of a scalar: the document is invalid, and the error is expected.
      if (errors.length)
        return describeRefusedValues(
          errors.map(
            ({ message, nodes, source, positions }) => new GraphQLError(message, { nodes, source, positions }),
          ),
          { schema, document, operationName, variables },
        );
      this.#documents.set(query, document);
    }
    const node = getOperationAST(document, operationName);
    if (!node) throw badInput('The document does not contain this operation');
    checkValues(document, node, variables);
    checkLimits(document, schema, variables, operationName ?? undefined);
    return { schema, document, variableValues: variables, operationName, contextValue: context };
  }
}
