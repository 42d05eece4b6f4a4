import {
  GraphQLError,
  introspectionFromSchema,
  validate,
  ValuesOfCorrectTypeRule,
  type DocumentNode,
  type GraphQLSchema,
} from 'graphql';
import { programBeside } from '../../adapters/process/program.ts';
import { TaskThread } from '../../adapters/process/task-thread.ts';
import type { PublicContext } from '../../core/context.ts';
import { graphqlLimit } from '../../core/errors.ts';
import { callerAt, FairGate, type Caller } from '../../core/fair-gate.ts';
import { letBeginInTurn } from '../../core/long-turns.ts';

/** Tasks of the thread. Documents are sent as texts, because their nodes would take longer to copy. */
export type DocumentTask =
  | { kind: 'validate'; text: string }
  | { kind: 'introspect'; text: string; variables: Record<string, unknown>; operationName: string | undefined };

export type DocumentResult =
  | { kind: 'errors'; errors: readonly { message: string; positions: number[] }[] }
  /** The root fields of the response that read the schema, as JSON. */
  | { kind: 'parts'; parts: [key: string, json: string][] }
  /** The variables do not fit. */
  | { kind: 'failed' }
  | { kind: 'tooLong' };

/** Shorter documents take a few milliseconds at most. The time for a long one can grow with the square of its length. */
const MAX_SHORT_CHARACTERS = 2000;

const WHOLE_SCHEMA = {
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
} as const;

/** Shared among addresses by callers without credentials. */
const GATE = FairGate.shared({ places: 1, maxWaiting: 200, taskNoun: 'long GraphQL documents' });

/** The identity of the caller of a document. */
export type DocumentCaller = Pick<PublicContext, 'viewer'> & {
  request: Pick<PublicContext['request'], 'address' | 'signal'>;
};

/** A long document whose turns `prepare` began. */
interface PreparedDocument {
  text: string;
  result: DocumentResult;
  /** They wait for the next turn. */
  waiting: (() => void)[];
}

/** Returns whether a document is checked in the thread. */
export const isLong = (text: string): boolean => text.length > MAX_SHORT_CHARACTERS;

/** Returns who shares the places for documents: the user, or the address of a caller without credentials. */
export const callerOfDocument = ({ viewer, request: { address } }: DocumentCaller): Caller =>
  viewer ?? callerAt(address);

/**
 * Validates documents, and runs what reads the schema. Long documents are validated, and introspection runs, in a thread
 * of its own, one at a time: both can take a fifth of a second. See docs/contract/operations.md#fairness.
 */
export class DocumentThread {
  readonly #schema: GraphQLSchema;
  readonly #thread: TaskThread<DocumentTask, DocumentResult>;
  /** The errors of documents that were validated. */
  readonly #known = new WeakMap<DocumentNode, Promise<readonly GraphQLError[]>>();
  /** The document that has the turns. */
  #prepared: PreparedDocument | undefined;

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
    // Kept as a text for later threads: it takes a tenth of a second.
    let introspection: string | undefined;
    this.#thread = new TaskThread(programBeside(import.meta.url, 'document-worker'), {
      data: () => (introspection ??= JSON.stringify(introspectionFromSchema(schema, WHOLE_SCHEMA))),
      heapMb: 256,
      idleMs: 60_000,
      timeoutMs: 20_000,
      failure: 'The document could not be checked',
    });
  }

  /**
   * Validates the text of a long document that is not parsed yet, then resolves in a turn of the event loop for it alone, in
   * which the caller parses it; a pause follows. `nextTurn` continues with another turn. Of many such documents, only one is
   * in memory. Throws like `FairGate`.
   */
  prepare(text: string, caller: DocumentCaller): Promise<void> {
    return new Promise((resolve, reject) => {
      const validateAndParse = async () => {
        const result = await this.#thread.run({ kind: 'validate', text });
        const prepared: PreparedDocument = { text, result, waiting: [resolve] };
        this.#prepared = prepared;
        while (prepared.waiting.length > 0)
          await letBeginInTurn(() => {
            for (const begin of prepared.waiting.splice(0)) begin();
          });
        this.#prepared = undefined;
      };
      GATE.run(callerOfDocument(caller), caller.request.signal, validateAndParse).catch(reject);
    });
  }

  /** Ends the turn of a document that `prepare` began. Resolves in its next turn; immediately for other documents. */
  async nextTurn(document: DocumentNode): Promise<void> {
    const prepared = this.#prepared;
    if (prepared?.text !== document.loc!.source.body) return;
    await new Promise<void>((resolve) => {
      prepared.waiting.push(resolve);
    });
  }

  /** Returns the errors of a document. Each document is validated once. Throws like `FairGate`. */
  validate(document: DocumentNode, caller: DocumentCaller): Promise<readonly GraphQLError[]> {
    let errors = this.#known.get(document);
    if (!errors) {
      errors = this.#validate(document, caller);
      this.#known.set(document, errors);
      // Another caller is not refused for this one.
      errors.catch(() => this.#known.delete(document));
    }
    return errors;
  }

  async #validate(document: DocumentNode, caller: DocumentCaller): Promise<readonly GraphQLError[]> {
    const { source } = document.loc!;
    const text = source.body;
    if (!isLong(text)) return validate(this.#schema, document);
    const prepared = this.#prepared?.text === text ? this.#prepared.result : undefined;
    const result = prepared ?? (await this.#run({ kind: 'validate', text }, caller));
    if (result.kind !== 'errors') throw new Error('The document was not validated');
    await this.nextTurn(document);
    const errors = [
      ...result.errors.map(({ message, positions }) => new GraphQLError(message, { source, positions })),
      ...validate(this.#schema, document, [ValuesOfCorrectTypeRule]),
    ];
    await this.nextTurn(document);
    return errors;
  }

  /**
   * Returns the root fields of an operation that read the schema, as JSON by their names in the response; undefined if
   * its variables do not fit. Throws GRAPHQL_LIMIT above a length, and like `FairGate`.
   */
  async introspect(
    task: Omit<DocumentTask & { kind: 'introspect' }, 'kind'>,
    caller: DocumentCaller,
  ): Promise<ReadonlyMap<string, string> | undefined> {
    const result = await this.#run({ kind: 'introspect', ...task }, caller);
    if (result.kind === 'tooLong') throw graphqlLimit('The introspection returns more than 8 million characters');
    return result.kind === 'parts' ? new Map(result.parts) : undefined;
  }

  #run(task: DocumentTask, caller: DocumentCaller): Promise<DocumentResult> {
    return GATE.run(callerOfDocument(caller), caller.request.signal, () => this.#thread.run(task));
  }
}
