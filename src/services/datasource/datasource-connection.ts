import type { Context } from '../../core/context.ts';
import { ApiError, cancelled, unavailable, upstreamFailed } from '../../core/errors.ts';
import { FairGate } from '../../core/fair-gate.ts';
import type { Platform, Transaction } from '../../core/platform.ts';
import type { SourceConnection } from '../../core/row-source.ts';
import { withTimeout } from '../../core/with-timeout.ts';
import { driverOf } from './datasource-config.ts';

/** Data required to open a datasource. The secrets are still encrypted. */
export interface SealedSource extends Record<string, unknown> {
  name: string;
  type: string;
  config: Record<string, unknown>;
  secrets: string | null;
  /** Id of the uploaded file. Null for a database server. */
  fileId: string | null;
}

/** Loads the data required to open a datasource. The caller has checked permissions before. */
export async function loadSource(tx: Pick<Transaction, 'query'>, tenantId: string, id: string): Promise<SealedSource> {
  const [source] = await tx.query<SealedSource>({
    text: `
      select name, type, config, secrets, file_id as "fileId"
      from dws.datasource
      where tenant_id = $1 and id = $2`,
    values: [tenantId, id],
  });
  return source!;
}

/** The concurrent interactive connections to customers' databases. */
const SERVER_GATE = FairGate.shared({ places: 16, maxWaiting: 200, taskNoun: 'queries of datasources' });
/** The concurrent interactive queries of uploaded files, each a process that may use a gigabyte. */
const FILE_GATE = FairGate.shared({ places: 3, maxWaiting: 100, taskNoun: 'queries of uploaded files' });
/** Runs with a timeout of their own, which can take an hour and must not block interactive queries. */
const LONG_RUN_GATE = FairGate.shared({ places: 8, maxWaiting: 100, taskNoun: 'runs' });

interface SourceLimits {
  /** Timeout. Default: `QUERY_TIMEOUT_MS`. */
  timeoutMs?: number;
  /** Additional signal that aborts the work. */
  signal?: AbortSignal;
}

/**
 * Opens a source, runs `work` on the connection and closes it. Aborts the work, including the statement in the source,
 * on timeout or when the client disconnects. Throws UPSTREAM_FAILED on timeout or if the source is unreachable, and
 * UNAVAILABLE if no place was free in time.
 */
export async function withSource<T>(
  { platform, request, viewer }: Context,
  source: SealedSource,
  work: (connection: SourceConnection, signal: AbortSignal) => Promise<T>,
  limits: SourceLimits = {},
): Promise<T> {
  const { timeoutMs = platform.config.QUERY_TIMEOUT_MS, signal } = limits;
  const { config, secrets, file } = await openSource(platform, viewer.tenantId, source);
  const connection = driverOf(platform, source.type).connect(config, secrets, file);
  let hasStarted = false;
  const timeoutError = () =>
    hasStarted ? upstreamFailed(`query timeout after ${timeoutMs} ms`) : notStarted('query', timeoutMs);
  try {
    return await withTimeout(timeoutMs, timeoutError, [request.signal, ...(signal ? [signal] : [])], (stop) =>
      gateOf(source, limits).run(viewer, stop, () => {
        hasStarted = true;
        return work(connection, stop);
      }),
    );
  } catch (error) {
    if (request.signal.aborted) throw cancelled(undefined, { cause: error });
    throw error;
  } finally {
    await connection.close();
  }
}

/** Returns the error of work that found no place in time. */
export const notStarted = (what: string, timeoutMs: number): Error =>
  unavailable(`Other work occupied the service for ${timeoutMs} ms, so the ${what} did not start`, {
    headers: { 'retry-after': '10' },
  });

function gateOf({ fileId }: SealedSource, { timeoutMs }: SourceLimits): FairGate {
  if (timeoutMs !== undefined) return LONG_RUN_GATE;
  return fileId === null ? SERVER_GATE : FILE_GATE;
}

/**
 * Converts BAD_USER_INPUT from a source, or from a dataset's flow, during a run into UPSTREAM_FAILED: the run failed,
 * not the request (docs/contract/apis.md#errors). Returns other errors as they are.
 */
export const toRunError = (error: unknown): unknown =>
  error instanceof ApiError && error.status === 400 ? upstreamFailed(error.message, { cause: error }) : error;

/** Returns what the driver of a source takes to connect. Throws what `locate` of the driver throws. */
export async function openSource(
  platform: Pick<Platform, 'drivers' | 'files' | 'secrets'>,
  tenantId: string,
  source: SealedSource,
): Promise<{ config: Record<string, unknown>; secrets: Record<string, string>; file: string | null }> {
  const located = await driverOf(platform, source.type).locate?.(source.config, tenantId);
  return {
    config: located?.config ?? source.config,
    secrets: located?.secrets ?? openSecrets(platform, source),
    file: sourceFilePath(platform, source),
  };
}

/** Returns the path of a source's file. Null for a database server. */
const sourceFilePath = ({ files }: Pick<Platform, 'files'>, { fileId }: Pick<SealedSource, 'fileId'>): string | null =>
  fileId ? files.path(fileId) : null;

const openSecrets = (
  { secrets }: Pick<Platform, 'secrets'>,
  { name, secrets: sealed }: SealedSource,
): Record<string, string> =>
  sealed ? (JSON.parse(secrets.open(sealed, `the secrets of datasource "${name}"`)) as Record<string, string>) : {};
