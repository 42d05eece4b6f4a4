/** A measured run of a benchmark. */
export interface BenchmarkRun {
  /** Number of the run, from 1. Warm-up runs are not counted. */
  iteration: number;
  /** Milliseconds. */
  duration: number;
  records: number;
}

/**
 * Statistics over the runs of a benchmark. Durations are in milliseconds and not rounded, so that they can be verified.
 */
export interface BenchmarkStatistics {
  min: number;
  max: number;
  avg: number;
  median: number;
  /** Population standard deviation. */
  stdDev: number;
  /** Rows of the last run. */
  records: number;
  /** Rows of all runs divided by the seconds of all runs. */
  avgRecordsPerSecond: number;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Computes the statistics over at least one run. */
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
