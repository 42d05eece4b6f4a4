import type { WebhookRefusalReason } from '../../../entities/webhook-statistic.ts';
import type { RunningApp } from '../../core/app-run.ts';
import type { ApiError } from '../../core/errors.ts';
import { perPlatform } from '../../core/per-platform.ts';
import type { Platform } from '../../core/platform.ts';
import { storedText } from './app-record-text.ts';

/** A call of a webhook that was refused before the app accepted it. */
interface Refusal {
  app: Pick<RunningApp, 'id' | 'tenantId'>;
  /** In lower case. */
  method: string;
  /** Path of the route, e.g. `/orders/:id`; null if none has the path and method. */
  route: string | null;
  reason: WebhookRefusalReason;
}

/** The steps of a call before its app accepts it. */
export type WebhookStep = 'address' | 'route' | 'token' | 'body' | 'signature' | 'limit';

const BODY_REASONS: Readonly<Record<number, WebhookRefusalReason>> = { 408: 'timeout', 413: 'size', 503: 'memory' };

/** Returns why a step refused a call; null for a failure that is not the caller's. */
export function refusalReason(step: WebhookStep, { status }: Pick<ApiError, 'status'>): WebhookRefusalReason | null {
  if (step === 'body') return BODY_REASONS[status] ?? 'incomplete';
  if (step === 'route') return status === 405 ? 'method' : 'route';
  // Without its variable no signature is right.
  if (step === 'signature') return status === 401 ? 'signature' : null;
  return step;
}

const FLUSH_MS = 1000;
/** Path that stands for calls without a route. Paths of routes begin with a slash. */
const NO_ROUTE = '*';

/** Refused calls by tenant, then by the fields that distinguish counts. */
type RefusalCounts = Map<string, Map<string, { day: string; refusal: Refusal; calls: number }>>;

/** The refused calls of a process that are not stored yet, by tenant. */
class RefusalCounter {
  readonly #platform: Platform;
  #counts: RefusalCounts = new Map();
  #timer: NodeJS.Timeout | null = null;
  #flush: Promise<void> = Promise.resolve();

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  count(refusal: Refusal): void {
    const { app, method, route, reason } = refusal;
    const day = new Date().toISOString().slice(0, 10);
    const counts = this.#counts.get(app.tenantId) ?? new Map();
    this.#counts.set(app.tenantId, counts);
    const key = `${day} ${app.id} ${method} ${reason} ${route ?? NO_ROUTE}`;
    const entry = counts.get(key) ?? { day, refusal, calls: 0 };
    entry.calls++;
    counts.set(key, entry);
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Stores the counts. A count that cannot be stored is logged and lost. */
  flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const counts = this.#counts;
    this.#counts = new Map();
    this.#flush = this.#flush.then(() => this.#store(counts));
    return this.#flush;
  }

  async #store(counts: RefusalCounts): Promise<void> {
    for (const [tenantId, entries] of counts) {
      const rows = [...entries.values()];
      await this.#platform.database
        .query(tenantId, {
          text: `
            with live as materialized (
              select id from dws.app where tenant_id = $1 and id = any($2::uuid[]) order by id for key share
            )
            insert into dws.webhook_refusal_day as d (tenant_id, app_id, day, method, route, reason, calls)
            select $1, r.*
            from unnest($2::uuid[], $3::date[], $4::text[], $5::text[], $6::text[], $7::bigint[])
              r (app_id, day, method, route, reason, calls)
            where r.app_id in (select id from live)
            order by r.app_id, r.day, r.method, r.route, r.reason
            on conflict (app_id, day, method, route, reason) do update set calls = d.calls + excluded.calls`,
          values: [
            tenantId,
            rows.map(({ refusal }) => refusal.app.id),
            rows.map(({ day }) => day),
            rows.map(({ refusal }) => refusal.method),
            rows.map(({ refusal }) => storedText(refusal.route ?? NO_ROUTE)),
            rows.map(({ refusal }) => refusal.reason),
            rows.map(({ calls }) => calls),
          ],
        })
        .catch((error: unknown) =>
          this.#platform.log.error({ err: error }, 'Could not count refused calls of webhooks'),
        );
    }
  }
}

const counterOf = perPlatform((platform) => new RefusalCounter(platform));

/** Counts a refused call. The count is stored within a second. */
export const countRefusal = (platform: Platform, refusal: Refusal): void => counterOf(platform).count(refusal);

/** Stores all refused calls that the process has counted. */
export const finishRefusals = (platform: Platform): Promise<void> => counterOf(platform).flush();
