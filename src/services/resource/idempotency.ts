import { hash } from 'node:crypto';
import type { ExecutionResult } from 'graphql';
import type { Context } from '../../core/context.ts';
import type { Query } from '../../core/database.ts';
import { newId } from '../../core/id.ts';
import {
  isPlain,
  keyHasNoResponse,
  keyReused,
  keyRuns,
  watchWrites,
  type KeyedField,
  type KeyedMutation,
  type KeyedParts,
  type KeyedRequest,
} from '../../core/idempotency.ts';
import type { RowChange, Transaction } from '../../core/platform.ts';
import { limitKeyOf } from '../../core/viewer.ts';
import { findCreatedId } from './audit.ts';
import { Fingerprint } from './idempotency-fingerprint.ts';
import {
  endKey,
  loadKeys,
  openKey,
  releaseKey,
  sealKey,
  storeKey,
  tryLockKey,
  type KeyOwner,
  type SealedKey,
  type StoredKey,
} from './idempotency-store.ts';

/** Longer responses, and longer results of transactions, are not stored. */
const MAX_STORED_BYTES = 64_000;
/** Times that a mutation is tried when another request has stored the key during the one before. */
const MAX_ATTEMPTS = 3;

/** Facts of a mutation from the schema. */
export interface FieldFacts {
  /** Name of the type of its result; null for a scalar. A resource of this type that it creates is what it returns. */
  resultType: string | null;
  /** Whether its effect is outside of its transactions: the key is stored before it runs. */
  reservesKey: boolean;
  /** Throws if the caller may not run the mutation. */
  check(ctx: Context): void;
  /** Throws NOT_FOUND if the caller may not read a resource. Does nothing for types without an access filter. */
  checkReadable(ctx: Context, type: string, id: string): Promise<void>;
}

type FactsOf = (field: string) => FieldFacts;

/** Returns the caller that a key belongs to. Apps have keys of their own, which their responses go to. */
const callerOf = ({ viewer, request }: Context): string =>
  viewer.authMethod === 'app'
    ? ['app', limitKeyOf(viewer), ...(request.authority?.limits ?? []).map(({ appId }) => appId)].join(' ')
    : limitKeyOf(viewer);

/** Opens a request with its key. Throws `IDEMPOTENCY_KEY_REUSED` for a key of another request. */
export async function openKeyedRequest(
  ctx: Context,
  key: string,
  parts: KeyedParts,
  factsOf: FactsOf,
): Promise<KeyedRequest> {
  const { tenantId, userId } = ctx.viewer;
  const owner = { tenantId, userId, key: hash('sha256', `${callerOf(ctx)}\n${key}`) };
  const fingerprint = new Fingerprint(parts);
  const keys = await loadKeys(ctx.query, owner);
  // The fingerprint of a file is known later.
  if (!fingerprint.hasFile) await checkFingerprint(keys, fingerprint);
  return new RunsOnce(ctx, owner, fingerprint, keys, factsOf);
}

async function checkFingerprint(keys: readonly StoredKey[], fingerprint: Fingerprint): Promise<void> {
  const [first] = keys;
  if (first && first.fingerprint !== (await fingerprint.digest())) throw keyReused('The idempotency key');
}

function isPermitted(facts: FieldFacts, ctx: Context): boolean {
  try {
    facts.check(ctx);
    return true;
  } catch {
    return false;
  }
}

class RunsOnce implements KeyedRequest {
  readonly #ctx: Context;
  readonly #owner: KeyOwner;
  readonly #fingerprint: Fingerprint;
  readonly #factsOf: FactsOf;
  #keys: StoredKey[];

  constructor(ctx: Context, owner: KeyOwner, fingerprint: Fingerprint, keys: StoredKey[], factsOf: FactsOf) {
    this.#ctx = ctx;
    this.#owner = owner;
    this.#fingerprint = fingerprint;
    this.#keys = keys;
    this.#factsOf = factsOf;
  }

