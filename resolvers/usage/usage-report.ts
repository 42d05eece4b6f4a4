import { Arg, Args, ArgsType, Ctx, Field, FieldResolver, Int, ObjectType, Query, Resolver, Root } from 'type-graphql';
import type { Context } from '../../src/core/context.ts';
import { intRule, Rule } from '../../src/core/input-rules.ts';
import { loadCreditSync } from '../../src/services/usage/credit-sync-state.ts';
import { loadTopApps, loadTopUsers } from '../../src/services/usage/top-consumers.ts';
import { lastDays, lastMonths, readPeriod, type UsagePeriod } from '../../src/services/usage/usage-period.ts';
import { UsageReportLoader } from '../../src/services/usage/usage-report.ts';
import { loadMonths } from '../../src/services/usage/usage-totals.ts';
import { Can } from '../support/guard.ts';
import { CreditPoolType, CreditSyncType } from './credit-pool-types.ts';
import { UsageBudget } from './usage-budget.ts';
import { TopApp, TopUser, UsageDayTotal, UsageMonthTotal, UsageSummary } from './usage-total-types.ts';

const [MAX_MONTHS, DEFAULT_MONTHS] = [24, 12];
const [MAX_WINDOW_DAYS, DEFAULT_WINDOW_DAYS] = [365, 30];
const [MAX_CONSUMERS, DEFAULT_CONSUMERS] = [50, 10];

/** See docs/contract/usage.md#usage-reports. Its parts are loaded by the fields that are selected. */
@ObjectType({ description: 'Usage of the tenant in some UTC days, and its budgets and credits in the current month.' })
class UsageReport {
  @Field(() => String, { description: 'First UTC day as `YYYY-MM-DD`.' })
  startDate!: string;

  @Field(() => String, { description: 'Last UTC day as `YYYY-MM-DD`, included.' })
  endDate!: string;

  /** Time of the report. */
  now!: Date;

  loader!: UsageReportLoader;
}

@ObjectType({ description: 'Usage of the tenant by month.' })
class UsageHistory {
  period!: UsagePeriod;

  loader!: UsageReportLoader;
}

@ObjectType({
  description: 'Top consumers of credits in a number of days up to today, and the users who caused the usage.',
})
class TopConsumers {
  @Field(() => Int, { description: 'Number of UTC days, today included.' })
  windowDays!: number;

  @Field(() => String, { description: 'First UTC day as `YYYY-MM-DD`.' })
  startDate!: string;

  @Field(() => String, { description: 'Last UTC day, today, as `YYYY-MM-DD`.' })
  endDate!: string;

  /** Maximum number of entries in each list. */
  limit!: number;
}

/** The days of a report. */
@ArgsType()
class UsageReportArgs {
  @Field(() => String, {
    nullable: true,
    description: 'First UTC day, as ISO date or time, e.g. `2026-01-31`. Default: the first day of the current month.',
  })
  startDate?: string;

  @Field(() => String, {
    nullable: true,
    description: 'Last UTC day, as ISO date or time, included. Default: today. At most 731 days in all.',
  })
  endDate?: string;
}

/** The window of the top consumers. */
@ArgsType()
class TopConsumersArgs {
  @Rule({ ...intRule(1, MAX_WINDOW_DAYS), default: DEFAULT_WINDOW_DAYS })
  @Field(() => Int, { nullable: true, description: 'Number of UTC days, today included, 1 to 365. Default: 30.' })
  days?: number;

  @Rule({ ...intRule(1, MAX_CONSUMERS), default: DEFAULT_CONSUMERS })
  @Field(() => Int, { nullable: true, description: 'Maximum number of entries in each list, 1 to 50. Default: 10.' })
  limit?: number;
}

const periodOf = ({ startDate, endDate }: { startDate: string; endDate: string }): UsagePeriod => ({
  start: startDate,
  end: endDate,
});

