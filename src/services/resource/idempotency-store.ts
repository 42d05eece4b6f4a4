import type { Query, Statement } from '../../core/database.ts';
import { KEY_RETENTION } from '../../core/idempotency.ts';
import type { SecretBox } from '../../core/platform.ts';

/** Results of transactions, by their numbers in the mutation. Null for one that cannot be stored. */
export type StoredResults = Record<number, { value?: unknown } | null>;

/** The sealed part of a key. */
export interface SealedKey {
  results: StoredResults;
  /** The document of the response, and the data of the mutation in it. Absent while it runs, and for a long response. */
  form?: string;
  data?: unknown;
  /** Whether the effect is not one of a transaction, so that a repetition cannot read the response anew. */
  isUnrepeatable?: boolean;
}

/** A stored key of one mutation. */
export interface StoredKey extends Record<string, unknown> {
  path: string;
  fingerprint: string;
  /** Id of the request that has stored it. */
  runId: string;
  operationId: string | null;
  /** The resource that a repetition must be allowed to read, and its type; null without one. */
  thingId: string | null;
  thingType: string | null;
  sealed: Buffer;
  /** Whether its request has ended. */
  isEnded: boolean;
  /** Whether its request has ended, or was killed: it takes longer than a request between its commit and its end. */
  isSettled: boolean;
}

/** A request that has not ended so long after its commit was killed. */
const MAX_RUN = '1 minute';

/** Identifies the keys of a request: a digest of caller and key. */
export interface KeyOwner {
  tenantId: string;
  userId: string;
  key: string;
}

const OF_OWNER = 'tenant_id = $1 and user_id = $2 and key = $3';
const IS_FRESH = `created_at > now() - interval '${KEY_RETENTION}'`;
const valuesOf = ({ tenantId, userId, key }: KeyOwner) => [tenantId, userId, key];

/** Loads all mutations of a key. */
export const loadKeys = (query: Query, owner: KeyOwner): Promise<StoredKey[]> =>
  query<StoredKey>({
    text: `
      select path, fingerprint, run_id as "runId", operation_id as "operationId", thing_id as "thingId",
        thing_type as "thingType", sealed, ended as "isEnded",
        ended or created_at < now() - interval '${MAX_RUN}' as "isSettled"
      from dws.idempotency_key
      where ${OF_OWNER} and ${IS_FRESH}`,
    values: valuesOf(owner),
  });

/** Locks a key until the end of the transaction. Returns false if another transaction has it: nothing waits for it. */
export async function tryLockKey(query: Query, { userId, key }: KeyOwner): Promise<boolean> {
  const [lock] = await query<{ isFree: boolean }>({
    text: `select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as "isFree"`,
    values: [`idempotency ${userId} ${key}`],
  });
  return lock!.isFree;
}

/**
 * Stores a mutation of a key, or replaces what its own request has stored. An expired one is replaced, too. Returns a row,
 * unless another request has the key.
 */
export function storeKey(
  owner: KeyOwner,
  { path, fingerprint, runId, operationId, thingId, thingType, sealed, isEnded }: Omit<StoredKey, 'isSettled'>,
): Statement {
  return {
    text: `
      insert into dws.idempotency_key as k
        (tenant_id, user_id, key, path, fingerprint, run_id, operation_id, thing_id, thing_type, sealed, ended)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
      on conflict (user_id, key, path) do update set
        fingerprint = excluded.fingerprint, run_id = excluded.run_id, operation_id = excluded.operation_id,
        thing_id = excluded.thing_id, thing_type = excluded.thing_type, sealed = excluded.sealed, ended = excluded.ended,
        created_at = excluded.created_at
      where k.run_id = excluded.run_id or k.created_at <= now() - interval '${KEY_RETENTION}'
      returning path`,
    values: [...valuesOf(owner), path, fingerprint, runId, operationId, thingId, thingType, sealed, isEnded],
  };
}

/** Notes that a mutation has ended, and its response. While its operation runs, a repetition reads the response anew. */
export async function endKey(
  query: Query,
  owner: KeyOwner,
  { path, runId }: StoredKey,
  sealed: Buffer | null,
): Promise<void> {
  await query({
    text: `
      update dws.idempotency_key k
      set ended = true,
        sealed = case
          when $6::bytea is null or exists (
            select from dws.operation o where o.id = k.operation_id and o.finished_at is null
          ) then k.sealed
          else $6
        end
      where ${OF_OWNER} and path = $4 and run_id = $5`,
    values: [...valuesOf(owner), path, runId, sealed],
  });
}

/** Deletes a mutation that has failed. One that has started an operation stays, unless the operation has failed. */
export async function releaseKey(
  query: Query,
  owner: KeyOwner,
  { path, runId }: StoredKey,
  isOwn: boolean,
): Promise<void> {
  await query({
    text: `
      delete from dws.idempotency_key k
      where ${OF_OWNER} and path = $4 and run_id = $5 and (
        $6 and operation_id is null or exists (
          select from dws.operation o where o.id = k.operation_id and o.status in ('failed', 'cancelled')
        )
      )`,
    values: [...valuesOf(owner), path, runId, isOwn],
  });
}

export const sealKey = (secrets: SecretBox, content: SealedKey): Buffer =>
  secrets.sealBytes(Buffer.from(JSON.stringify(content)));

export const openKey = (secrets: SecretBox, sealed: Buffer): SealedKey =>
  JSON.parse(secrets.openBytes(sealed, 'the response of the first call').toString()) as SealedKey;
