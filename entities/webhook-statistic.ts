import { Field, Float, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../src/core/scalars.ts';
import { AppRoute } from './app-release.ts';

const WebhookRefusalReasonEnum = {
  ADDRESS: 'address',
  TOKEN: 'token',
  ROUTE: 'route',
  METHOD: 'method',
  SIZE: 'size',
  TIMEOUT: 'timeout',
  MEMORY: 'memory',
  INCOMPLETE: 'incomplete',
  SIGNATURE: 'signature',
  LIMIT: 'limit',
} as const;
/** Why a call of a webhook was refused (docs/contract/handlers.md#webhooks-of-apps). */
export type WebhookRefusalReason = (typeof WebhookRefusalReasonEnum)[keyof typeof WebhookRefusalReasonEnum];
registerEnumType(WebhookRefusalReasonEnum, {
  name: 'WebhookRefusalReason',
  description: 'Why a call of a webhook was refused before its handler ran.',
  valuesConfig: {
    ADDRESS: { description: 'Too many calls of the address are refused or open (429).' },
    TOKEN: { description: 'The route requires the hook token of the app (401).' },
    ROUTE: { description: 'No route has the path (404).' },
    METHOD: { description: 'No route has the path and the method (405).' },
    SIZE: { description: 'The body is too large (413).' },
    TIMEOUT: { description: 'The body took too long to arrive (408).' },
    MEMORY: { description: 'The bodies of the address or of the app take too much memory (503).' },
    INCOMPLETE: { description: 'The body did not arrive completely (400).' },
    SIGNATURE: { description: 'The signature is wrong (401).' },
    LIMIT: { description: 'The app, or the address, is above `RATE_LIMIT_WEBHOOK` (429).' },
  },
});

@ObjectType({ description: 'Number of calls of a webhook that were refused for one reason.' })
export class WebhookRefusal {
  @Field(() => WebhookRefusalReasonEnum, { description: 'Why they were refused.' })
  reason!: WebhookRefusalReason;

  @Field(() => Int, { description: 'Number of calls.' })
  count!: number;
}

@ObjectType({ description: 'The calls of a webhook on one day.' })
export class WebhookStatistic {
  @Field(() => String, { description: 'Method of the requests in lower case, e.g. `post`.' })
  method!: string;

  @Field(() => String, {
    description: 'Path of the route below `_hook`, e.g. `/orders/:id`. `*` for refused calls without a route.',
  })
  path!: string;

  @Field(() => String, { description: 'The day in UTC, e.g. `2026-01-31`.' })
  date!: string;

  @Field(() => Int, { description: 'Number of calls.' })
  count!: number;

  @Field(() => Float, { description: 'Average of the milliseconds until the response.' })
  avgDuration!: number;

  @Field(() => Int, { description: 'Number of calls whose response had the status 400 or above.' })
  errorCount!: number;

  @Field(() => [WebhookRefusal], {
    description:
      'Calls that were refused before the handler ran, by reason. Those above a limit are not among `count`.',
  })
  refused!: WebhookRefusal[];
}

@ObjectType({ description: 'The token by which the webhooks of an app are called at `/api/hooks/{token}/{path}`.' })
export class AppHookToken {
  @Field(() => String, { description: 'Secret of 22 characters. It suffices to call the webhooks of the app.' })
  token!: string;

  @Field(() => String, { description: 'URL of the webhooks; their paths follow.' })
  url!: string;

  @Field(() => DateTime, {
    nullable: true,
    description: 'Time until which the former token is valid; null if there is none.',
  })
  formerUntil!: Date | null;
}

@ObjectType({ description: 'The webhooks of an app and their calls by day.' })
export class AppWebhooks {
  @Field(() => AppHookToken, {
    nullable: true,
    description:
      'Token of the app. Null for credentials without the scope `write` and for handlers of apps. After an upgrade from a ' +
      'version without hook tokens it is null for some minutes.',
  })
  hookToken!: AppHookToken | null;

  @Field(() => [AppRoute], {
    description: 'Routes below `_hook` of the active release, in the order in which they are matched.',
  })
  routes!: AppRoute[];

  @Field(() => [WebhookStatistic], {
    description:
      'Calls of the last 30 days in UTC, today included, latest day first, by path and method. Calls without a route ' +
      'of their path and method are counted in `refused` only.',
  })
  stats!: WebhookStatistic[];
}