@Resolver(() => UsageReport)
export class UsageReportResolver {
  @Can('billing:manage')
  @Query(() => UsageReport, {
    description: 'Reports the usage of the tenant in some UTC days, with the budgets and credits of the current month.',
  })
  usageReport(@Ctx() ctx: Context, @Args(() => UsageReportArgs) args: UsageReportArgs): UsageReport {
    const now = new Date();
    const period = readPeriod(args, now);
    return { startDate: period.start, endDate: period.end, now, loader: new UsageReportLoader(ctx, now, period) };
  }

  @FieldResolver(() => [UsageSummary], {
    description: 'Usage by entity and resource type, by credits, descending. At most 10,000.',
  })
  usageSummary(@Root() { loader }: UsageReport): Promise<UsageSummary[]> {
    return loader.load('summary');
  }

  @FieldResolver(() => [UsageDayTotal], {
    description: 'Credits by day, then resource type. Days without usage have no entry.',
  })
  dailyTotals(@Root() { loader }: UsageReport): Promise<UsageDayTotal[]> {
    return loader.load('days');
  }

  @FieldResolver(() => [UsageBudget], {
    description: 'Use of all budgets in the current month, whatever the days of the report are. At most 10,000.',
  })
  budgets(@Root() { loader }: UsageReport): Promise<UsageBudget[]> {
    return loader.load('budgets');
  }

  @FieldResolver(() => CreditPoolType, { description: 'Credits of the current month.' })
  creditPool(@Root() { loader }: UsageReport): Promise<CreditPoolType> {
    return loader.load('pool');
  }

  @FieldResolver(() => CreditSyncType, { description: 'State of the sync with the license manager.' })
  sync(@Ctx() ctx: Context, @Root() { now }: UsageReport): Promise<CreditSyncType> {
    return loadCreditSync(ctx, now);
  }
}

@Resolver(() => UsageHistory)
export class UsageHistoryResolver {
  @Can('billing:manage')
  @Query(() => UsageHistory, {
    description: 'Reports the usage of the tenant in the last months, the current included.',
  })
  usageHistory(
    @Ctx() ctx: Context,
    @Rule({ ...intRule(1, MAX_MONTHS), default: DEFAULT_MONTHS })
    @Arg('months', () => Int, { nullable: true, description: 'Number of UTC months, 1 to 24. Default: 12.' })
    months?: number,
  ): UsageHistory {
    const now = new Date();
    return {
      period: lastMonths(months ?? DEFAULT_MONTHS, now),
      loader: new UsageReportLoader(ctx, now),
    };
  }

  @FieldResolver(() => [UsageMonthTotal], {
    description: 'By month, then resource type. Months without usage have no entry.',
  })
  history(@Ctx() ctx: Context, @Root() { period }: UsageHistory): Promise<UsageMonthTotal[]> {
    return loadMonths(ctx, period);
  }

  @FieldResolver(() => CreditPoolType, { description: 'Credits of the current month.' })
  creditPool(@Root() { loader }: UsageHistory): Promise<CreditPoolType> {
    return loader.load('pool');
  }
}

@Resolver(() => TopConsumers)
export class TopConsumersResolver {
  @Can('billing:manage')
  @Query(() => TopConsumers, {
    description: 'Reports the top consumers of credits in the last days, and the users who caused the usage.',
  })
  topConsumers(@Args(() => TopConsumersArgs) { days, limit }: TopConsumersArgs): TopConsumers {
    const windowDays = days ?? DEFAULT_WINDOW_DAYS;
    const { start, end } = lastDays(windowDays, new Date());
    return { windowDays, startDate: start, endDate: end, limit: limit ?? DEFAULT_CONSUMERS };
  }

  @FieldResolver(() => [TopApp], { description: 'Apps, agents, assistants and jobs, by credits, descending.' })
  topApps(@Ctx() ctx: Context, @Root() report: TopConsumers): Promise<TopApp[]> {
    return loadTopApps(ctx, periodOf(report), report.limit);
  }

  @FieldResolver(() => [TopUser], { description: 'Users and agents who caused the usage, by credits, descending.' })
  topUsers(@Ctx() ctx: Context, @Root() report: TopConsumers): Promise<TopUser[]> {
    return loadTopUsers(ctx, periodOf(report), report.limit);
  }
}
