import { ApiError, cancelled, timedOut } from '../core/errors.ts';
import type { OperationFailure } from '../core/operations.ts';
import type { Platform } from '../core/platform.ts';
import { withTimeout } from '../core/with-timeout.ts';
import { runLoop } from '../services/agent/agent-loop.ts';
import { endAgentRun, type EndedAgentRun } from '../services/agent/agent-run-end.ts';
import { beginAgentRun, type BegunRun } from '../services/agent/agent-run-state.ts';
import { failureOf, type Claim } from '../services/operation/operation-repository.ts';
import type { Handler, RunningClaim } from './handler.ts';

/** Maximum duration of a run. */
const MAX_DURATION_MS = 10 * 60_000;

const runOf = ({ tenantId, input: { agentRunId } }: Claim<'agent.run'>): EndedAgentRun => ({ tenantId, agentRunId });

/** Runs an agent with the rights of its owner. A run whose worker dies is recorded as failed, and is not repeated. */
export const agentRun = (maxDurationMs = MAX_DURATION_MS): Handler<'agent.run'> => ({
  takeover: false,
  async run(work, platform) {
    const run = runOf(work);
    const begun = await beginAgentRun(platform, run.tenantId, run.agentRunId, work.workId);
    if (!begun) throw cancelled();
    const { output, failure } = await execute(platform, work, begun, maxDurationMs);
    return {
      ...(failure && { failure }),
      async publish(tx) {
        await endAgentRun(tx, run, {
          status: failure ? 'failed' : 'succeeded',
          error: failure?.message ?? null,
          output,
        });
        return { agentRunId: run.agentRunId };
      },
    };
  },
  async onFailure(claim, { message }, tx) {
    await endAgentRun(tx, runOf(claim), { status: 'failed', error: message });
  },
});

/**
 * Returns the output of a run, or the reason of its failure. Throws the reason for which the attempt ends: a
 * cancellation, or the end of the worker.
 */
async function execute(
  platform: Platform,
  { input: { ownerId }, signal, progress }: RunningClaim<'agent.run'>,
  run: BegunRun,
  maxDurationMs: number,
): Promise<{ output: string | null; failure?: OperationFailure }> {
  const late = () => timedOut(`The run took longer than ${maxDurationMs / 60_000} minutes`);
  try {
    const output = await withTimeout(maxDurationMs, late, [signal], (limited) =>
      runLoop({ platform, run, ownerId, signal: limited, progress: (current) => progress({ current }) }),
    );
    return { output };
  } catch (error) {
    if (signal.aborted || !(error instanceof ApiError) || error.code === 'CANCELLED') throw error;
    return { output: null, failure: failureOf(error) };
  }
}
