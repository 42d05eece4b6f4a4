import type { Context } from '../../src/core/context.ts';
import { createJobContext } from '../../src/services/job/job-context.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

/** Returns the context of a run for an owner, `user:<id>` or `team:<id>`. */
export async function contextOf(
  service: Service,
  owner: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<Context> {
  const [tenant] = await systemQuery<{ id: string }>(service, `select id from dws.tenant where slug = 'default'`);
  return createJobContext(service.platform, tenant!.id, owner, signal);
}
