import type { ExecutionResult } from 'graphql';
import type { SqlRow, Statement } from './database.ts';
import { badInput, conflict, defineError } from './errors.ts';
import type { Transaction } from './platform.ts';

/** How long a key is kept, as an interval of SQL. */
export const KEY_RETENTION = '24 hours';

export const keyReused = defineError(
  422,
  'IDEMPOTENCY_KEY_REUSED',
  (what: string) => `${what} was used for another request`,
);
export const keyRuns = () =>
  conflict('A call with the same idempotency key is running', { headers: { 'retry-after': '1' } });
export const keyHasNoResponse = () => conflict('The call was processed before; its response was not kept');

const MAX_KEY_CHARACTERS = 255;

/** Returns the text of an idempotency key: a quoted string (RFC 8941), or printable ASCII as it is. Throws 400. */
export function parseIdempotencyKey(sent: unknown): string {
  const text = typeof sent === 'string' ? sent.trim() : '';
  const quoted = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/.exec(text)?.[1]?.replaceAll(/\\(["\\])/g, '$1');
  const key = quoted ?? (/^[!#-~][ -~]*$/.test(text) ? text : '');
  if (key !== '' && key.length <= MAX_KEY_CHARACTERS) return key;
  throw badInput(
    `An idempotency key is a quoted string or a text of 1 to ${MAX_KEY_CHARACTERS} printable ASCII characters`,
  );
}

/** The parts of a request that another request with the same key must share. */
export interface KeyedParts {
  method: string;
  /** Path of a route; `graphql` for both transports of GraphQL. */
  path: string;
  query: unknown;
  /** Parsed body. A file in it is an `IncomingFile`. */
  body: unknown;
}

/** A root field to run once. */
export interface KeyedField {
  /** Name of the mutation. */
  field: string;
  /** Key of its result in the data of the response. */
  path: string;
  /** Which of several documents of a route runs. A stored response of another one is not repeated. */
  form: string;
}

/** A request with an idempotency key. See docs/contract/apis.md#idempotency-keys. */
export interface KeyedRequest {
  /**
   * Runs a root field, or returns its stored data. Throws 409 while another request runs it, and 404 if the caller may no
   * longer read the stored result.
   */
  run(
    field: KeyedField,
    execute: () => ExecutionResult | Promise<ExecutionResult>,
  ): Promise<ExecutionResult & { isReplayed?: boolean }>;
}

/** Opens a request with its key. Throws 400 for a malformed key, and 422 for a key of another request. */
export type OpenKeyedRequest = (parts: KeyedParts) => Promise<KeyedRequest>;

/** Surrounds the transactions of a mutation with a key. */
export interface KeyedMutation {
  /** Runs a transaction with `run`, which takes its work, or returns what it returned to an earlier request with the key. */
  transaction<T>(
    run: (work: (tx: Transaction) => Promise<T>) => Promise<T>,
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T>;
  /** Notes the operation that the current transaction starts. */
  noteOperation(id: string): void;
}

const WRITES = /\b(?:insert\s+into|update\s+dws\.|delete\s+from|merge\s+into)/i;

/** Watches a transaction. Returns a function that returns whether the transaction has written rows. */
export function watchWrites(tx: Transaction): () => boolean {
  let hasWritten = false;
  const note = ({ text }: Statement) => {
    hasWritten ||= WRITES.test(text);
  };
  const { query } = tx;
  const [execute, writeUnrecorded] = [tx.execute.bind(tx), tx.writeUnrecorded.bind(tx)];
  tx.query = <R extends SqlRow>(statement: Statement) => {
    note(statement);
    return query<R>(statement);
  };
  tx.execute = (statement) => {
    note(statement);
    execute(statement);
  };
  tx.writeUnrecorded = (row, values) => {
    hasWritten = true;
    writeUnrecorded(row, values);
  };
  return () => hasWritten || tx.changes().length > 0;
}

/** Returns whether `JSON.parse(JSON.stringify(value))` is the value, so that a repetition can return it. */
export function isPlain(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (typeof value !== 'object')
    return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isPlain);
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && Object.values(value).every(isPlain);
}
