import type { Platform } from '../core/platform.ts';
import { warnOfBudgets } from './budget-warnings.ts';
import { syncCredits } from './credit-sync.ts';
import { repeatPass } from './repeated-pass.ts';
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

const FAILURE = { failureMessage: 'A pass over the usage of tenants failed' };

/**
 * Meters gauges and warns of budgets after each `interval`. Syncs credits with the license manager immediately and
 * after each `shortInterval`, and merges totals after each `shortInterval`. Every worker process does so; the rows that
 * they write prevent duplicate work.
 */
export function startUsagePasses(
  platform: Platform,
  { interval, shortInterval }: UsagePassOptions,
): { stop(): Promise<void> } {
  // The first pass merges all days, later passes only the days with new usage.
  let mergedSince = 0;
  const passes = [
    repeatPass(platform, { interval: shortInterval, delay: shortInterval, ...FAILURE }, async () => {
      const startedAt = Date.now();
      await mergeUsage(platform, new Date(mergedSince));
      mergedSince = startedAt - DAY_MS;
    }),
    repeatPass(platform, { interval, delay: interval, ...FAILURE }, async (signal) => {
      await meterGauges(platform, new Date(), signal);
      await warnOfBudgets(platform, new Date());
    }),
  ];
  if (platform.licenseManager) {
    // At its start a worker repeats failed passes.
    let retryAfter: number | undefined = 0;
    passes.push(
      repeatPass(platform, { interval: shortInterval, ...FAILURE }, async (signal) => {
        await syncCredits(platform, new Date(), signal, retryAfter);
        retryAfter = undefined;
      }),
    );
  }
  return {
    async stop() {
      await Promise.all(passes.map((pass) => pass.stop()));
    },
  };
}
