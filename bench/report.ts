/** One table of the figures of benchmarks with their goals. */
import { appendFileSync } from 'node:fs';
import { GOALS, type Goal, type GoalName } from './goals.ts';
import { printTable } from './markdown.ts';

/** A figure with its goal, or the reason why there is none. */
export interface Measurement {
  what: string;
  goal: GoalName;
  value?: number;
  /** Why nothing was measured. */
  missing?: string;
}

/** Names the file to which `report` appends lines of JSON instead of printing; set by bench/all.ts. */
export const LINES_FILE = 'BENCH_LINES_FILE';

const isMet = ({ atMost = Infinity, atLeast = -Infinity }: Goal, value: number): boolean =>
  value <= atMost && value >= atLeast;

const hasBound = ({ atMost, atLeast }: Goal): boolean => (atMost ?? atLeast) !== undefined;

const figure = (value: number, unit = '×'): string =>
  `${value.toFixed(value < 20 && !Number.isInteger(value) ? 2 : 0)} ${unit}`;

/** Prints one line for each measurement, and how many goals hold. */
export function printReport(measurements: Measurement[]): void {
  if (measurements.length === 0) return;
  const lines = measurements.map(({ what, goal: name, value, missing }) => {
    const goal: Goal = GOALS[name];
    const bound = hasBound(goal) ? (goal.atMost === undefined ? `≥ ${goal.atLeast}` : `≤ ${goal.atMost}`) : '';
    if (value === undefined) return [what, goal.reference, '', bound, `not measured: ${missing}`];
    return [
      what,
      goal.reference,
      figure(value, goal.unit),
      bound,
      hasBound(goal) ? (isMet(goal, value) ? 'met' : '**missed**') : '',
    ];
  });
  console.log('');
  printTable(['what', 'reference', 'measured', 'goal', 'verdict'], lines);
  const missing = measurements.filter(({ value }) => value === undefined).length;
  const measured = measurements.filter(({ goal, value }) => value !== undefined && hasBound(GOALS[goal]));
  const met = measured.filter(({ goal, value }) => isMet(GOALS[goal], value!));
  console.log(`\n${met.length} of ${measured.length} goals met${missing > 0 ? `, ${missing} not measured` : ''}.`);
}

/** Ends a benchmark: prints its measurements, or hands them to bench/all.ts. */
export function report(measurements: Measurement[]): void {
  const file = process.env[LINES_FILE];
  if (file) for (const one of measurements) appendFileSync(file, `${JSON.stringify(one)}\n`);
  else printReport(measurements);
}
