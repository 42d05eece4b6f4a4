import { expect, test } from 'vitest';
import type { DatasetBenchmarkRun } from '../../entities/dataset-benchmark.ts';
import { benchmarkStatistics } from '../../src/services/dataset/dataset-benchmark-statistics.ts';

/** Returns runs with these durations in milliseconds, and 10, 20, … records. */
const runsOf = (...durations: number[]): DatasetBenchmarkRun[] =>
  durations.map((duration, i) => ({ iteration: i + 1, duration, records: 10 * (i + 1) }));

test('statistics describe the population, and records are divided by the time of all runs', () => {
  expect(benchmarkStatistics(runsOf(4, 1, 3, 2))).toEqual({
    min: 1,
    max: 4,
    avg: 2.5,
    median: 2.5,
    stdDev: Math.sqrt(1.25),
    records: 40,
    avgRecordsPerSecond: 10_000,
  });
  expect(benchmarkStatistics(runsOf(30, 10, 20))).toMatchObject({
    median: 20,
    avg: 20,
    records: 30,
    avgRecordsPerSecond: 1000,
  });
});

test('statistics of one run are its own values', () => {
  expect(benchmarkStatistics(runsOf(5))).toEqual({
    min: 5,
    max: 5,
    avg: 5,
    median: 5,
    stdDev: 0,
    records: 10,
    avgRecordsPerSecond: 2000,
  });
});

test('statistics of runs with a duration of zero are numbers', () => {
  expect(benchmarkStatistics(runsOf(0, 0))).toMatchObject({ avg: 0, stdDev: 0, avgRecordsPerSecond: 0 });
});
