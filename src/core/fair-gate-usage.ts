import { precedes, type Occupancy } from './turns.ts';

/* The usage of a gate: a tree of tenants, callers and visitors, with the tasks that wait. */

/** The tasks of a visitor, of all visitors of a caller, of all callers of a tenant, or of all tenants. */
export interface Usage extends Occupancy {
  /** Key in the usage that it is a part of, and in the last turns. */
  readonly id: string;
  readonly max: number;
  waiting: number;
  /** Mean duration of tasks of this visitor. The durations of others would show what they do. */
  meanDuration: number;
  readonly parts: Map<string, Usage>;
  /** Waiting tasks of a visitor, in the order of their arrival. */
  readonly queue: WaitingTask[];
}

/** The usage of all tenants, of a tenant, of a caller and of a visitor. */
export type Path = readonly Usage[];

/** A task that waits for a place. */
export interface WaitingTask {
  start(): void;
  refuse(error: Error): void;
}

/** Returns the usage of the visitor of a path. */
export const visitorOf = (path: Path): Usage => path.at(-1)!;
/** Returns the usage of the caller of a path. */
export const callerOf = (path: Path): Usage => path.at(-2)!;

/** Returns the path from a usage to the visitor whose task starts next. */
export function nextOf(usage: Usage): Path | undefined {
  if (usage.waiting === 0 || usage.running >= usage.max) return undefined;
  if (usage.queue.length > 0) return [usage];
  let next: Path | undefined;
  for (const part of usage.parts.values()) if (!next || precedes(part, next[0]!)) next = nextOf(part) ?? next;
  return next && [usage, ...next];
}

/** Removes a task from the queue of its visitor. */
export function remove(path: Path, task: WaitingTask): void {
  const { queue } = visitorOf(path);
  queue.splice(queue.indexOf(task), 1);
  count('waiting', -1, path);
}

/** Counts a task more or less in each part of a path. */
export function count(what: 'running' | 'waiting', change: 1 | -1, path: Path): void {
  for (const usage of path) usage[what] += change;
}

/** Forgets the parts of a path that have no tasks. */
export function forgetIdle(path: Path): void {
  path.slice(1).forEach((part, i) => {
    const { parts } = path[i]!;
    if (part.running + part.waiting === 0 && parts.get(part.id) === part) parts.delete(part.id);
  });
}

/** Returns the part with the most waiting tasks; in a tie the preferred one. */
export function mostWaiting({ parts }: Usage, preferred: Usage): Usage {
  const [first] = parts.values();
  let most = parts.get(preferred.id) ?? first!;
  for (const part of parts.values()) if (part.waiting > most.waiting) most = part;
  return most;
}
