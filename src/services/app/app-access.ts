import { AppAccess, type AppAccessInput } from '../../../entities/app-access.ts';
import { invalid } from '../../core/input-checks.ts';

const MAX_HOSTS = 20;
/** A host name with an optional port, as URLs have it. */
const HOST = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*(?::[1-9]\d{0,4})?$/;

/** Returns the declaration of an app. Throws BAD_USER_INPUT for an invalid one. */
export function readAccess(input: AppAccessInput | null): AppAccess {
  const scopes = [...new Set(input?.scopes ?? [])];
  const required = [...new Set(input?.required ?? [])];
  const hosts = [...new Set((input?.hosts ?? []).map((host) => host.toLowerCase()))];
  if (required.some((scope) => !scopes.includes(scope))) throw invalid('access.required', 'must be among the scopes');
  if (hosts.length > MAX_HOSTS) throw invalid('access.hosts', `must have at most ${MAX_HOSTS} items`);
  const other = hosts.find((host) => !HOST.test(host));
  if (other !== undefined) throw invalid('access.hosts', `contains ${JSON.stringify(other)}, which is not a host`);
  if (hosts.length > 0 && !scopes.includes('send')) throw invalid('access.hosts', 'requires the scope send');
  return Object.assign(new AppAccess(), { scopes, required, hosts });
}
