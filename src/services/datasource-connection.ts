import type { Context } from '../core/context.ts';
import { cancelled, upstreamFailed } from '../core/errors.ts';
import type { Transaction } from '../core/platform.ts';
import type { SourceConnection } from '../core/row-source.ts';
import { driverOf } from './datasource-config.ts';

/** Where a datasource is and how it is opened; its secrets still sealed. */
export interface SealedSource extends Record<string, unknown> {
  type: string;
  config: Record<string, unknown>;
  secrets: string | null;
}

/** Reads what opens a datasource. Rights are checked before. */
export async function readSource(tx: Pick<Transaction, 'query'>, tenantId: string, id: string): Promise<SealedSource> {
  const [source] = await tx.query<SealedSource>({ text: `select type, config, secrets from dws.datasource where tenant_id = $1 and id = $2`, values: [tenantId, id] });
  return source!;
}

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
export async function withSource<T>({ platform, request }: Context, source: SealedSource, work: (connection: SourceConnection, signal: AbortSignal) => Promise<T>, limits: Limits = {}): Promise<T> {
  const { longest = platform.config.QUERY_TIMEOUT_MS, signal } = limits;
  const late = AbortSignal.timeout(longest);
  const connection = driverOf(platform, source.type).connect(source.config, openedSecrets(platform, source.secrets));
  try {
    return await work(connection, AbortSignal.any([request.signal, late, ...(signal ? [signal] : [])]));
  } catch (error) {
    if (request.signal.aborted) throw cancelled(undefined, { cause: error });
    if (late.aborted && !signal?.aborted) throw upstreamFailed(`query timeout after ${longest} ms`, { cause: error });
    throw error;
  } finally {
    await connection.close();
  }
}

const openedSecrets = ({ secrets }: Context['platform'], sealed: string | null): Record<string, string> => (sealed ? JSON.parse(secrets.open(sealed)) as Record<string, string> : {});
