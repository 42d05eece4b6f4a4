import type { DatasetBenchmarkRun, DatasetBenchmarkStatistics } from '../../../entities/dataset-benchmark.ts';

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Computes the statistics over at least one run. They are not rounded, so that clients can verify them. */
export function benchmarkStatistics(runs: readonly DatasetBenchmarkRun[]): DatasetBenchmarkStatistics {
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
