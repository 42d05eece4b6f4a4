const NETWORK = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH']);

/** Whether an error says that Postgres is away (restarting, shut down, unreachable), as opposed to a complaint about a statement. */
export function isConnectionLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = String((error as { code?: unknown }).code ?? '');
  return (
    NETWORK.has(code) ||
    /^(08|57P0[1-3])/.test(code) ||
    /Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed|the database system is/.test(
      error.message,
    )
  );
}
