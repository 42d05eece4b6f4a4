import type { App } from '../../../entities/app.ts';
import type { AppWebhooks } from '../../../entities/webhook-statistic.ts';
import type { Context } from '../../core/context.ts';

/** Days of the statistics, with the current one. */
const DAYS = 30;

/** Returns the webhooks of an app and their calls by day. Both are empty before the first deployment. */
export async function summarizeWebhooks(
  ctx: Context,
  { id }: Pick<App, 'id'>,
): Promise<Omit<AppWebhooks, 'hookToken'>> {
  const [row] = await ctx.query<Omit<AppWebhooks, 'hookToken'> & Record<string, unknown>>({
    text: `
      select
        coalesce(
          (select webhooks from dws.app_release where tenant_id = $1 and app_id = $2 and active),
          '[]'
        ) as routes,
        coalesce(
          (
            select json_agg(
              json_build_object(
                'method', method, 'path', route, 'date', day, 'count', coalesce(calls, 0),
                'avgDuration', coalesce(round((duration / calls)::numeric, 3), 0), 'errorCount', coalesce(errors, 0),
                'refused', coalesce(refused, '[]')
              )
              order by day desc, route, method
            )
            from (select * from dws.webhook_day where tenant_id = $1 and app_id = $2) d
            full join (
              select day, method, route,
                json_agg(json_build_object('reason', reason, 'count', calls) order by reason) as refused
              from dws.webhook_refusal_day
              where tenant_id = $1 and app_id = $2
              group by day, method, route
            ) r using (day, method, route)
            where day > (now() at time zone 'UTC')::date - ${DAYS}
          ),
          '[]'
        ) as stats`,
    values: [ctx.viewer.tenantId, id],
  });
  return row!;
}
