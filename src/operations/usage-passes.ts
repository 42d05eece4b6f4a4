import type { Platform } from '../core/platform.ts';
import { warnOfBudgets } from './budget-warnings.ts';
import { syncCredits } from './credit-sync.ts';
import { meterGauges } from './usage-gauges.ts';
import { mergeUsage } from './usage-merge.ts';

/** Pauses between two passes, in milliseconds. */
export interface UsagePassOptions {
  /** Of gauges and budgets. */
  interval: number;
  /** Of the search for tenants whose sync with the license manager is due, and for totals with several parts. */
  shortInterval: number;
}

const DAY_MS = 86_400_000;

/**
 * Meters gauges and warns of budgets after each `interval`; syncs credits with the license manager at once and after each
 * `shortInterval`, and merges totals after each `shortInterval`. Every worker process does so: the rows that they write
 * keep several from doing the same twice.
 */
export function startUsagePasses(
  platform: Platform,
  { interval, shortInterval }: UsagePassOptions,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  // The first pass merges all days, later ones those to which usage is added.
  let mergedSince = 0;
  const passes: { stop(): Promise<void> }[] = [
    repeat(platform, shortInterval, async () => {
      const since = new Date(mergedSince);
      mergedSince = Date.now() - DAY_MS;
      await mergeUsage(platform, since);
    }),
    repeat(platform, interval, async () => {
      await meterGauges(platform, new Date(), signal);
      await warnOfBudgets(platform, new Date());
    }),
  ];
  if (platform.licenseManager) {
    const sync = repeat(platform, shortInterval, () => syncCredits(platform, new Date(), signal));
    sync.runNow();
    passes.push(sync);
  }
  return {
    async stop() {
      stopping.abort(new Error('The worker stops'));
      await Promise.all(passes.map((pass) => pass.stop()));
    },
  };
}

/** Runs work after each `interval`, unless it still runs. Failures are logged. */
function repeat(
  { log }: Platform,
  interval: number,
  work: () => Promise<void>,
): { runNow(): void; stop(): Promise<void> } {
  let running: Promise<void> | undefined;
  let isStopped = false;
  const runNow = () => {
    running ??= work()
      .catch((error: unknown) => {
        if (!isStopped) log.warn({ err: error }, 'A pass over the usage of tenants failed');
      })
      .finally(() => {
        running = undefined;
      });
  };
  const timer = setInterval(runNow, interval);
  return {
    runNow,
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
