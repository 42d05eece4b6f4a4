/** Measures pieces of work that use Postgres in turns. */
import { printTable } from './markdown.ts';
import { cpuOf } from './processes.ts';

/** Milliseconds of one piece of work. */
interface Cost {
  elapsed: number;
  node: number;
  postgres: number;
}

/** One side of a comparison. */
interface Side {
  /** Returns the CPU seconds of the process that sends the statements. */
  cpu(): number;
  work(): Promise<unknown>;
}

/** Returns the CPU seconds of this process, without Postgres and the service, which are its children. */
export function ownCpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

export async function costOf({ cpu, work }: Side, postmaster: number, count: number): Promise<Cost> {
  const before = [cpu(), cpuOf(postmaster)] as const;
  const began = performance.now();
  for (let n = 0; n < count; n++) await work();
  const elapsed = performance.now() - began;
  return {
    elapsed: elapsed / count,
    node: ((cpu() - before[0]) * 1000) / count,
    postgres: ((cpuOf(postmaster) - before[1]) * 1000) / count,
  };
}

/** How often the sides take turns, and how often the work of a side is done in one turn. */
interface Turns {
  postmaster: number;
  rounds: number;
  count: number;
}

/**
 * Measures the sides in turn. Prints medians, and returns the median ratios of elapsed time and of CPU of the last side to
 * the first one.
 */
export async function compare(
  { postmaster, rounds, count }: Turns,
  sides: Record<string, Side>,
): Promise<{ elapsed: number; cpu: number }> {
  const costs = Object.keys(sides).map((): Cost[] => []);
  for (let n = 0; n < count; n++) for (const { work } of Object.values(sides)) await work();
  for (let round = 0; round < rounds; round++)
    for (const [i, side] of Object.values(sides).entries()) costs[i]!.push(await costOf(side, postmaster, count));
  const ratioOf = (i: number, value: (cost: Cost) => number): number =>
    median(costs[i]!.map((cost, round) => value(cost) / value(costs[0]![round]!)));
  const cpu = ({ node, postgres }: Cost): number => node + postgres;
  const elapsed = (cost: Cost): number => cost.elapsed;
  printTable(
    ['ms', 'elapsed', 'CPU of node', 'CPU of Postgres', '× elapsed', '× CPU'],
    Object.keys(sides).map((name, i) => [
      name,
      ...(['elapsed', 'node', 'postgres'] as const).map((part) =>
        median(costs[i]!.map((cost) => cost[part])).toFixed(3),
      ),
      ratioOf(i, elapsed).toFixed(2),
      ratioOf(i, cpu).toFixed(2),
    ]),
  );
  console.log('');
  const last = costs.length - 1;
  return { elapsed: ratioOf(last, elapsed), cpu: ratioOf(last, cpu) };
}
