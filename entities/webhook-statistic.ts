import { Field, Float, Int, ObjectType } from 'type-graphql';
import { AppRoute } from './app-release.ts';

/** The calls of a webhook on one day. */
@ObjectType({ description: 'The calls of a webhook on one day.' })
export class WebhookStatistic {
  @Field(() => String, { description: 'Method of the requests in lower case, e.g. `post`.' })
  method!: string;

  @Field(() => String, { description: 'Path of the route below `_hook`, e.g. `/orders/:id`.' })
  path!: string;

  @Field(() => String, { description: 'The day in UTC, e.g. `2026-01-31`.' })
  date!: string;

  @Field(() => Int, { description: 'Number of calls.' })
  count!: number;

  @Field(() => Float, { description: 'Average of the milliseconds until the response.' })
  avgDuration!: number;

  @Field(() => Int, { description: 'Number of calls whose response had the status 400 or above.' })
  errorCount!: number;
}

/** The webhooks of an app. */
@ObjectType({ description: 'The webhooks of an app and their calls by day.' })
export class AppWebhooks {
  @Field(() => [AppRoute], {
    description: 'Routes below `_hook` of the active release, in the order in which they are matched.',
  })
  routes!: AppRoute[];

  @Field(() => [WebhookStatistic], {
    description:
      'Calls of the last 30 days in UTC, today included, latest day first, by path and method. Calls without a route ' +
      'of their path and method are not counted.',
  })
  stats!: WebhookStatistic[];
}
