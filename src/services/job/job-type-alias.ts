import { invalid } from '../../core/input-checks.ts';

/** Other names of types of actions. */
const ACTION_ALIASES: Readonly<Record<string, string>> = { 'library-sync': 'sync-library', 'api-call': 'webhook' };
/** Types of jobs that stand for a job with one action of this type. */
const SINGLE_ACTIONS: ReadonlySet<string> = new Set(['email', 'library-sync', 'api-call', 'snapshot-cleanup']);

/** Throws BAD_USER_INPUT for a type that has no counterpart. */
function checkCounterpart(type: string): void {
  if (type === 'index-files') throw invalid('type', 'must not be index-files: use sync-library');
}

/** Returns the type of an action by its name or another name of it. */
export function actionTypeOf(type: string): string {
  checkCounterpart(type);
  return ACTION_ALIASES[type] ?? type;
}

/** Returns the type of the only action of a job, if the type of the job stands for one; otherwise undefined. */
export function singleActionOf(jobType: string): string | undefined {
  checkCounterpart(jobType);
  return SINGLE_ACTIONS.has(jobType) ? actionTypeOf(jobType) : undefined;
}
