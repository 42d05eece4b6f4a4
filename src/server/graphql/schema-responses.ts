import {
  execute,
  GraphQLError,
  type DocumentNode,
  type ExecutionResult,
  type FormattedExecutionResult,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { PublicContext } from '../../core/context.ts';
import { FairGate } from '../../core/fair-gate.ts';
import { runInTurn } from '../../core/long-turns.ts';
import { SentOften } from '../sent-often.ts';
import { callerOfDocument, type DocumentThread } from './document-thread.ts';
import { divideDocument, type DividedDocument } from './schema-part.ts';
import { declaredValues } from './variables.ts';

/** Maximum length of the responses that are stored, with their documents. */
const MAX_STORED_CHARACTERS = 4_000_000;
/** Maximum length of the values of variables of a response that is stored. */
const MAX_VARIABLE_CHARACTERS = 1000;

/** Shorter texts are not the SDL. */
const MIN_SDL_CHARACTERS = 10_000;

/** Shared among addresses by callers without credentials. */
const GATE = FairGate.shared({ places: 1, maxWaiting: 200, taskNoun: 'responses with the SDL' });

/** A part of a result that is JSON already. */
class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** Returns the value for a message of a socket, which is printed as a whole. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

type Data = Record<string, unknown>;

/** A query of a client that is valid. */
interface SchemaQuery {
  document: DocumentNode;
  operation: OperationDefinitionNode;
  variables: Readonly<Record<string, unknown>>;
}

/** A result that is the same for all callers, and its response once it was sent. */
interface StoredResult {
  data: Data;
  /** Whether it is stored still. */
  isKept: boolean;
  text?: string;
  content?: SentOften;
}

/**
 * Runs queries that read the schema: introspection, in a thread of its own, and the SDL for federation. Results that are
 * the same for all callers are stored.
 */
export class SchemaResponses {
  readonly #schema: GraphQLSchema;
  readonly #thread: DocumentThread;
  readonly #stored = new LRUCache<string, StoredResult>({
    maxSize: MAX_STORED_CHARACTERS,
    sizeCalculation: ({ data }, key) => key.length + printData(data).length,
    dispose: (result) => {
      result.isKept = false;
      if (result.text !== undefined) this.#byText.delete(result.text);
    },
  });
  /** The keys of results that were requested once: what no one requests again is not stored. */
  readonly #seen = new LRUCache<string, true>({
    maxSize: MAX_STORED_CHARACTERS / 4,
    sizeCalculation: (_, { length }) => length,
  });
  readonly #divided = new WeakMap<OperationDefinitionNode, DividedDocument | null>();
  readonly #byData = new WeakMap<Data, StoredResult>();
  readonly #byText = new Map<string, StoredResult>();

  constructor(schema: GraphQLSchema, thread: DocumentThread) {
    this.#schema = schema;
    this.#thread = thread;
  }

  /**
   * Returns the result of a query; null if it does not read the schema, or its variables do not fit. Without data, the
   * errors are those that `DocumentThread.introspect` throws.
   */
  async run(query: SchemaQuery, context: PublicContext): Promise<ExecutionResult | null> {
    const { document, operation } = query;
    const divided = this.#divide(document, operation);
    if (!divided) return null;
    const variables = declaredValues(operation, query.variables);
    const key = this.#keyOf(query, divided, variables, context);
    const stored = key === undefined ? undefined : this.#stored.get(key);
    if (stored) return { data: stored.data };
    const result = await this.#execute(divided, { document, operation, variables }, context).catch(toFailure);
    if (key === undefined || !result?.data || result.errors) return result;
    if (!this.#seen.has(key)) {
      this.#seen.set(key, true);
      return result;
    }
    const kept: StoredResult = { data: result.data, isKept: true };
    this.#stored.set(key, kept);
    this.#byData.set(result.data, kept);
    return result;
  }

  /** Returns the key of a result that is the same for all callers who see the schema; undefined for others. */
  #keyOf(
    { document, operation }: SchemaQuery,
    { isPublic }: DividedDocument,
    variables: Data,
    { platform, viewer }: PublicContext,
  ): string | undefined {
    if (!isPublic || !(platform.config.PUBLIC_SCHEMA || viewer)) return undefined;
    const values = JSON.stringify(variables);
    if (values.length > MAX_VARIABLE_CHARACTERS) return undefined;
    return `${operation.name?.value ?? ''} ${values} ${document.loc!.source.body}`;
  }

  async #execute(
    { readsSchema, rest, keys, isPublic }: DividedDocument,
    { document, operation, variables }: SchemaQuery,
    context: PublicContext,
  ): Promise<ExecutionResult | null> {
    const operationName = operation.name?.value;
    const text = document.loc!.source.body;
    const parts = readsSchema
      ? await this.#thread.introspect({ text, variables, operationName }, context)
      : new Map<string, string>();
    if (!parts) return null;
    if (!rest) return { data: Object.fromEntries([...parts].map(([key, json]) => [key, new JsonText(json)])) };
    const found = await execute({
      schema: this.#schema,
      document: rest,
      contextValue: context,
      variableValues: variables,
      operationName,
    });
    const { data, errors } = found;
    if (!data) return data === null ? found : null;
    const values = isPublic ? await printInTurn(data, context) : data;
    const entries = keys.flatMap((key) => {
      const json = parts.get(key);
      if (json !== undefined) return [[key, new JsonText(json)] as const];
      return Object.hasOwn(values, key) ? [[key, values[key]] as const] : [];
    });
    return { data: Object.fromEntries(entries), ...(errors && { errors }) };
  }

  /** Prints a result, as Apollo does. */
  print(result: FormattedExecutionResult): string {
    const stored = result.data && !result.errors ? this.#byData.get(result.data) : undefined;
    if (stored?.text !== undefined) return stored.text;
    const text = printResult(result);
    if (stored?.isKept) {
      stored.text = text;
      this.#byText.set(text, stored);
    }
    return text;
  }

  /** Returns the content of a printed result that is stored. */
  find(text: string): SentOften | undefined {
    const stored = this.#byText.get(text);
    return stored && (stored.content ??= new SentOften(text));
  }

  #divide(document: DocumentNode, operation: OperationDefinitionNode): DividedDocument | null {
    let divided = this.#divided.get(operation);
    if (divided === undefined) {
      divided = divideDocument(this.#schema, document, operation);
      this.#divided.set(operation, divided);
    }
    return divided;
  }
}

