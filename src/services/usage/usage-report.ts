import type { Context } from '../../core/context.ts';
import { budgetReportSql, budgetUseSql, type BudgetUse } from './budget-use.ts';
import { monthPeriod, type UsagePeriod } from './usage-period.ts';
import type { DayTotal, EntityTotal } from './usage-totals.ts';

/** The credits of a tenant in the current month, exact to six decimals. */
interface CreditPool {
  included: number;
  used: number;
  /** At least 0. */
  remaining: number;
}

/** The parts of a report that are computed from the totals of days. */
export interface UsageReportParts {
  /** By credits, descending. */
  summary: EntityTotal[];
  /** By day and resource type. */
  days: DayTotal[];
  /** The budgets of the tenant in the current month, by credits used, descending. */
  budgets: BudgetUse[];
  /** The credits of the current month. */
  pool: CreditPool;
}
type Part = keyof UsageReportParts;

/** Maximum number of lines of a summary: the lines with the most credits. */
const MAX_SUMMARY = 10_000;

/*
 * Statements with the tenant $1, the days of the report $2 to $3, the days of the month $4 to $5, whether a license
 * manager reports the included credits $6, and the credits that are included without it $7. The parts of a report use
 * some of these parameters, so one table declares the types of all.
 */
const PARAMETERS = `select $1::uuid, $2::date, $3::date, $4::date, $5::date, $6::boolean, $7::numeric`;

/** Both groupings of a report in one pass over the days. */
const TOTAL = `
  total as materialized (
    select day, entity_type, entity_id, resource_type, sum(credits) as credits, sum(events) as events
    from dws.usage_day
    where tenant_id = $1 and day between $2 and $3
    group by grouping sets ((entity_type, entity_id, resource_type), (day, resource_type))
  )`;

const MONTH_OF_TOTAL = `
  month as materialized (
    select $1 as tenant_id, entity_type, entity_id, sum(credits) as credits
    from total
    where day is null
    group by entity_type, entity_id
  )`;

const MONTH = `
  month as materialized (
    select tenant_id, entity_type, entity_id, sum(credits) as credits
    from dws.usage_day
    where tenant_id = $1 and day between $4 and $5
    group by tenant_id, entity_type, entity_id
  )`;

const rowsAsJson = (rows: string): string => `(select coalesce(json_agg(r), '[]') from (${rows}) r)`;

const PARTS: Readonly<Record<Part, string>> = {
  summary: rowsAsJson(`
    select entity_id as "entityId", entity_type as "entityType", resource_type as "resourceType",
      credits::float8 as "totalCredits", events::float8 as "totalEvents"
    from total
    where day is null
    order by credits desc, entity_type, entity_id, resource_type
    limit ${MAX_SUMMARY}`),
  days: rowsAsJson(`
    select day as date, resource_type as "resourceType", credits::float8 as "totalCredits"
    from total
    where day is not null
    order by day, resource_type`),
  budgets: rowsAsJson(budgetReportSql(budgetUseSql('select * from month', 'b.tenant_id = $1'))),
  pool: `(
    select json_build_object('included', p.included::float8, 'used', p.used::float8,
      'remaining', greatest(p.included - p.used, 0)::float8)
    from (
      select coalesce((select included from dws.credit_sync where tenant_id = $1 and $6), $7) as included,
        (select coalesce(sum(credits), 0) from month) as used
    ) p
  )`,
};

/** Returns the statement for some parts of a report. With `isMonth` its days are the days of the current month. */
function statementFor(parts: readonly Part[], isMonth: boolean): string {
  const hasTotal = parts.includes('summary') || parts.includes('days');
  const hasMonth = parts.includes('budgets') || parts.includes('pool');
  const tables = [
    `parameter as (${PARAMETERS})`,
    ...(hasTotal ? [TOTAL] : []),
    ...(hasMonth ? [hasTotal && isMonth ? MONTH_OF_TOTAL : MONTH] : []),
  ];
  return `with ${tables.join(', ')} select ${parts.map((part) => `${PARTS[part]} as ${part}`).join(', ')}`;
}

/** Loads the parts of one report. Parts that are requested in one tick share one statement. */
export class UsageReportLoader {
  readonly #ctx: Context;
  readonly #period: UsagePeriod;
  readonly #month: UsagePeriod;
  #waiting: Set<Part> | undefined;
  #loading!: Promise<Partial<UsageReportParts>>;

  /** `now` is the time of the report. `period` is by default the current month. */
  constructor(ctx: Context, now: Date, period: UsagePeriod = monthPeriod(now)) {
    this.#ctx = ctx;
    this.#period = period;
    this.#month = monthPeriod(now);
  }

  /** Returns a part. */
  async load<P extends Part>(part: P): Promise<UsageReportParts[P]> {
    if (!this.#waiting) {
      const waiting = (this.#waiting = new Set());
      this.#loading = Promise.resolve().then(() => {
        this.#waiting = undefined;
        return this.#run([...waiting].toSorted());
      });
    }
    this.#waiting.add(part);
    return (await this.#loading)[part]!;
  }

  async #run(parts: readonly Part[]): Promise<Partial<UsageReportParts>> {
    const { query, viewer, platform } = this.#ctx;
    const { LICENSE_MANAGER_URL: url, CREDITS_INCLUDED: included } = platform.config;
    const [period, month] = [this.#period, this.#month];
    const isMonth = period.start === month.start && period.end === month.end;
    const [row] = await query<Partial<UsageReportParts> & Record<string, unknown>>({
      text: statementFor(parts, isMonth),
      values: [viewer.tenantId, period.start, period.end, month.start, month.end, url !== undefined, included],
    });
    return row!;
  }
}
