/** Why the figures of a license manager are not known. */
export const SYNC_FAILURES = ['lm_unreachable', 'lm_unavailable', 'lm_error', 'license_not_recognized'] as const;
export type SyncFailure = (typeof SYNC_FAILURES)[number];

/** How old the figures of a license manager are. */
export const STALENESS_LEVELS = ['fresh', 'aging', 'stale', 'expired'] as const;
export type StalenessLevel = (typeof STALENESS_LEVELS)[number];

const HOUR_MS = 3_600_000;
/** Ages in milliseconds from which figures are of the next level. */
const AGES = { fresh: 24 * HOUR_MS, aging: 72 * HOUR_MS, stale: 14 * 24 * HOUR_MS };

/** Returns how old the figures of the last successful sync are; `expired` if there was none. */
export function stalenessOf(syncedAt: Date | null, now: Date): StalenessLevel {
  if (!syncedAt) return 'expired';
  const age = now.getTime() - syncedAt.getTime();
  return age < AGES.fresh ? 'fresh' : age < AGES.aging ? 'aging' : age < AGES.stale ? 'stale' : 'expired';
}

/** The reported use of a tenant. */
export interface CreditReport {
  /** Slug of the tenant. */
  tenant: string;
  /** UTC month as `YYYY-MM`. */
  month: string;
  /** Credits that were used in the month. */
  used: number;
}

/** The license manager does not return figures. */
export class SyncError extends Error {
  readonly code: SyncFailure;

  constructor(code: SyncFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** The service of the vendor that knows how many credits a license includes (docs/contract/usage.md#credit-pool). */
export interface LicenseManager {
  /** Reports the use of a tenant. Returns the included credits as a decimal. Throws a SyncError. */
  report(report: CreditReport, signal: AbortSignal): Promise<number>;
  close(): Promise<void>;
}