  async run(
    field: KeyedField,
    execute: () => ExecutionResult | Promise<ExecutionResult>,
  ): Promise<ExecutionResult & { isReplayed?: boolean }> {
    const facts = this.#factsOf(field.field);
    // The mutation refuses the caller, and is recorded as denied.
    if (!isPermitted(facts, this.#ctx)) return execute();
    for (let attempts = 1; ; attempts++) {
      const key = this.#keys.find(({ path }) => path === field.path);
      const content = key && openKey(this.#ctx.platform.secrets, key.sealed);
      if (key && content?.data !== undefined && content.form === field.form)
        return { data: { [field.path]: await this.#repeat(key, content.data, facts) }, isReplayed: true };
      if (key && !key.isSettled && !key.operationId) throw keyRuns();
      if (content?.isUnrepeatable) throw keyHasNoResponse();
      const mutation = new RunningMutation(this.#ctx, this.#owner, this.#fingerprint, field, facts, key, content);
      const result = await mutation.run(execute);
      if (!mutation.hasLostRace)
        return key && result.data?.[field.path] != null ? { ...result, isReplayed: true } : result;
      // A file can be read once.
      if (this.#fingerprint.hasFile || attempts === MAX_ATTEMPTS) throw keyRuns();
      this.#keys = await loadKeys(this.#ctx.query, this.#owner);
      await checkFingerprint(this.#keys, this.#fingerprint);
    }
  }

  /** Returns the stored data. Throws NOT_FOUND if the caller may no longer read what it is about. */
  async #repeat(key: StoredKey, data: unknown, facts: FieldFacts): Promise<unknown> {
    await checkFingerprint([key], this.#fingerprint);
    if (key.thingId !== null && key.thingType !== null)
      await facts.checkReadable(this.#ctx, key.thingType, key.thingId);
    return data;
  }
}

/**
 * A mutation that runs under a key: for the first time, or again after its response was lost or not kept. Then the
 * transactions return what they have returned, and only the response is read.
 */
class RunningMutation implements KeyedMutation {
  readonly #ctx: Context;
  readonly #owner: KeyOwner;
  readonly #fingerprint: Fingerprint;
  readonly #field: KeyedField;
  readonly #facts: FieldFacts;
  /** The key of the request that runs again. */
  readonly #former: StoredKey | undefined;
  readonly #content: SealedKey;
  readonly #runId = newId();
  /** Number of transactions so far. */
  #count = 0;
  #operationId: string | null = null;
  #thing: Pick<StoredKey, 'thingId' | 'thingType'> = { thingId: null, thingType: null };
  /** The key that was committed. */
  #stored: StoredKey | undefined;
  /** Whether another request has stored the key since this one began. */
  hasLostRace = false;

  constructor(
    ctx: Context,
    owner: KeyOwner,
    fingerprint: Fingerprint,
    field: KeyedField,
    facts: FieldFacts,
    former: StoredKey | undefined,
    content: SealedKey | undefined,
  ) {
    this.#ctx = ctx;
    this.#owner = owner;
    this.#fingerprint = fingerprint;
    this.#field = field;
    this.#facts = facts;
    this.#former = former;
    this.#stored = former;
    this.#content = content ?? { results: {} };
    if (!former) return;
    this.#operationId = former.operationId;
    this.#thing = { thingId: former.thingId, thingType: former.thingType };
  }

  get #query(): Query {
    const { platform, viewer } = this.#ctx;
    return (statement) => platform.database.query(viewer.tenantId, statement);
  }

  async run(execute: () => ExecutionResult | Promise<ExecutionResult>): Promise<ExecutionResult> {
    const { request } = this.#ctx;
    request.keyed = this;
    try {
      if (this.#facts.reservesKey) await this.#reserve();
      const result = this.hasLostRace ? {} : await execute();
      if (!this.hasLostRace) await this.#end(result);
      return result;
    } finally {
      request.keyed = undefined;
    }
  }

  /** Stores the key of a mutation whose effect is outside of its transactions. */
  async #reserve(): Promise<void> {
    this.#content.isUnrepeatable = true;
    const key = await this.#createKey();
    const [stored] = await this.#query(storeKey(this.#owner, key));
    if (stored) this.#stored = key;
    else this.hasLostRace = true;
  }

  noteOperation(id: string): void {
    this.#operationId = id;
  }

  async transaction<T>(
    run: (work: (tx: Transaction) => Promise<T>) => Promise<T>,
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T> {
    const index = this.#count++;
    const former = this.#content.results[index];
    if (former === null) throw keyHasNoResponse();
    if (former) {
      await checkFingerprint([this.#former!], this.#fingerprint);
      const { mutation } = this.#ctx.request;
      if (mutation) mutation.recorded = true;
      return former.value as T;
    }
    let written: StoredKey | undefined;
    const runWithKey = async (tx: Transaction): Promise<T> => {
      const hasWritten = watchWrites(tx);
      await this.#claim(tx);
      const value = await work(tx);
      this.#noteThing(tx.changes());
      if (hasWritten()) {
        const isKept = isPlain(value) && JSON.stringify(value ?? null).length <= MAX_STORED_BYTES;
        this.#content.results[index] = isKept ? { value } : null;
        written = await this.#createKey();
        tx.execute(storeKey(this.#owner, written));
      }
      return value;
    };
    try {
      const result = await run(runWithKey);
      this.#stored = written ?? this.#stored;
      return result;
    } catch (error) {
      delete this.#content.results[index];
      throw error;
    }
  }

  /** Locks the key. Throws 409 if another request has it. */
  async #claim(tx: Transaction): Promise<void> {
    const [isFree, keys] = await Promise.all([tryLockKey(tx.query, this.#owner), loadKeys(tx.query, this.#owner)]);
    if (!isFree) throw keyRuns();
    const runId = this.#stored?.runId;
    const other = keys.find(({ path }) => path === this.#field.path);
    if (other && other.runId !== runId) {
      this.hasLostRace = true;
      throw keyRuns();
    }
    if (keys.length > 0) await checkFingerprint(keys, this.#fingerprint);
  }

  /** Returns the key to store. */
  async #createKey(): Promise<StoredKey> {
    return {
      path: this.#field.path,
      fingerprint: await this.#fingerprint.digest(),
      runId: this.#former?.runId ?? this.#runId,
      operationId: this.#operationId,
      ...this.#thing,
      sealed: sealKey(this.#ctx.platform.secrets, this.#content),
      isEnded: false,
      isSettled: false,
    };
  }

  /** Notes the resource that a repetition must be allowed to read: the new one that is returned, else the one concerned. */
  #noteThing(changes: readonly RowChange[]): void {
    const { resultType } = this.#facts;
    const { mutation } = this.#ctx.request;
    // A scalar has nothing that the request did not have.
    if (resultType === null || !mutation) return;
    const created = changes.find(({ type, row }) => type === 'create' && row.constructor.name === resultType);
    const thingId = created?.row.id ?? mutation.resourceId ?? findCreatedId(mutation, changes);
    if (thingId) this.#thing = { thingId, thingType: created ? resultType : mutation.kind };
  }

  /** Stores the response, or releases the key of a mutation that has failed. A failure to do so is logged. */
  async #end({ data, errors = [] }: ExecutionResult): Promise<void> {
    const { platform, request } = this.#ctx;
    const { path, form } = this.#field;
    const ownErrors = errors.filter((error) => !error.path || error.path[0] === path);
    const hasFailed = ownErrors.some((error) => !error.path || error.path.length === 1);
    if (hasFailed && !this.#stored) return;
    try {
      if (hasFailed) {
        // The operation of a caller who has left goes on.
        const isOwn = !this.#former && !request.signal.aborted;
        await releaseKey(this.#query, this.#owner, this.#stored!, isOwn);
        return;
      }
      const content = { ...this.#content, form, data: data?.[path] ?? null };
      const isKept = ownErrors.length === 0 && !this.#ctx.sendFile;
      const isShort = isKept && Buffer.byteLength(JSON.stringify(content)) <= MAX_STORED_BYTES;
      const sealed = isShort ? sealKey(platform.secrets, content) : null;
      if (!this.#stored || this.#facts.reservesKey) {
        // No transaction has stored the key.
        this.#content.isUnrepeatable = true;
        const key = await this.#createKey();
        await this.#query(storeKey(this.#owner, { ...key, sealed: sealed ?? key.sealed, isEnded: true }));
      } else await endKey(this.#query, this.#owner, this.#stored, sealed);
    } catch (error) {
      platform.log.error({ err: error, requestId: request.id }, 'Could not store the response of an idempotency key');
    }
  }
}
