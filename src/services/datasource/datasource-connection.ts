import { ConcurrencyGate } from '../../core/concurrency-gate.ts';
import type { Context } from '../../core/context.ts';
import { cancelled, ApiError, upstreamFailed } from '../../core/errors.ts';
import type { Transaction } from '../../core/platform.ts';
import type { SourceConnection } from '../../core/row-source.ts';
import { driverOf } from './datasource-config.ts';

/** What is required to open a datasource. The secrets are still encrypted. */
export interface SealedSource extends Record<string, unknown> {
  type: string;
  config: Record<string, unknown>;
  secrets: string | null;
  /** Id of the uploaded file. Null for a database server. */
  fileId: string | null;
}

/** Loads what is required to open a datasource. The caller has checked permissions before. */
export async function loadSource(tx: Pick<Transaction, 'query'>, tenantId: string, id: string): Promise<SealedSource> {
  const [source] = await tx.query<SealedSource>({
    text: `
      select type, config, secrets, file_id as "fileId"
      from dws.datasource
      where tenant_id = $1 and id = $2`,
    values: [tenantId, id],
  });
  return source!;
}

/** Limits the number of concurrent interactive connections to customers' databases. */
const INTERACTIVE_GATE = new ConcurrencyGate(16, 200, 'Too many queries are waiting for their datasources');
/** Limits runs with a timeout of their own separately: they can take an hour and must not block interactive queries. */
const LONG_RUN_GATE = new ConcurrencyGate(8, 100, 'Too many runs are waiting for their datasources');

interface SourceLimits {
  /** Timeout. Default: `QUERY_TIMEOUT_MS`. */
  timeoutMs?: number;
  /** Additional signal that aborts the work. */
  signal?: AbortSignal;
}

/**
 * Opens a source, runs `work` on the connection and closes it. Aborts the work, including the statement in the source,
 * on timeout or when the client disconnects. Throws UPSTREAM_FAILED on timeout or if the source is unreachable.
 */
export async function withSource<T>(
  { platform, request }: Context,
  source: SealedSource,
  work: (connection: SourceConnection, signal: AbortSignal) => Promise<T>,
  limits: SourceLimits = {},
): Promise<T> {
  const { timeoutMs = platform.config.QUERY_TIMEOUT_MS, signal } = limits;
  const timeout = AbortSignal.timeout(timeoutMs);
  const connection = driverOf(platform, source.type).connect(
    source.config,
    openSecrets(platform, source.secrets),
    sourceFilePath(platform, source),
  );
  const stop = AbortSignal.any([request.signal, timeout, ...(signal ? [signal] : [])]);
  const gate = limits.timeoutMs === undefined ? INTERACTIVE_GATE : LONG_RUN_GATE;
  try {
    return await gate.run(stop, () => work(connection, stop));
  } catch (error) {
    if (request.signal.aborted) throw cancelled(undefined, { cause: error });
    if (timeout.aborted && !signal?.aborted) {
      throw upstreamFailed(`query timeout after ${timeoutMs} ms`, { cause: error });
    }
    throw error;
  } finally {
    await connection.close();
  }
}

/**
 * Converts BAD_USER_INPUT from a source, or from a dataset's flow, during a run into UPSTREAM_FAILED: the run failed,
 * not the request (docs/contract.md#errors). Returns other errors as they are.
 */
export const toRunError = (error: unknown): unknown =>
  error instanceof ApiError && error.status === 400 ? upstreamFailed(error.message, { cause: error }) : error;

/** Returns the path of a source's file. Null for a database server. */
export const sourceFilePath = (
  { files }: Context['platform'],
  { fileId }: Pick<SealedSource, 'fileId'>,
): string | null => (fileId ? files.path(fileId) : null);

const openSecrets = ({ secrets }: Context['platform'], sealed: string | null): Record<string, string> =>
  sealed ? (JSON.parse(secrets.open(sealed)) as Record<string, string>) : {};