/** The SDL, and its JSON. It is the same in all results, and printing half a million characters takes milliseconds. */
let printedSdl: { sdl: string; json: string } | undefined;

function printText(text: unknown): string {
  if (typeof text !== 'string' || text.length < MIN_SDL_CHARACTERS) return JSON.stringify(text);
  if (printedSdl?.sdl !== text) printedSdl = { sdl: text, json: JSON.stringify(text) };
  return printedSdl.json;
}

/** Prints a value of a result with the SDL: `_service`, whose fields are texts, or `__typename`. */
const printValue = (value: unknown): string =>
  typeof value === 'object' && value !== null
    ? `{${Object.entries(value)
        .map(([key, text]) => `"${key}":${printText(text)}`)
        .join(',')}}`
    : JSON.stringify(value);

/** Prints the values of a result with the SDL in a turn of the event loop of their own: they have half a million characters. */
async function printInTurn(data: Data, caller: PublicContext): Promise<Data> {
  const printed: Data = {};
  const print = () => {
    for (const [key, value] of Object.entries(data)) printed[key] = new JsonText(printValue(value));
  };
  await GATE.run(callerOfDocument(caller), caller.request.signal, () => runInTurn(print));
  return printed;
}

const toFailure = (error: Error): ExecutionResult => ({
  errors: [new GraphQLError(error.message, { originalError: error })],
});

function printResult(result: FormattedExecutionResult): string {
  const { data } = result;
  if (!data || !Object.values(data).some((value) => value instanceof JsonText)) return `${JSON.stringify(result)}\n`;
  const members = Object.entries(result).flatMap(([key, value]) =>
    value === undefined ? [] : [`"${key}":${key === 'data' ? printData(data) : JSON.stringify(value)}`],
  );
  return `{${members.join(',')}}\n`;
}

const printData = (data: Data): string =>
  `{${Object.entries(data)
    .map(([key, value]) => `"${key}":${value instanceof JsonText ? value.text : JSON.stringify(value)}`)
    .join(',')}}`;
