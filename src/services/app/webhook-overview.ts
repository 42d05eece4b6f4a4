import type { App } from '../../../entities/app.ts';
import type { AppWebhooks } from '../../../entities/webhook-statistic.ts';
import type { Context } from '../../core/context.ts';

/** Days of the statistics, with the current one. */
const DAYS = 30;

/** Returns the webhooks of an app and their calls by day. Both are empty before the first deployment. */
export async function summarizeWebhooks({ query, viewer }: Context, { id }: Pick<App, 'id'>): Promise<AppWebhooks> {
  const [row] = await query<AppWebhooks & Record<string, unknown>>({
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
                'method', method, 'path', route, 'date', day, 'count', calls,
                'avgDuration', round((duration / calls)::numeric, 3), 'errorCount', errors
              )
              order by day desc, route, method
            )
            from dws.webhook_day
            where tenant_id = $1 and app_id = $2 and day > (now() at time zone 'UTC')::date - ${DAYS}
          ),
          '[]'
        ) as stats`,
    values: [viewer.tenantId, id],
  });
  return row!;
}
