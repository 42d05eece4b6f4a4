import type { JobHistoryEntry } from '../../entities/job-run.ts';
import type { OperationFailure } from '../core/operations.ts';
import type { RunPlan } from '../services/job/job-run-plan.ts';

/** The tasks of a run that have ended. */
export interface RunTasks {
  history: JobHistoryEntry[];
  /** By the keys of the tasks. */
  logs: Record<string, string>;
  /** The first failure; null if every task succeeded. */
  failure: OperationFailure | null;
}

/**
 * Returns the tasks of a continued run that are not repeated: those before the task with the key `from`, without one all
 * that ended. A run that waited for an attempt keeps all before that task.
 */
export function keptTasks(
  { continued, run, paused }: RunPlan,
  tasks: readonly { key: string }[],
  from?: string,
): { done: RunTasks; next: number } {
  if (paused) {
    const next = tasks.findIndex(({ key }) => key === paused.key);
    return { next, done: { history: run.history, logs: run.logs, failure: paused.failure } };
  }
  const ended = new Set((continued?.history ?? []).map(({ task }) => task.key));
  const next = from
    ? Math.max(
        0,
        tasks.findIndex(({ key }) => key === from),
      )
    : tasks.findLastIndex(({ key }) => ended.has(key)) + 1;
  const kept = new Set(tasks.slice(0, next).map(({ key }) => key));
  const history = (continued?.history ?? []).filter(({ task }) => kept.has(task.key));
  const failed = history.find(({ result }) => !result.success);
  return {
    next,
    done: {
      history,
      logs: Object.fromEntries(Object.entries(continued?.logs ?? {}).filter(([key]) => kept.has(key))),
      failure: failed ? { statusCode: 500, code: 'UPSTREAM_FAILED', message: failed.result.error ?? '' } : null,
    },
  };
}
