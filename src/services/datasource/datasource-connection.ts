import { ConcurrencyGate } from '../../core/concurrency-gate.ts';
import type { Context } from '../../core/context.ts';
import { cancelled, ApiError, upstreamFailed } from '../../core/errors.ts';
import type { Transaction } from '../../core/platform.ts';
import type { SourceConnection } from '../../core/row-source.ts';
import { driverOf } from './datasource-config.ts';

/** Where a datasource is and how it is opened; its secrets still sealed. */
export interface SealedSource extends Record<string, unknown> {
  type: string;
  config: Record<string, unknown>;
  secrets: string | null;
  /** The uploaded file that it is; null for servers. */
  fileId: string | null;
}

/** Reads what opens a datasource. Rights are checked before. */
export async function readSource(tx: Pick<Transaction, 'query'>, tenantId: string, id: string): Promise<SealedSource> {
  const [source] = await tx.query<SealedSource>({
    text: `select type, config, secrets, file_id as "fileId" from dws.datasource where tenant_id = $1 and id = $2`,
    values: [tenantId, id],
  });
  return source!;
}

/** A caller who asks many sources at once waits in turn: every piece of work is a connection to somebody's database. */
const BRIEF = new ConcurrencyGate(16, 200, 'Too many queries wait for their sources');
/** What may take an hour does not keep the others waiting. */
const LONG = new ConcurrencyGate(8, 100, 'Too many runs wait for their sources');

interface Limits {
  /** Milliseconds; `QUERY_TIMEOUT_MS` by default. */
  longest?: number;
  /** A further reason to stop. */
  signal?: AbortSignal;
}

/**
 * Opens a source for one interactive piece of work. It is given up when it takes too long and when the client hangs up, down to the statement in the
 * source. An unreachable source is `upstreamFailed`.
 */
export async function withSource<T>(
  { platform, request }: Context,
  source: SealedSource,
  work: (connection: SourceConnection, signal: AbortSignal) => Promise<T>,
  limits: Limits = {},
): Promise<T> {
  const { longest = platform.config.QUERY_TIMEOUT_MS, signal } = limits;
  const late = AbortSignal.timeout(longest);
  const connection = driverOf(platform, source.type).connect(
    source.config,
    openedSecrets(platform, source.secrets),
    pathOf(platform, source),
  );
  const stop = AbortSignal.any([request.signal, late, ...(signal ? [signal] : [])]);
  try {
    return await (limits.longest === undefined ? BRIEF : LONG).run(stop, () => work(connection, stop));
  } catch (error) {
    if (request.signal.aborted) throw cancelled(undefined, { cause: error });
    if (late.aborted && !signal?.aborted) throw upstreamFailed(`query timeout after ${longest} ms`, { cause: error });
    throw error;
  } finally {
    await connection.close();
  }
}

/**
 * What a source, or a dataset's flow on its columns, refuses while the dataset runs is a failure of the run and not of the request: 500 with its words
 * (specification, "Errors"; contract 4, `UPSTREAM_FAILED`). What is wrong with a request is found before.
 */
export const runFailure = (error: unknown): unknown =>
  error instanceof ApiError && error.status === 400 ? upstreamFailed(error.message, { cause: error }) : error;

/** Where the file of a source lies; null for servers. */
export const pathOf = ({ files }: Context['platform'], { fileId }: Pick<SealedSource, 'fileId'>): string | null =>
  fileId ? files.path(fileId) : null;

const openedSecrets = ({ secrets }: Context['platform'], sealed: string | null): Record<string, string> =>
  sealed ? (JSON.parse(secrets.open(sealed)) as Record<string, string>) : {};
