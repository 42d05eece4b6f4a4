import type { SystemDatabase } from '../../core/platform.ts';

/** Deletes what no longer counts for anybody: sessions and tokens that are over, attempts to log in and calls of the minutes before, addresses last seen too long ago. */
export async function sweepCredentials(system: SystemDatabase): Promise<void> {
  for (const text of [
    `delete from dws.session where expires_at < now()`,
    `delete from dws.api_token where expires_at < now() - interval '30 days'`,
    `delete from dws.login_attempt where at < now() - interval '1 minute'`,
    `delete from dws.rate_count where at < now() - interval '2 minutes'`,
    `delete from dws.known_address where seen_at < now() - interval '30 days'`,
  ])
    await system.query({ text });
}
