/** A run of a benchmark. */
export interface BenchmarkRun {
  /** From 1; runs to warm up are not counted. */
  iteration: number;
  /** Milliseconds. */
  duration: number;
  records: number;
}

/** What the durations of a benchmark's runs come to, in milliseconds and unrounded, so that whoever computes them again gets the same. */
export interface BenchmarkStatistics {
  min: number;
  max: number;
  avg: number;
  median: number;
  /** Of the population. */
  stdDev: number;
  /** Of one run, the last. */
  records: number;
  /** All records by all seconds, so that a quick run weighs no more than a slow one. */
  avgRecordsPerSecond: number;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Statistics of at least one run. */
export function benchmarkStatistics(runs: readonly BenchmarkRun[]): BenchmarkStatistics {
  const durations = runs.map(({ duration }) => duration).toSorted((a, b) => a - b);
  const count = durations.length;
  const total = sum(durations);
  const avg = total / count;
  return {
    min: durations[0]!,
    max: durations[count - 1]!,
    avg,
    median: (durations[Math.floor((count - 1) / 2)]! + durations[Math.floor(count / 2)]!) / 2,
    stdDev: Math.sqrt(sum(durations.map((duration) => (duration - avg) ** 2)) / count),
    records: runs.at(-1)!.records,
    avgRecordsPerSecond: total > 0 ? (1000 * sum(runs.map(({ records }) => records))) / total : 0,
  };
}
